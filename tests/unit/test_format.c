/* SPDX-License-Identifier: MIT */
/* format: texts of kernels from 3.0 to 6.18, and texts that no kernel wrote. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ftrace/format.h"

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char exec[] = "name: sched_process_exec\nID: 201\nformat:\n" COMMON
			   "\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
			   "\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
			   "\tfield:char odd[16];\toffset:16;\tsize:16;\tsigned:0;\n"
			   "\tfield:__rel_loc char[] rel;\toffset:32;\tsize:4;\tsigned:0;\n"
			   "\nprint fmt: \"filename=%s pid=%d\", __get_str(filename), REC->pid\n";

static void test_fields(void **state)
{
	const struct format_field *f;
	struct format format;

	(void)state;
	assert_int_equal(format_parse(&format, exec, strlen(exec), NULL), 0);
	assert_true(format_is_named(&format, "sched_process_exec"));
	assert_false(format_is_named(&format, "sched_process"));
	assert_int_equal(format.id, 201);
	assert_int_equal(format.n_fields, 8);
	f = format_get_field(&format, "common_pid");
	assert_non_null(f);
	assert_int_equal(f->offset, 4);
	assert_int_equal(f->size, 4);
	assert_int_equal(f->form, FORMAT_INT);
	assert_true(f->is_signed);
	assert_int_equal(format_get_field(&format, "filename")->form, FORMAT_DATA_LOC);
	assert_int_equal(format_get_field(&format, "odd")->form, FORMAT_ARRAY);
	assert_int_equal(format_get_field(&format, "rel")->form, FORMAT_REL_LOC);
	assert_null(format_get_field(&format, "file"));
	assert_true(format_prints(&format, "filename="));
	assert_false(format_prints(&format, "__get_str"));
}

/* Cut anywhere, it is either read or refused; the bytes behind the cut are never looked at. */
static void test_every_cut(void **state)
{
	struct format format;
	char *copy;
	size_t n;

	(void)state;
	for (n = 0; n < sizeof(exec); n++) {
		copy = test_malloc(n ? n : 1);
		memcpy(copy, exec, n);
		(void)format_parse(&format, copy, n, NULL);
		test_free(copy);
	}
}

/* Fields above FORMAT_FIELDS_MAX are not kept, but what is wrong with them is. */
static void test_many(void **state)
{
	char text[8192] = "name: many\nID: 7\n", line[64];
	struct format format;
	uint32_t i;

	(void)state;
	for (i = 0; i <= FORMAT_FIELDS_MAX; i++) {
		snprintf(line, sizeof(line), "\tfield:int f%u;\toffset:%u;\tsize:4;\n", i, 4 * i);
		strcat(text, line);
	}
	assert_int_equal(format_parse(&format, text, strlen(text), NULL), 0);
	assert_int_equal(format.n_fields, FORMAT_FIELDS_MAX);
	assert_int_equal(format_get_field(&format, "f47")->offset, 188);
	assert_null(format_get_field(&format, "f48"));
	strcat(text, "\tfield:int last;\tsize:4;\n");
	assert_int_equal(format_parse(&format, text, strlen(text), NULL), -EBADMSG);
}

static void check_bad(const char *text)
{
	struct error e = ERROR_INIT;
	struct format format;

	assert_int_equal(format_parse(&format, text, strlen(text), &e), -EBADMSG);
	assert_true(strlen(e.text) > 10);
}

static void test_bad(void **state)
{
	(void)state;
	check_bad("");
	check_bad("name: x\nID: 1\nformat:\n");
	check_bad("\tfield:int x;\toffset:a;\tsize:4;\n");
	check_bad("\tfield:int x;\tsize:4;\n");
	check_bad("\tfield:int x;\toffset:0;\tsize:99999999999999999999;\n");
	check_bad("\tfield:int x;\toffset:65535;\tsize:4;\n");
	check_bad("\tfield:;\toffset:0;\tsize:4;\n");
	check_bad("ID: many\n\tfield:int x;\toffset:0;\tsize:4;\n");
}

#define SWITCH "\tfield:long prev_state;\toffset:8;\tsize:8;\tsigned:1;\n\nprint fmt: \"%s%s\", "

