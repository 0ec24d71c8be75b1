/* SPDX-License-Identifier: MIT */
/*
 * sample_spaces and sample_guests that are settled again and again and forget in between: for later moments they answer what those
 * answer that were told all at once. Rows are made of a seed: forks, executions, ends and numbers that are used again, maps over maps,
 * rows that come late, page tables that move from process to process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "trace/sample_guests.h"
#include "trace/sample_pace.h"
#include "wire/sample_meta_encode.h"

#define SEEDS 60U
#define ROUNDS 12U
#define ROUND_TICKS 1000U
#define PIDS 14
#define ROWS 60U
#define ASKS 400U
#define VM 7

static uint64_t seed;

static uint32_t roll(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

static uint64_t roll_tick(uint32_t round)
{
	return (uint64_t)round * ROUND_TICKS + roll(ROUND_TICKS);
}

/* --- processes --- */

struct both {
	struct sample_spaces *kept, *whole;
	bool has_ended[PIDS];
};

static void add_life(struct both *b, uint32_t round)
{
	char comm[8];
	struct sample_life_row row = { .pid = (int32_t)roll(PIDS),
				       .parent = (int32_t)roll(PIDS),
				       .tick = roll_tick(round),
				       .what = (uint8_t)roll(3),
				       .comm = comm };

	row.comm_len = (uint32_t)snprintf(comm, sizeof(comm), "c%u", roll(100));
	if (row.what == SAMPLE_LIFE_END || !roll(5))
		row.comm_len = 0;
	b->has_ended[row.pid] = b->has_ended[row.pid] || row.what == SAMPLE_LIFE_END;
	assert_int_equal(sample_spaces_add_life(b->kept, &row), 0);
	assert_int_equal(sample_spaces_add_life(b->whole, &row), 0);
}

static void add_mapping(struct both *b, uint32_t round)
{
	char path[12];
	struct sample_mapping row = { .pid = (int32_t)roll(PIDS),
				      .tick = roll(6) ? roll_tick(round)
						      : roll_tick(roll(round + 1)),
				      .from = roll(8) * 0x100,
				      .path = path };

	row.to = row.from + (1 + roll(3)) * 0x100;
	row.path_len = (uint32_t)snprintf(path, sizeof(path), "/%u", roll(10000));
	assert_int_equal(sample_spaces_add_mapping(b->kept, &row), 0);
	assert_int_equal(sample_spaces_add_mapping(b->whole, &row), 0);
}

static void add_kernel(struct both *b)
{
	char name[12];
	struct sample_kernel_name row = { .from = roll(20) * 0x10, .name = name };

	row.to = row.from + (1 + roll(4)) * 0x10;
	row.name_len = (uint32_t)snprintf(name, sizeof(name), "k%u", roll(1000));
	assert_int_equal(sample_spaces_add_kernel(b->kept, &row), 0);
	assert_int_equal(sample_spaces_add_kernel(b->whole, &row), 0);
}

static const char *text(const char *s)
{
	return s ? s : "nothing";
}

/* Of those who ended, where that may be forgotten, nothing is asked. */
static void compare_spaces(const struct both *b, uint32_t round, bool forgets_ends)
{
	int32_t pid = (int32_t)roll(PIDS);
	uint64_t tick = roll_tick(round - roll(2)), address = roll(0xb00);
	uint64_t other = roll_tick(round - roll(2));
	const struct sample_mapping *x = sample_spaces_get(b->kept, pid, tick, address);
	const struct sample_mapping *y = sample_spaces_get(b->whole, pid, tick, address);
	const struct sample_kernel_name *n = sample_spaces_get_kernel(b->kept, address / 4);
	const struct sample_kernel_name *m = sample_spaces_get_kernel(b->whole, address / 4);

	assert_string_equal(n ? n->name : "", m ? m->name : "");
	if (forgets_ends && b->has_ended[pid])
		return;
	assert_string_equal(x ? x->path : "", y ? y->path : "");
	assert_string_equal(text(sample_spaces_comm(b->kept, pid, tick)),
			    text(sample_spaces_comm(b->whole, pid, tick)));
	assert_string_equal(text(sample_spaces_last_comm(b->kept, pid, tick)),
			    text(sample_spaces_last_comm(b->whole, pid, tick)));
	/* Numbers tell lives apart; from where they count a mapping that comes late may change. */
	assert_int_equal(sample_spaces_life(b->kept, pid, other) -
				 sample_spaces_life(b->kept, pid, tick),
			 sample_spaces_life(b->whole, pid, other) -
				 sample_spaces_life(b->whole, pid, tick));
}

