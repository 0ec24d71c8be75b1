/* SPDX-License-Identifier: MIT */
/* syscall: records of both byte orders and word sizes, and what is wrong with some. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ftrace/syscall.h"

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define ENTER64                                                                                    \
	"name: sys_enter\nID: 25\nformat:\n" COMMON                                                \
	"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"                                        \
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n"
#define EXIT32                                                                                     \
	"name: sys_exit\nID: 24\nformat:\n" COMMON                                                 \
	"\tfield:long id;\toffset:8;\tsize:4;\tsigned:1;\n"                                        \
	"\tfield:long ret;\toffset:12;\tsize:4;\tsigned:1;\n"

static void put(uint8_t *p, uint64_t v, unsigned int size, bool big)
{
	unsigned int i;

	for (i = 0; i < size; i++)
		p[big ? size - 1 - i : i] = (uint8_t)(v >> 8 * i);
}

static void check(bool big)
{
	uint8_t r[64] = { 0 };
	struct syscall_event ev;
	struct syscall_map m;

	syscall_map_init(&m, big);
	assert_int_equal(syscall_map_add(&m, ENTER64, strlen(ENTER64), NULL), 1);
	assert_int_equal(syscall_map_add(&m, EXIT32, strlen(EXIT32), NULL), 1);
	put(r, 25, 2, big);
	put(r + 4, 4711, 4, big);
	put(r + 8, 278, 8, big);
	assert_int_equal(syscall_map_decode(&m, r, sizeof(r), &ev), 1);
	assert_int_equal(ev.kind, SYSCALL_ENTER);
	assert_int_equal(ev.pid, 4711);
	assert_int_equal(ev.number, 278);
	put(r, 24, 2, big);
	put(r + 8, UINT32_MAX, 4, big);
	assert_int_equal(syscall_map_decode(&m, r, 16, &ev), 1);
	assert_int_equal(ev.kind, SYSCALL_RETURN);
	assert_int_equal(ev.number, -1);
	assert_int_equal(syscall_map_decode(&m, r, 11, &ev), -EBADMSG);
	assert_int_equal(syscall_map_decode(&m, r, 1, &ev), 0);
	put(r, 26, 2, big);
	assert_int_equal(syscall_map_decode(&m, r, sizeof(r), &ev), 0);
}

static void test_records(void **state)
{
	(void)state;
	check(false);
	check(true);
	assert_string_equal(syscall_map_get_name(SYSCALL_RETURN), "sys_exit");
}

static void test_formats(void **state)
{
	static const char other[] = "name: sys_other\nID: 9\nformat:\n" COMMON;
	static const char bare[] = "name: sys_exit\nID: 9\nformat:\n" COMMON;
	static const char array[] = "name: sys_exit\nID: 9\nformat:\n" COMMON
				    "\tfield:char id[3];\toffset:8;\tsize:3;\tsigned:1;\n";
	struct error e = ERROR_INIT;
	struct syscall_event ev;
	struct syscall_map m;
	uint8_t r[64] = { 9 };

	(void)state;
	syscall_map_init(&m, false);
	assert_int_equal(syscall_map_add(&m, other, strlen(other), &e), 0);
	assert_int_equal(syscall_map_add(&m, "", 0, &e), 0);
	assert_int_equal(syscall_map_add(&m, bare, strlen(bare), &e), -EBADMSG);
	assert_non_null(strstr(e.text, "sys_exit"));
	assert_int_equal(syscall_map_add(&m, array, strlen(array), &e), -EBADMSG);
	assert_int_equal(syscall_map_decode(&m, r, sizeof(r), &ev), 0);
}

static void check_refused(const char *from, const char *to)
{
	struct error e = ERROR_INIT;
	struct syscall_map m;
	char text[1024];
	const char *at = strstr(EXIT32, from);

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - EXIT32), EXIT32, to, at + strlen(from));
	syscall_map_init(&m, false);
	assert_int_equal(syscall_map_add(&m, text, strlen(text), &e), -EBADMSG);
	assert_true(strlen(e.text) > 10);
	assert_int_equal(m.layouts[SYSCALL_RETURN].id, 0);
}

static void test_refused(void **state)
{
	(void)state;
	check_refused("common_type", "other_type");
	check_refused("common_type;\toffset:0;\tsize:2", "common_type;\toffset:0;\tsize:4");
	check_refused("common_pid", "other_pid");
	check_refused("common_pid;\toffset:4;\tsize:4", "common_pid;\toffset:4;\tsize:8");
	check_refused("id;\toffset:8;\tsize:4", "id;\toffset:8;\tsize:3");
	check_refused("id;\toffset:8", "id;\toffset:many");
}

/* A narrow number keeps its sign, and a field may lie before those that are named earlier. */
static void test_narrow(void **state)
{
	static const char text[] = "name: sys_enter\nID: 25\nformat:\n"
				   "\tfield:unsigned short common_type;\toffset:8;\tsize:2;\n"
				   "\tfield:int common_pid;\toffset:0;\tsize:4;\n"
				   "\tfield:short id;\toffset:4;\tsize:2;\n";
	struct syscall_event ev;
	struct syscall_map m;
	uint8_t r[10] = { 0 };

	(void)state;
	syscall_map_init(&m, false);
	assert_int_equal(syscall_map_add(&m, text, strlen(text), NULL), 1);
	put(r, 4711, 4, false);
	put(r + 4, (uint16_t)-2, 2, false);
	put(r + 8, 25, 2, false);
	assert_int_equal(syscall_map_decode(&m, r, sizeof(r), &ev), 1);
	assert_int_equal(ev.pid, 4711);
	assert_int_equal(ev.number, -2);
	assert_int_equal(syscall_map_decode(&m, r, 9, &ev), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_narrow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
