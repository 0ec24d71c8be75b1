/* SPDX-License-Identifier: MIT */
/* sched: records laid out by hand come out as events, whatever the kernel's layout. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ftrace/sched.h"

#define COMMON                                                                                     \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* A 32-bit kernel; a field of a vendor's lies in between. */
static const char switch_text[] =
	"name: sched_switch\nID: 73\nformat:\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 vendor;\toffset:40;\tsize:8;\tsigned:0;\n"
	"\tfield:char next_comm[16];\toffset:48;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:64;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:68;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"prev_state=%s%s\", REC->prev_state & (1024-1) ? __print_flags("
	"REC->prev_state & (1024-1), \"|\", { 1, \"S\"} , { 512, \"P\" }) : \"R\", "
	"REC->prev_state & 1024 ? \"+\" : \"\"\n";

static const char exec_text[] =
	"name: sched_process_exec\nID: 105\nformat:\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"filename=%s\", __get_str(filename)\n";

static const char rename_text[] =
	"name: task_rename\nID: 9\nformat:\n" COMMON
	"\tfield:char oldcomm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:__rel_loc char[] newcomm;\toffset:24;\tsize:4;\tsigned:0;\n"
	"\tfield:short oom_score_adj;\toffset:28;\tsize:2;\tsigned:1;\n"
	"\nprint fmt: \"oldcomm=%s\", REC->oldcomm\n";

static const char waking_text[] =
	"name: sched_waking\nID: 41\nformat:\n" COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int success;\toffset:32;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:36;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"comm=%s target_cpu=%03d\", REC->comm, REC->target_cpu\n";

static int add(struct sched_map *m, const char *system, const char *text)
{
	return sched_map_add(m, system, text, strlen(text), NULL);
}

static void make_map(struct sched_map *m, bool big)
{
	sched_map_init(m, big);
	assert_int_equal(add(m, "sched", switch_text), 1);
	assert_int_equal(add(m, "sched", exec_text), 1);
	assert_int_equal(add(m, "sched", waking_text), 1);
	assert_int_equal(add(m, "task", rename_text), 1);
	assert_int_equal(add(m, "other", switch_text), 0);
	assert_int_equal(m->kinds, 1 << SCHED_SWITCH | 1 << SCHED_EXEC | 1 << SCHED_WAKING |
					   1 << SCHED_RENAME);
}

static void put(uint8_t *p, bool big, uint64_t v, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> 8 * (big ? size - 1 - i : i));
}

static void put_common(uint8_t *p, bool big, uint16_t id)
{
	memset(p, 0, 256);
	put(p, big, id, 2);
	p[2] = 0x25;
	p[3] = 3;
	put(p + 4, big, 1234, 4);
}

static void check_switch(bool big)
{
	struct sched_event e, expected = { .kind = SCHED_SWITCH };
	struct sched_map m;
	uint8_t p[256];

	make_map(&m, big);
	put_common(p, big, 73);
	memcpy(p + 8, "swapper/1\0garbag", 16);
	put(p + 24, big, 0, 4);
	put(p + 28, big, 120, 4);
	put(p + 32, big, 0x80000001, 4);
	memcpy(p + 48, "sixteen-letters-", 16);
	put(p + 64, big, 0x7fffffff, 4);
	put(p + 68, big, (uint32_t)-1, 4);
	assert_int_equal(sched_map_decode(&m, p, 72, &e), 1);
	expected.pid = 1234;
	expected.flags = 0x25;
	expected.preempt_count = 3;
	expected.state = 0x80000001;
	expected.task.prio = 120;
	memcpy(expected.task.comm, "swapper/1", 9);
	memcpy(expected.other.comm, "sixteen-letters-", 16);
	expected.other.pid = 0x7fffffff;
	expected.other.prio = -1;
	assert_true(sched_event_equal(&e, &expected));
	assert_int_equal(sched_map_decode(&m, p, 71, &e), -EBADMSG);
	assert_int_equal(sched_map_decode(&m, p, 1, &e), -EBADMSG);
	put(p, big, 74, 2);
	assert_int_equal(sched_map_decode(&m, p, 72, &e), 0);
}