static int states(const char *print, struct format_states *ret)
{
	struct format format;
	char text[4096] = SWITCH;

	strcat(text, print);
	assert_int_equal(format_parse(&format, text, strlen(text), NULL), 0);
	return format_get_states(&format, ret);
}

static void test_states(void **state)
{
	struct format_states s;

	(void)state;
	/* 3.0 */
	assert_int_equal(states("REC->prev_state ? __print_flags(REC->prev_state, \"|\", { 1, "
				"\"S\"} , { 2, \"D\" }, { 128, \"W\" }) : \"R\", REC->next_comm\n",
				&s),
			 0);
	assert_true(s.mask == UINT64_MAX && s.preempt == 0);
	assert_memory_equal(s.letters, "SD\0\0\0\0\0W\0", 9);
	/* 3.18 */
	assert_int_equal(states("REC->prev_state & (1024-1) ? __print_flags(REC->prev_state & "
				"(1024-1), \"|\", { 1, \"S\"} , { 2, \"D\" }, { 512, \"P\" }) : "
				"\"R\", REC->prev_state & 1024 ? \"+\" : \"\", REC->next_comm",
				&s),
			 0);
	assert_true(s.mask == 0x3ff && s.preempt == 0x400);
	assert_int_equal(s.letters[9], 'P');
	/* 4.14 and later, with the line break that some tools leave in */
	assert_int_equal(
		states("(REC->prev_state & ((((0x0000 | 0x0001 | 0x0002 | 0x0040) + 1) << 1) - 1)) "
		       "? "
		       "__print_flags(REC->prev_state & ((((0x0000 | 0x0001 | 0x00000002UL | "
		       "0x0040) "
		       "+ 1) << 1) - 1), \"|\",\n { 0x0001, \"S\" }, { 0x80, \"I\" }) : \"R\", "
		       "REC->prev_state & (((0x0000 | 0x0001 | 0x0002 | 0x0040) + 1) << 1) ? \"+\" "
		       ": \"\", REC->next_comm",
		       &s),
		0);
	assert_true(s.mask == 0x87 && s.preempt == 0x88);
	assert_int_equal(s.letters[0], 'S');
	assert_int_equal(s.letters[7], 'I');
}

/* Letters of the first four bits, in a list that is torn or has bits that are none. */
static void check_torn(const char *list, const char letters[4])
{
	char print[256] = "__print_flags(REC->prev_state & 15, \"|\", ";
	struct format_states s;

	strcat(print, list);
	assert_int_equal(states(print, &s), 0);
	assert_memory_equal(s.letters, letters, 4);
	assert_true(s.mask == 15 && s.preempt == 0);
}

static void test_bad_states(void **state)
{
	struct format_states s;
	char deep[2048] = "__print_flags(REC->prev_state & ";

	(void)state;
	assert_int_equal(states("REC->prev_state", &s), -ENOENT);
	assert_int_equal(states("__print_flags(REC->prev_state & TASK_MAX, \"|\", { 1, \"S\" })",
				&s),
			 -ENOENT);
	assert_int_equal(states("__print_flags(REC->prev_state & (1 + ", &s), -ENOENT);
	assert_int_equal(states("__print_flags(REC->other, \"|\", { 1, \"S\" })", &s), -ENOENT);
	memset(deep + strlen(deep), '(', 1500);
	assert_int_equal(states(deep, &s), -ENOENT);
	/* A bit that is none gives no letter; a torn list gives those before the tear. */
	assert_int_equal(
		states("__print_flags(REC->prev_state & 7, \"|\", { 3, \"X\" }, { 4, \"T\" "
		       "}, { 8, ",
		       &s),
		0);
	assert_memory_equal(s.letters, "\0\0T\0", 4);
	check_torn("{ 0, \"Z\" }, { 4, \"T\" })", "\0\0T\0");
	check_torn("{ 4, \"T\" }, { 8 \"P\" })", "\0\0T\0");
	check_torn("{ 4, \"T\" }, { 8, \"", "\0\0T\0");
	check_torn("{ 4, \"T\" }, { 8, \"P", "\0\0TP");
	check_torn("{ 4, \"T\" }, { many, \"P\" })", "\0\0T\0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),	   cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_bad),	   cmocka_unit_test(test_states),
		cmocka_unit_test(test_bad_states), cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
