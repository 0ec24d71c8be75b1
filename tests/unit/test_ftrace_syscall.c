/* SPDX-License-Identifier: MIT */
/* syscall: records of both byte orders and word sizes, and what is wrong with some. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_formats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