/* 9, 41, 73 and 105 fall into one place of the hash. */
static void check_texts(bool big)
{
	struct sched_map m;
	struct sched_event e;
	uint8_t p[256];

	make_map(&m, big);
	put_common(p, big, 105);
	put(p + 8, big, 9U << 16 | 20, 4);
	put(p + 12, big, 77, 4);
	put(p + 16, big, 78, 4);
	memcpy(p + 20, "/bin/true", 9); /* not terminated: all nine bytes count */
	assert_int_equal(sched_map_decode(&m, p, 32, &e), 1);
	assert_int_equal(e.kind, SCHED_EXEC);
	assert_int_equal(e.filename_len, 9);
	assert_memory_equal(e.filename, "/bin/true", 9);
	assert_int_equal(e.task.pid, 77);
	assert_int_equal(e.value, 78);
	put(p + 8, big, 13U << 16 | 20, 4);
	assert_int_equal(sched_map_decode(&m, p, 32, &e), -EBADMSG);
	put(p + 8, big, 1U << 16 | 0xffff, 4);
	assert_int_equal(sched_map_decode(&m, p, 32, &e), -EBADMSG);

	put_common(p, big, 9);
	memcpy(p + 8, "old", 4);
	put(p + 24, big, 4U << 16 | 4, 4); /* four bytes behind the field's own end */
	put(p + 28, big, (uint16_t)-17, 2);
	memcpy(p + 32, "new", 4);
	assert_int_equal(sched_map_decode(&m, p, 36, &e), 1);
	assert_int_equal(e.kind, SCHED_RENAME);
	assert_string_equal(e.other.comm, "new");
	assert_int_equal(e.value, -17);
	assert_int_equal(e.task.pid, 1234); /* has no pid of its own */

	put_common(p, big, 41);
	put(p + 32, big, 1, 4);
	put(p + 36, big, 5, 4);
	assert_int_equal(sched_map_decode(&m, p, 40, &e), 1);
	assert_int_equal(e.kind, SCHED_WAKING);
	assert_int_equal(e.extra, 1);
	assert_int_equal(e.value, 5);
}

static void test_decode(void **state)
{
	(void)state;
	check_switch(false);
	check_switch(true);
	check_texts(false);
	check_texts(true);
}

/* Names with their first NUL anywhere and garbage behind it. */
static void test_comm(void **state)
{
	struct sched_event e;
	struct sched_map m;
	uint8_t p[256];
	char comm[16];
	int n, i;

	(void)state;
	make_map(&m, false);
	for (n = 0; n <= 16; n++) {
		put_common(p, false, 41);
		for (i = 0; i < 16; i++)
			p[8 + i] = (uint8_t)(i == n ? 0 : 0x80 + i % 3);
		assert_int_equal(sched_map_decode(&m, p, 40, &e), 1);
		sched_comm_set(comm, (char *)p + 8, 16);
		assert_memory_equal(e.task.comm, comm, 16);
	}
}

static const char switch64_text[] = "name: sched_switch\nID: 73\nformat:\n" COMMON
				    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				    "\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
				    "\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
				    "\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
				    "\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n";

static const char waking64_text[] = "name: sched_waking\nID: 41\nformat:\n" COMMON
				    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				    "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
				    "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n";

/* The kernels of today, and one with a wider pid: both ways of decoding give the same. */
static void test_today(void **state)
{
	char wide[sizeof(waking64_text)];
	struct sched_event plain, other;
	struct sched_map m;
	uint8_t p[256];

	(void)state;
	sched_map_init(&m, false);
	assert_int_equal(add(&m, "sched", switch64_text), 1);
	assert_int_equal(add(&m, "sched", waking64_text), 1);
	put_common(p, false, 73);
	put(p + 32, false, 0x8000000000000102, 8);
	memcpy(p + 40, "next", 5);
	put(p + 56, false, 77, 4);
	assert_int_equal(sched_map_decode(&m, p, 64, &plain), 1);
	assert_true(plain.state == 0x8000000000000102);
	assert_string_equal(plain.other.comm, "next");
	assert_int_equal(plain.other.pid, 77);
	put_common(p, false, 41);
	memcpy(p + 8, "woken", 6);
	put(p + 24, false, 1078, 8);
	put(p + 32, false, 3, 4);
	assert_int_equal(sched_map_decode(&m, p, 36, &plain), 1);
	assert_int_equal(plain.extra, 0);
	assert_int_equal(plain.value, 3);
	strcpy(wide, waking64_text);
	strstr(wide, "offset:24;\tsize:4")[16] = '8';
	assert_int_equal(add(&m, "sched", wide), 1);
	assert_int_equal(sched_map_decode(&m, p, 36, &other), 1);
	assert_true(sched_event_equal(&plain, &other));
}

