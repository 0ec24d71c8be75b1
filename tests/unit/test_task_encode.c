/* SPDX-License-Identifier: MIT */
/* Rows of the item `tasks`, byte by byte as wire.md, 7.3, has them; and that a full item says so. The
 * reader's side is held against it in test_task_walk.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wire/meta.h"
#include "wire/task_encode.h"

static struct task_encoder e;

static void put(int32_t pid, int32_t tgid, const char *name)
{
	char comm[SCHED_COMM_LEN];

	sched_comm_set(comm, name, strlen(name));
	task_encode(&e, pid, tgid, comm);
}

static void writes_rows(void **state)
{
	static const uint8_t want[] = {
		META_TASKS, 0x8c, 0x80, 0x00,		/* 12 bytes */
		0x16,	    4,	  'i',	'n',  'i', 't', /* 1: its own group, a new name */
		0x1a,	    1,	  'x',			/* 2: in the group before, a new name */
		0x05,	    60,	  0, /* 32, which is 30 more: its own group, name 0 */
	};
	uint8_t out[256];
	size_t len;

	(void)state;
	task_encoder_begin(&e, out, sizeof(out));
	put(1, 1, "init");
	put(2, 1, "x");
	put(32, 32, "init");
	len = task_encoder_end(&e);
	assert_int_equal(len, sizeof(want));
	assert_memory_equal(out, want, sizeof(want));
}

static void says_a_far_group_and_the_same_name(void **state)
{
	uint8_t out[128];

	(void)state;
	task_encoder_begin(&e, out, sizeof(out));
	put(100, 7, "");
	assert_int_equal(task_encoder_end(&e), 4 + 4);
	assert_int_equal(out[4],
			 12); /* the step follows; a group that follows; no name, as before */
	assert_int_equal(out[5] | out[6] << 8, 0x01c8);
	assert_int_equal(out[7], 7);
}

static void stops_when_full(void **state)
{
	uint8_t out[200];
	int32_t pid = 0;

	(void)state;
	memset(out, 0xaa, sizeof(out));
	task_encoder_begin(&e, out, 150);
	while (task_encoder_has_room(&e)) {
		pid++;
		put(pid * 100000, 2000000000 + pid, "abcdefghijklmnop");
		assert_true(e.at <= out + 150);
	}
	assert_true(pid > 2);
	assert_true(task_encoder_end(&e) <= 150);
	assert_int_equal(out[150], 0xaa);
}

/* Only so many names are kept to refer back to; the next ones are written out each time. */
static void refers_to_the_first_names_only(void **state)
{
	static uint8_t out[16384];
	char name[16];
	uint8_t *before;
	int32_t i;

	(void)state;
	task_encoder_begin(&e, out, sizeof(out));
	for (i = 1; i <= (int32_t)TASK_NAMES_MAX + 1; i++) {
		snprintf(name, sizeof(name), "n%d", (int)i);
		put(i, i, name);
	}
	before = e.at;
	put(i, i, "n256"); /* the last that is kept */
	assert_int_equal(*before & 3, 1);
	before = e.at;
	put(i + 1, i + 1, "n257");
	assert_int_equal(*before & 3, 2);
	assert_int_equal(e.n_names, TASK_NAMES_MAX);
}

static void has_nothing_without_rows(void **state)
{
	uint8_t out[8];

	(void)state;
	task_encoder_begin(&e, out, sizeof(out));
	assert_false(task_encoder_has_room(&e));
	assert_int_equal(task_encoder_end(&e), 0);
	task_encoder_begin(&e, out, 2);
	assert_int_equal(task_encoder_end(&e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes_rows),
		cmocka_unit_test(says_a_far_group_and_the_same_name),
		cmocka_unit_test(stops_when_full),
		cmocka_unit_test(has_nothing_without_rows),
		cmocka_unit_test(refers_to_the_first_names_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
