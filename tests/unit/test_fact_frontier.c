/* SPDX-License-Identifier: MIT */
/*
 * fact_frontier: which minutes wait, for blocks that come in any of the ways in which they do; and what is remembered of it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts/fact_frontier.h"
#include "facts/fact_set.h"

#define NS 1000000000ULL
#define OFF_S 1000040U /* real time where the clock of the run is 0: 20 s into a minute */
#define FIRST_S 999960U

/* A reader of blocks that a test wrote down. */
struct rows {
	struct block_reader reader;
	const struct block *blocks;
	size_t n;
};

static int next(struct block_reader *r, uint32_t stream, uint64_t *place, struct block *ret,
		uint64_t *ret_at)
{
	const struct rows *rows = (const struct rows *)r;

	for (; *place < rows->n; (*place)++) {
		if (rows->blocks[*place].stream != stream)
			continue;
		*ret_at = *place;
		*ret = rows->blocks[(*place)++];
		return 1;
	}
	return 0;
}

static bool find(struct block_reader *r, uint32_t from, uint32_t *ret)
{
	const struct rows *rows = (const struct rows *)r;
	bool found = false;
	size_t i;

	for (i = 0; i < rows->n; i++)
		if (rows->blocks[i].stream >= from && (!found || rows->blocks[i].stream < *ret)) {
			*ret = rows->blocks[i].stream;
			found = true;
		}
	return found;
}

static const struct block_reader_ops ops = { .next = next, .find = find };

static struct block at(uint32_t stream, uint64_t sequence, uint64_t from_s, uint64_t to_s)
{
	return (struct block){ .stream = stream,
			       .flags = BLOCK_KEY,
			       .sequence = sequence,
			       .first_tick = from_s * NS,
			       .ticks = (to_s - from_s) * NS,
			       .events = 1 };
}

static void look(struct fact_frontier *f, const struct block *blocks, size_t n)
{
	struct rows rows = { { &ops }, blocks, n };
	struct trace_clock clock;

	clock_init(&clock);
	f->has_off = true;
	f->off_ns = (int64_t)(OFF_S * NS);
	assert_int_equal(fact_frontier_look(f, &rows.reader, &clock), 0);
}

static void check_minutes(const struct fact_frontier *f, size_t n, const uint64_t *numbers)
{
	size_t i;

	assert_int_equal(f->n_minutes, n);
	for (i = 0; i < n; i++)
		assert_int_equal(f->minutes[i], FIRST_S + numbers[i] * FACT_MINUTE_S);
}

static void each_block_once(void **state)
{
	const struct block blocks[] = {
		at(STREAM_CPU(0), 0, 1, 5),	   at(STREAM_CPU(0), 1, 5, 70),
		at(STREAM_SAMPLE(3), 0, 2, 130),   at(STREAM_BOOT, 0, 1000, 2000),
		at(STREAM_FUNC(2), 0, 5000, 6000),
	};
	struct fact_frontier f = { 0 };

	(void)state;
	look(&f, blocks, 1);
	check_minutes(&f, 1, (const uint64_t[]){ 1 });
	look(&f, blocks, 5);
	check_minutes(&f, 3, (const uint64_t[]){ 1, 2, 3 });
	assert_int_equal(f.n_streams, 2);
	fact_frontier_settle(&f, FIRST_S + FACT_MINUTE_S);
	fact_frontier_settle(&f, FIRST_S + 2 * FACT_MINUTE_S);
	check_minutes(&f, 1, (const uint64_t[]){ 3 });
	/* Nothing is new. */
	look(&f, blocks, 5);
	check_minutes(&f, 1, (const uint64_t[]){ 3 });
	assert_int_equal(f.done_to_s, FIRST_S + 3 * FACT_MINUTE_S);
	fact_frontier_done(&f);
}

/* A CPU that lags behind makes a minute wait again. */
static void late_blocks(void **state)
{
	const struct block blocks[] = { at(STREAM_SAMPLE(0), 0, 1, 200),
					at(STREAM_SAMPLE(1), 0, 10, 20),
					at(STREAM_SAMPLE(1), 1, 20, 30) };
	struct fact_frontier f = { 0 };
	struct trace_clock clock;
	uint64_t least, most, i;

	(void)state;
	clock_init(&clock);
	look(&f, blocks, 2);
	assert_true(fact_frontier_span(&f, &clock, &least, &most));
	assert_int_equal(least, (OFF_S + 20) * NS);
	assert_int_equal(most, (OFF_S + 200) * NS);
	for (i = 0; i < 10; i++)
		fact_frontier_settle(&f, FIRST_S + i * FACT_MINUTE_S);
	check_minutes(&f, 0, NULL);
	look(&f, blocks, 3);
	check_minutes(&f, 1, (const uint64_t[]){ 1 });
	assert_int_equal(fact_frontier_from(&f), 30 * NS);
	fact_frontier_done(&f);
}

/* Blocks without an event make nothing wait; those behind a place where blocks are missing do. */
static void gaps(void **state)
{
	struct block blocks[] = { at(STREAM_CPU(0), 0, 1, 5), at(STREAM_CPU(0), 7, 100, 105),
				  at(STREAM_CPU(0), 8, 200, 201), at(STREAM_CPU(0), 9, 300, 301) };
	struct fact_frontier f = { 0 };

	(void)state;
	blocks[2].events = 0;
	blocks[3].events = 0;
	blocks[3].flags |= BLOCK_LOST;
	look(&f, blocks, 4);
	check_minutes(&f, 3, (const uint64_t[]){ 1, 3, 6 });
	fact_frontier_done(&f);
}

static void as_bytes(void **state)
{
	const struct block blocks[] = { at(STREAM_CPU(0), 5, 1, 5),
					at(STREAM_SAMPLE(9), 0, 2, 400) };
	struct fact_frontier f = { 0 }, g = { 0 };
	uint8_t *data = NULL;
	size_t len = 0, i;

	(void)state;
	look(&f, blocks, 2);
	f.bytes = 12345;
	f.is_ended = true;
	f.off_ns = -5;
	fact_frontier_settle(&f, FIRST_S + 2 * FACT_MINUTE_S);
	assert_int_equal(fact_frontier_encode(&f, &data, &len), 0);
	assert_int_equal(fact_frontier_decode(&g, data, len), 0);
	assert_int_equal(g.bytes, 12345);
	assert_true(g.is_ended && g.has_off);
	assert_int_equal(g.off_ns, -5);
	assert_int_equal(g.done_to_s, f.done_to_s);
	assert_int_equal(g.n_streams, 2);
	assert_memory_equal(g.streams, f.streams, 2 * sizeof(*f.streams));
	assert_int_equal(g.n_minutes, f.n_minutes);
	assert_memory_equal(g.minutes, f.minutes, f.n_minutes * sizeof(*f.minutes));
	/* Cut anywhere, it is nothing. */
	for (i = 0; i < len; i++) {
		assert_int_equal(fact_frontier_decode(&g, data, i), -EBADMSG);
		assert_int_equal(g.n_streams + g.n_minutes, 0);
	}
	data[0] = 9;
	assert_int_equal(fact_frontier_decode(&g, data, len), -EBADMSG);
	free(data);
	fact_frontier_done(&f);
	fact_frontier_done(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_block_once),
		cmocka_unit_test(late_blocks),
		cmocka_unit_test(gaps),
		cmocka_unit_test(as_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