/* A path of the most bytes that a kernel has, and one byte more. */
static void test_long_filename(void **state)
{
	static uint8_t p[20 + SCHED_FILENAME_MAX + 2];
	struct sched_event e;
	struct sched_map m;

	(void)state;
	make_map(&m, false);
	put_common(p, false, 105);
	memset(p + 20, 'x', SCHED_FILENAME_MAX + 1);
	put(p + 8, false, (SCHED_FILENAME_MAX + 2) << 16 | 20, 4);
	assert_int_equal(sched_map_decode(&m, p, sizeof(p), &e), -EBADMSG);
	p[20 + SCHED_FILENAME_MAX] = 0;
	assert_int_equal(sched_map_decode(&m, p, sizeof(p), &e), 1);
	assert_int_equal(e.filename_len, SCHED_FILENAME_MAX);
	assert_ptr_equal(e.filename, p + 20);
	p[20] = 0;
	assert_int_equal(sched_map_decode(&m, p, sizeof(p), &e), 1);
	assert_null(e.filename);
}

static void test_dialect(void **state)
{
	struct sched_dialect d;
	struct sched_map m;

	(void)state;
	make_map(&m, true);
	sched_map_get_dialect(&m, "3.18.0", 4, &d);
	assert_int_equal(d.long_size, 4);
	assert_true(d.state_mask == 0x3ff && d.state_preempt == 0x400);
	assert_string_equal(d.state_letters, "S");
	assert_int_equal(d.state_letters[9], 'P');
	/* The formats go before what the release would imply. */
	assert_true(d.features & DIALECT_SUCCESS_SILENT);
	assert_false(d.features & DIALECT_SUCCESS);
	assert_true(d.features & DIALECT_RENAME_NO_PID);
	assert_true(d.features & DIALECT_BIG_ENDIAN);
	assert_int_equal(d.kinds, m.kinds);
	assert_int_equal(d.pid_width, 5);
	/* Without a release, the formats give the age away. */
	sched_map_get_dialect(&m, "", 8, &d);
	assert_int_equal(d.pid_width, 5);
	sched_map_init(&m, false);
	sched_map_get_dialect(&m, "", 8, &d);
	assert_int_equal(d.pid_width, 7);
	assert_true(d.state_preempt == 0x100);
}

static void test_again(void **state)
{
	char text[2048];
	struct sched_event e;
	struct sched_map m;
	uint8_t p[256];
	int id;

	(void)state;
	make_map(&m, false);
	/* A kind that comes again and again does not fill the hash. */
	for (id = 300; id < 400; id++) {
		snprintf(text, sizeof(text), "name: sched_waking\nID: %d%s", id,
			 strchr(strchr(waking_text, '\n') + 1, '\n'));
		assert_int_equal(add(&m, "sched", text), 1);
	}
	put_common(p, false, 41);
	assert_int_equal(sched_map_decode(&m, p, 40, &e), 0);
	put_common(p, false, 399);
	assert_int_equal(sched_map_decode(&m, p, 40, &e), 1);
	put_common(p, false, 73);
	assert_int_equal(sched_map_decode(&m, p, 72, &e), 1);
}

static void check_refused(const char *from, const char *to)
{
	struct error e = ERROR_INIT;
	struct sched_map m;
	char text[2048];
	const char *at = strstr(waking_text, from);

	assert_non_null(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - waking_text), waking_text, to,
		 at + strlen(from));
	sched_map_init(&m, false);
	assert_int_equal(sched_map_add(&m, "sched", text, strlen(text), &e), -EBADMSG);
	assert_true(strlen(e.text) > 10);
	assert_int_equal(m.kinds, 0);
}

static void test_refused(void **state)
{
	(void)state;
	check_refused("int common_pid", "int other_pid");
	check_refused("short common_type;\toffset:0;\tsize:2",
		      "int common_type;\toffset:0;\tsize:4");
	check_refused("pid_t pid", "pid_t tid");
	check_refused("offset:24;\tsize:4", "offset:24;\tsize:3");
	check_refused("char comm[16]", "char comm");
	check_refused("int prio", "char prio[4]");
	check_refused("char comm[16];\toffset:8;\tsize:16",
		      "__data_loc char[] comm;\toffset:8;\tsize:2");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode),	cmocka_unit_test(test_comm),
		cmocka_unit_test(test_dialect), cmocka_unit_test(test_again),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_long_filename),
		cmocka_unit_test(test_today),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
