/* SPDX-License-Identifier: MIT */
/* object_reader: this program's own file, read by another process; where it may not look; what becomes of garbage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sandbox/sandbox.h"
#include "symbol/object_reader.h"

static char folder[] = "/tmp/kiseki-objects-XXXXXX";

/* A copy of this program as NAME in the folder; with `cut` only so much of it. */
static void copy_self(const char *name, size_t cut)
{
	char path[256], bytes[65536];
	int from = open("/proc/self/exe", O_RDONLY), to;
	size_t sum = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	assert_true(from >= 0 && to >= 0);
	while (sum < cut && (n = read(from, bytes, sizeof(bytes))) > 0) {
		n = (size_t)n > cut - sum ? (ssize_t)(cut - sum) : n;
		assert_int_equal(write(to, bytes, (size_t)n), n);
		sum += (size_t)n;
	}
	close(from);
	close(to);
}

static struct object *open_named(const char *sysroot, const char *path, char **problem)
{
	const struct search s = { .sysroot = sysroot };
	const struct object_wanted w = { .path = path };
	struct object *o = NULL;

	*problem = NULL;
	assert_int_equal(object_open(&s, &w, &o, problem), 0);
	assert_non_null(o);
	return o;
}

static void test_reads(void **state)
{
	char *problem;
	struct object *o;

	(void)state;
	copy_self("program", SIZE_MAX);
	o = open_named(folder, "/program", &problem);
	assert_true(object_is_found(o));
	assert_true(object_get_kept(o)->n_symbols > 10); /* as a table: it came from there */
	object_close(o);
	free(problem);
}

static void test_garbage(void **state)
{
	char *problem;
	struct object *o;

	(void)state;
	copy_self("cut", 5000);
	o = open_named(folder, "/cut", &problem);
	assert_false(object_is_found(o));
	assert_non_null(problem);
	object_close(o);
	free(problem);
}

/* Only folders of objects: a path that is absolute leads nowhere else, nor does a link. */
static void test_elsewhere(void **state)
{
	struct sandbox_abilities can;
	char *problem, link[256], target[256], other[] = "/tmp/kiseki-other-XXXXXX";
	struct object *o;

	(void)state;
	sandbox_probe(&can);
	if (SANDBOX_SANITIZED || !can.has_landlock)
		skip();
	assert_non_null(mkdtemp(other));
	snprintf(target, sizeof(target), "%s/program", other);
	copy_self("program", SIZE_MAX);
	snprintf(link, sizeof(link), "%s/program", folder);
	assert_int_equal(rename(link, target), 0);
	assert_int_equal(symlink(target, link), 0);
	o = open_named(folder, "/program", &problem);
	assert_false(object_is_found(o));
	object_close(o);
	free(problem);
	unlink(link);
	unlink(target);
	rmdir(other);
}

static void test_gone(void **state)
{
	char *problem;
	struct object *o;

	(void)state;
	copy_self("program", SIZE_MAX);
	object_reader_stop();
	assert_false(object_reader_is_there());
	o = open_named(folder, "/program", &problem); /* by itself, as before */
	assert_true(object_is_found(o));
	assert_null(object_get_kept(o));
	object_close(o);
	free(problem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_elsewhere),
		cmocka_unit_test(test_gone),
	};
	char command[64];
	int r;

	if (!mkdtemp(folder) || object_reader_start(OBJECT_READER_FOLDERS_ONLY, NULL) < 0)
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? 1 : r;
}
