/* SPDX-License-Identifier: MIT */
/* func_objects: a traced program says which files it has, and is believed only if the kernel says so, too. */
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "device/feed/func_objects.h"

static struct told_objects *told;

static int begin(void **state)
{
	(void)state;
	told = told_objects_new(1U << 20);
	return told ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	told_objects_free(told);
	return 0;
}

/* Whether it is told of afterwards. */
static bool tell(int32_t pid, const char *path)
{
	static const uint8_t id[SAMPLE_BUILD_ID_MAX] = "the id of some file";
	struct func_meta_mapping m = { .build_id = id,
				       .build_id_len = sizeof(id),
				       .path = { path, (uint32_t)strlen(path) } };
	struct sample_mapping row = { .build_id_len = sizeof(id) };

	memcpy(row.build_id, id, sizeof(id));
	func_objects_tell(told, pid, &m);
	return told_objects_has(told, &row);
}

static int32_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void takes_what_is_mapped(void **state)
{
	char path[PATH_MAX] = "";

	(void)state;
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_true(tell(getpid(), path));
	assert_true(tell(getpid(), path)); /* and again */
}

static void refuses_what_is_not(void **state)
{
	char path[] = "/tmp/kiseki-objects-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && fchmod(fd, 0644) == 0);
	assert_false(tell(getpid(), path));
	assert_false(tell(getpid(), "relative"));
	assert_false(tell(getpid(), ""));
	assert_false(tell(getpid(), "/"));
	close(fd);
	unlink(path);
}

static void of_the_dead_only_what_all_may_read(void **state)
{
	char path[] = "/tmp/kiseki-objects-XXXXXX";
	int fd = mkstemp(path);
	int32_t pid = dead_pid();

	(void)state;
	assert_true(fd >= 0);
	assert_false(tell(pid, path));
	assert_false(tell(pid, "/tmp"));
	assert_int_equal(fchmod(fd, 0644), 0);
	assert_true(tell(pid, path));
	close(fd);
	unlink(path);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(takes_what_is_mapped),
		TEST(refuses_what_is_not),
		TEST(of_the_dead_only_what_all_may_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