static void go_on(struct both *b, uint32_t round, bool forgets_ends)
{
	/* A round is asked for again; ends are known for two more. */
	uint64_t tick = round ? (round - 1) * ROUND_TICKS : 0;
	const struct sample_horizon to = {
		.tick = tick,
		.end_tick = forgets_ends && tick > 2 * ROUND_TICKS ? tick - 2 * ROUND_TICKS : 0,
	};
	uint32_t i;

	for (i = 0; i < ROWS; i++) {
		if (roll(3))
			add_mapping(b, round);
		else
			add_life(b, round);
		if (!roll(10))
			add_kernel(b);
	}
	assert_int_equal(sample_spaces_settle(b->kept), 0);
	assert_int_equal(sample_spaces_settle(b->whole), 0);
	assert_int_equal(sample_spaces_forget(b->kept, &to), 0);
	assert_false(sample_spaces_is_torn(b->kept));
	for (i = 0; round && i < ASKS; i++)
		compare_spaces(b, round, forgets_ends);
}

static void spaces(void **state)
{
	uint32_t i, round;

	(void)state;
	for (i = 0; i < SEEDS; i++) {
		struct both b = { .kept = NULL };

		seed = i;
		assert_int_equal(sample_spaces_new(&b.kept), 0);
		assert_int_equal(sample_spaces_new(&b.whole), 0);
		for (round = 0; round < ROUNDS; round++)
			go_on(&b, round, i % 2);
		assert_true(sample_spaces_rows(b.kept) < sample_spaces_rows(b.whole) * 3 / 4);
		assert_true(sample_spaces_bytes(b.kept) < sample_spaces_bytes(b.whole));
		sample_spaces_free(b.kept);
		sample_spaces_free(b.whole);
	}
}

/* A start that comes so late that its parent's mappings may be gone. */
static void too_late(void **state)
{
	const struct sample_horizon to = { .tick = 100 };
	struct sample_life_row row = { .pid = 5, .parent = 4, .tick = 100, .comm = "" };
	CLEANUP(sample_spaces) struct sample_spaces *s = NULL;

	(void)state;
	assert_int_equal(sample_spaces_new(&s), 0);
	assert_int_equal(sample_spaces_settle(s), 0);
	assert_int_equal(sample_spaces_forget(s, &to), 0);
	assert_int_equal(sample_spaces_add_life(s, &row), 0);
	assert_false(sample_spaces_is_torn(s));
	row.tick = 99;
	assert_int_equal(sample_spaces_add_life(s, &row), 0);
	assert_true(sample_spaces_is_torn(s));
}

/* --- page tables --- */

static size_t make_tables(uint8_t *bytes, uint32_t round)
{
	uint8_t *guest = meta_item_begin(bytes, META_GUEST);
	uint8_t *tables = meta_item_begin(sample_meta_put_guest(guest, VM), META_TABLES);
	uint8_t *p = tables;
	uint32_t i;

	for (i = 0; i < ROWS; i++) {
		char comm[8];
		struct sample_table_row row = { .pid = 1 + (int32_t)roll(PIDS),
						.tid = 1 + (int32_t)roll(PIDS),
						.tick = roll_tick(round),
						.is_end = !roll(3),
						.table = roll(10) * 0x2000,
						.task = roll(10) * 0x1000,
						.comm = comm };

		row.comm_len = (uint32_t)snprintf(comm, sizeof(comm), "g%u", roll(1000));
		p = sample_meta_put_table(p, &row);
	}
	return (size_t)(meta_item_end(guest, meta_item_end(tables, p)) - bytes);
}

