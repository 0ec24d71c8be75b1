/* SPDX-License-Identifier: MIT */
/* memory: a file is made, found again, locked, put aside; what is damaged is refused. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "device/agent/memory.h"

static char folder[64];
static char path[96], aside[96];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/kiseki-test-memory-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/deep/a.state", folder);
	snprintf(aside, sizeof(aside), "%s/deep/a.state.old", folder);
	return 0;
}

static int tear_down(void **state)
{
	char deep[80];

	(void)state;
	snprintf(deep, sizeof(deep), "%s/deep", folder);
	unlink(path);
	unlink(aside);
	rmdir(deep);
	return rmdir(folder);
}

static const struct memory_options options = {
	.path = path, .cpus = 2, .slots = 4, .slot_bytes = 4096, .spool_bytes = 100000
};

static struct memory *open_it(const struct memory_options *o)
{
	struct error e = ERROR_INIT;
	struct memory *m = NULL;

	if (memory_open(&m, o, &e) < 0)
		print_message("%s\n", e.text);
	assert_non_null(m);
	return m;
}

static void patch(long at, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, bytes, len, at), (ssize_t)len);
	close(fd);
}

static void test_stays(void **state)
{
	struct memory_mark next = { .head = 80, .tail = 16, .run = 3, .state = MEMORY_TRACING };
	struct memory *m = open_it(&options);
	struct stat st;

	(void)state;
	assert_string_equal(memory_get_note(m), "");
	assert_true(memory_is_same_boot(m));
	assert_int_equal(memory_get_mark(m)->head, 0);
	assert_int_equal(memory_get_head(m)->name.spool_bytes, 102400);
	assert_int_equal(memory_clear_slots(m, NULL), 0);
	memory_get_page(m, 1, 3)[4095] = 0x5a;
	memory_get_slot(m, 1, 3)->number = 4;
	assert_ptr_equal(memory_get_page(m, 1, 7), memory_get_page(m, 1, 3));
	assert_int_equal((uintptr_t)memory_get_page(m, 0, 0) % 4096, 0);
	memory_publish(m, &next);
	memory_free(m);

	m = open_it(&options);
	assert_string_equal(memory_get_note(m), "");
	assert_true(memory_is_same_boot(m));
	assert_int_equal(memory_get_mark(m)->head, 80);
	assert_int_equal(memory_get_mark(m)->run, 3);
	assert_int_equal(memory_get_page(m, 1, 3)[4095], 0x5a);
	assert_int_equal(memory_get_slot(m, 1, 3)->number, 4);
	memory_free(m);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_not_equal(access(aside, F_OK), 0);
}

static void test_one_agent_only(void **state)
{
	struct memory *m = open_it(&options), *other = NULL;
	struct error e = ERROR_INIT;

	(void)state;
	assert_int_equal(memory_open(&other, &options, &e), -EBUSY);
	assert_non_null(strstr(e.text, "another agent"));
	memory_free(m);
	memory_free(open_it(&options));
}

/* However a process dies, its lock is gone with it. */
static void test_lock_dies_with_its_owner(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		struct memory *m;

		if (memory_open(&m, &options, NULL) < 0)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	memory_free(open_it(&options));
}

static void test_other_sizes(void **state)
{
	struct memory_options o = options;
	struct memory_mark next = { .head = 80, .tail = 16 };
	struct memory *m = open_it(&o);

	(void)state;
	memory_free(m);
	/* Nothing in it: it is made anew. */
	o.spool_bytes = 200704;
	m = open_it(&o);
	assert_int_equal(memory_get_head(m)->name.spool_bytes, 200704);
	memory_publish(m, &next);
	memory_free(m);
	/* Something in it: it keeps its size. */
	o.spool_bytes = 131072;
	m = open_it(&o);
	assert_int_equal(memory_get_head(m)->name.spool_bytes, 200704);
	assert_int_equal(memory_get_mark(m)->head, 80);
	memory_free(m);
	/* But not for more CPUs than it has checkpoints for. */
	o.cpus = 3;
	m = open_it(&o);
	assert_non_null(strstr(memory_get_note(m), "made for 2 CPUs"));
	assert_int_equal(memory_get_mark(m)->head, 0);
	memory_free(m);
	assert_int_equal(access(aside, F_OK), 0);
}