static void compare_guests(const struct sample_guests *kept, const struct sample_guests *whole,
			   uint32_t round)
{
	const struct sample_event ev = { .tick = roll_tick(round - roll(2)),
					 .mode = roll(2) ? SAMPLE_GUEST_KERNEL : SAMPLE_GUEST_USER,
					 .guest = (uint8_t)(roll(8) * 2),
					 .guest_table = roll(10) * 0x2000,
					 .guest_context = 1 + roll(PIDS),
					 .guest_task = roll(10) * 0x1000 };
	struct sample_owner x, y;
	bool has = sample_guests_find(kept, VM, SAMPLE_EXITS_SVM, &ev, &x);

	assert_int_equal(has, sample_guests_find(whole, VM, SAMPLE_EXITS_SVM, &ev, &y));
	if (!has)
		return;
	assert_int_equal(x.pid, y.pid);
	assert_int_equal(x.tid, y.tid);
	assert_string_equal(x.comm, y.comm);
}

static void tables(void **state)
{
	static uint8_t bytes[65536];
	uint32_t i, k, round;

	(void)state;
	for (i = 0; i < SEEDS; i++) {
		CLEANUP(sample_guests) struct sample_guests *kept = NULL, *whole = NULL;

		seed = 1000 + i;
		assert_int_equal(sample_guests_new(&kept), 0);
		assert_int_equal(sample_guests_new(&whole), 0);
		for (round = 0; round < ROUNDS; round++) {
			size_t len = make_tables(bytes, round);
			uint64_t tick = round ? (round - 1) * ROUND_TICKS : 0;
			const struct sample_horizon to = { .tick = tick, .end_tick = tick };

			assert_int_equal(sample_guests_decode(kept, bytes, len), 0);
			assert_int_equal(sample_guests_decode(whole, bytes, len), 0);
			assert_int_equal(sample_guests_settle(kept), 0);
			assert_int_equal(sample_guests_settle(whole), 0);
			assert_int_equal(sample_guests_forget(kept, &to), 0);
			for (k = 0; round && k < ASKS; k++)
				compare_guests(kept, whole, round);
		}
		assert_true(sample_guests_rows(kept) < sample_guests_rows(whole) / 2);
		assert_true(sample_guests_bytes(kept) < sample_guests_bytes(whole));
	}
}

/* --- pace --- */

static void pace(void **state)
{
	struct sample_pace kept = { .n = 0 }, whole = { .n = 0 };
	uint64_t least[2], most[2], from, to;
	uint8_t bytes[256], *p, *body;
	uint32_t i;

	(void)state;
	for (i = 0; i < 200; i++) {
		const struct sample_pace_row row = { .tick = i * 100 + roll(50),
						     .what = (uint8_t)(i % 2),
						     .period = i };

		body = meta_item_begin(bytes, META_PACE);
		p = meta_item_end(body, sample_meta_put_pace(body, &row));
		assert_int_equal(sample_pace_decode(&kept, bytes, (size_t)(p - bytes)), 0);
		assert_int_equal(sample_pace_decode(&whole, bytes, (size_t)(p - bytes)), 0);
		sample_pace_settle(&kept);
		sample_pace_settle(&whole);
		sample_pace_forget(&kept, i * 100);
		from = i * 100 + roll(60);
		to = from + roll(60);
		assert_int_equal(sample_pace_paused(&kept, from, to),
				 sample_pace_paused(&whole, from, to));
		assert_int_equal(sample_pace_periods(&kept, from, to, &least[0], &most[0]),
				 sample_pace_periods(&whole, from, to, &least[1], &most[1]));
		assert_int_equal(least[0], least[1]);
		assert_int_equal(most[0], most[1]);
		assert_true(kept.n <= 3);
	}
	sample_pace_done(&kept);
	sample_pace_done(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spaces),
		cmocka_unit_test(too_late),
		cmocka_unit_test(tables),
		cmocka_unit_test(pace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