/* Rows of threads lie behind everything else; a file of before they were has none. */
static void test_func_rows(void **state)
{
	struct memory_options o = options;
	struct memory_mark next = { .head = 80, .tail = 16 };
	struct memory *m = open_it(&o);
	size_t len = memory_get_len(m);

	(void)state;
	memory_publish(m, &next);
	memory_free(m);
	/* Something in it: it stays as it is. */
	o.func_rows = 20;
	m = open_it(&o);
	assert_string_equal(memory_get_note(m), "");
	assert_int_equal(memory_get_head(m)->name.func_rows, 0);
	assert_int_equal(memory_get_len(m), len);
	next.head = next.tail = 80;
	memory_publish(m, &next);
	memory_free(m);
	/* Nothing in it. */
	m = open_it(&o);
	assert_int_equal(memory_get_head(m)->name.func_rows, 20);
	assert_int_equal(memory_get_len(m), len + 8192);
	assert_ptr_equal(memory_get_func_rows(m), memory_get_ring(m) + 102400);
	assert_true((uint8_t *)&memory_get_checkpoints(m, 4)[0] <=
		    (uint8_t *)memory_get_slot(m, 0, 0));
	memset(memory_get_func_rows(m), 0x33, 20 * sizeof(struct memory_func_row));
	assert_int_equal(memory_clear_func_rows(m, NULL), 0);
	assert_int_equal(memory_get_func_rows(m)[19].places[1].crc, 0);
	memory_get_func_rows(m)[19].base = 4711;
	/* A function run alone is a reason to keep it. */
	next = (struct memory_mark){ .func = 3 << 2 | MEMORY_TRACING };
	memory_publish(m, &next);
	memory_free(m);
	o.func_rows = 10;
	m = open_it(&o);
	assert_int_equal(memory_get_head(m)->name.func_rows, 20);
	assert_int_equal(memory_get_mark(m)->func, 3 << 2 | MEMORY_TRACING);
	assert_int_equal(memory_get_func_rows(m)[19].base, 4711);
	memory_free(m);
}

static void test_refused(void **state)
{
	static const struct {
		long at;
		const char *bytes;
		size_t len;
		const char *why;
	} cases[] = {
		{ 0, "GARBAGE!", 8, "no state of an agent" },
		{ 8, "\xff\xff\xff\xff", 4, "version 4294967295" },
		{ 12, "\4\3\2\1\1", 4, NULL }, /* one of the two orders is this machine's */
		{ 16, "\x09", 1, "head is damaged" },
		{ 1 << 20, "x", 1, "its head says" },
	};
	struct memory *m;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memory_free(open_it(&options));
		patch(cases[i].at, cases[i].bytes, cases[i].len);
		m = open_it(&options);
		if (cases[i].why)
			assert_non_null(strstr(memory_get_note(m), cases[i].why));
		assert_true(cases[i].why || !memory_get_note(m)[0] ||
			    strstr(memory_get_note(m), "byte order"));
		assert_int_equal(memory_get_mark(m)->head, 0);
		memory_free(m);
		unlink(path);
	}
}

/* One mark is damaged: the other is taken, but not for this boot. Both: nothing can be. */
static void test_marks(void **state)
{
	struct memory_mark next = { .head = 160, .tail = 80 };
	struct memory *m = open_it(&options);
	uint32_t now;

	(void)state;
	memory_publish(m, &next);
	next.head = 240;
	memory_publish(m, &next);
	now = memory_get_head(m)->current;
	memory_get_head(m)->mark[now].head++;
	memory_free(m);
	m = open_it(&options);
	assert_string_equal(memory_get_note(m), "");
	assert_false(memory_is_same_boot(m));
	assert_int_equal(memory_get_mark(m)->head, 160);
	memory_get_head(m)->mark[now ^ 1].head++;
	memory_free(m);
	m = open_it(&options);
	assert_non_null(strstr(memory_get_note(m), "marks are damaged"));
	memory_free(m);
}

static void test_truncated(void **state)
{
	struct memory *m = open_it(&options);
	size_t len = memory_get_len(m);
	off_t cut;

	(void)state;
	memory_free(m);
	for (cut = 1; cut < (off_t)len; cut += 4099) {
		assert_int_equal(truncate(path, cut), 0);
		m = open_it(&options);
		assert_true(memory_get_note(m)[0] || cut < 8);
		assert_int_equal(memory_get_len(m), len);
		memory_free(m);
	}
}

static void test_bad_options(void **state)
{
	struct memory_options o = options;
	struct memory *m = NULL;

	(void)state;
	o.cpus = 0;
	assert_int_equal(memory_open(&m, &o, NULL), -EINVAL);
	o.cpus = 5000;
	assert_int_equal(memory_open(&m, &o, NULL), -EINVAL);
	o = options;
	o.spool_bytes = 100;
	assert_int_equal(memory_open(&m, &o, NULL), -EINVAL);
	o.spool_bytes = UINT32_MAX;
	assert_int_equal(memory_open(&m, &o, NULL), -EINVAL);
	o = options;
	o.func_rows = MEMORY_FUNC_ROWS_MAX + 1;
	assert_int_equal(memory_open(&m, &o, NULL), -EINVAL);
	o = options;
	o.path = "/proc/no/such/folder";
	assert_true(memory_open(&m, &o, NULL) < 0);
	assert_null(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_one_agent_only, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lock_dies_with_its_owner, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_other_sizes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_func_rows, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_marks, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_truncated, set_up, tear_down),
		cmocka_unit_test(test_bad_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
