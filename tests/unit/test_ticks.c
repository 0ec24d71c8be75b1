/* SPDX-License-Identifier: MIT */
/*
 * ticks and reclock: the counter behind the stamps is found for every frequency, survives a few odd
 * stamps, is not imagined where there is none, and not one nanosecond changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "convert/reclock.h"
#include "convert/ticks.h"
#include "sample.h"

#define N 20000

static uint64_t seed;

static uint64_t random64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static uint64_t stamps[N];

/* A counter of hz, scaled by the kernel, that has run for `ran` ticks since its last epoch, whose
 * own time is any ns. Gaps are up to 4096 ticks, now and then a long one. */
static void make_stamps(uint32_t hz, uint64_t epoch_ns, uint64_t ran)
{
	struct trace_clock c;
	size_t i;

	clock_init(&c);
	ticks_kernel_scale(hz, &c.mult, &c.shift);
	c.base_ns = epoch_ns;
	for (i = 0; i < N; i++) {
		ran += random64() >> (random64() % 64 ? 52 : 40);
		stamps[i] = clock_ns(&c, ran);
	}
}

/* Feeds, decides, and counts stamps that are off the grid of what was found. */
static bool decide(struct trace_clock *c, size_t n, size_t *ret_off)
{
	struct ticks *t = ticks_new();
	bool found;
	size_t i;

	assert_non_null(t);
	for (i = 0; i < n; i++)
		ticks_feed(t, stamps[i]);
	clock_init(c);
	found = ticks_decide(t, c);
	*ret_off = 0;
	for (i = 0; i < n; i++)
		*ret_off += clock_ns(c, clock_tick_near(c, stamps[i])) != stamps[i];
	ticks_free(t);
	return found;
}

static void test_kernel_scale(void **state)
{
	/* What kernels print at boot: "sched_clock: 56 bits at 24MHz, …, wraps every 4398046511097ns"
	 * is half of the time in which ticks times mult reach 2^64, so it depends on both. */
	static const struct {
		uint32_t hz;
		uint64_t wraps_ns;
	} boards[] = {
		{ 19200000, 4398046511078 }, { 24000000, 4398046511097 },
		{ 50000000, 4398046511100 }, { 54000000, 4398046511102 },
		{ 62500000, 4398046511096 },
	};
	uint32_t mult, shift;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(boards) / sizeof(boards[0]); i++) {
		ticks_kernel_scale(boards[i].hz, &mult, &shift);
		assert_true((UINT64_MAX / mult * mult) >> shift >> 1 == boards[i].wraps_ns);
	}
}

static void test_frequencies(void **state)
{
	static const uint32_t hz[] = {
		13000000, 19200000,  24000000, 26000000,  27000000, 33333333,
		38400000, 48000000,  52000000, 54000000,  66666667, 76800000,
		83333333, 192000000, 32768,    333333333, 25000000, 62500000
	};
	struct trace_clock c;
	uint32_t mult, shift;
	size_t i, off;

	(void)state;
	for (i = 0; i < sizeof(hz) / sizeof(hz[0]); i++) {
		make_stamps(hz[i], random64() >> 24, random64() >> 26);
		assert_true(decide(&c, N, &off));
		assert_int_equal(off, 0);
		ticks_kernel_scale(hz[i], &mult, &shift);
		/* A tick as long as the counter's: found by its scale, or as a divisor. */
		assert_true(((double)c.mult / (1ULL << c.shift)) /
				    ((double)mult / (1ULL << shift)) >
			    0.9999999);
		assert_true(c.base_ns < stamps[0]);
		assert_true(clock_tick_at(&c, stamps[0]) >= 1);
		assert_true(stamps[0] - c.base_ns < 2000000000);
	}
}

static void test_right_from_boot(void **state)
{
	struct trace_clock c;
	size_t off;

	(void)state;
	make_stamps(54000000, 0, 0);
	assert_true(decide(&c, N, &off));
	assert_int_equal(off, 0);
	assert_int_not_equal(c.shift, 0);
}

static void test_divisor(void **state)
{
	struct trace_clock c;
	size_t i, off;

	(void)state;
	for (i = 0, stamps[0] = 5000000000123ULL; i + 1 < N; i++)
		stamps[i + 1] = stamps[i] + 1000 * (random64() % 5000);
	assert_true(decide(&c, N, &off));
	assert_int_equal(off, 0);
	assert_int_equal(c.mult, 1000);
	assert_int_equal(c.shift, 0);
	assert_int_equal(c.base_ns % 1000, 123);
	assert_int_equal(clock_tick_near(&c, stamps[0]), 1);
}

static void test_odd_stamps(void **state)
{
	struct trace_clock c;
	size_t i, off, odd;

	(void)state;
	for (odd = 0; odd < 2; odd++) {
		make_stamps(odd ? 54000000 : 50000000, 123456789, 1ULL << 40);
		for (i = 0; i < N; i += 250) /* 0.4 %, the very first among them */
			stamps[i] += 3 + i % 5;
		assert_true(decide(&c, N, &off));
		assert_in_range(off, 1, N / 200);
		/* Three in a hundred are too many. */
		for (i = 33; i < N; i += 33)
			stamps[i] += 1 + random64() % 17;
		assert_false(decide(&c, N, &off));
		assert_int_equal(c.mult, 1);
		assert_int_equal(off, 0);
	}
}

static void test_none(void **state)
{
	struct trace_clock c;
	size_t i, off;

	(void)state;
	for (i = 0, stamps[0] = 77; i + 1 < N; i++)
		stamps[i + 1] = stamps[i] + random64() % 100000;
	assert_false(decide(&c, N, &off));
	assert_int_equal(c.mult, 1);
	assert_int_equal(c.base_ns, 0);
	assert_false(decide(&c, 0, &off));
	assert_false(decide(&c, 1, &off));
	for (i = 0; i < N; i++)
		stamps[i] = 4711;
	assert_false(decide(&c, N, &off));
}

/* What a time is must not change, whatever the stamps: backwards, zero, huge, off the grid. */
static void test_reclock(void **state)
{
	static struct trace_item items[N];
	struct trace_source *inner, *s;
	struct error e = ERROR_INIT;
	struct trace_clock c;
	struct trace_item item;
	size_t i;

	(void)state;
	make_stamps(19200000, 987654321, 1ULL << 38);
	stamps[500] = stamps[400] - 1000000;
	stamps[10] = stamps[0] - 5000000;
	stamps[20] += 1;
	memset(items, 0, sizeof(items));
	for (i = 0; i < N; i++) {
		items[i].event.tick = stamps[i] - 100;
		items[i].event.tick_off_ns = i == 30 ? 7 : 0;
		items[i].cpu = i & 1;
	}
	items[40].type = ITEM_LOSS;
	items[40].loss = (struct trace_loss){ items[39].event.tick, items[41].event.tick, 5, 0 };
	items[42].type = ITEM_LOSS;
	items[42].loss = (struct trace_loss){ 0, items[43].event.tick, 5, 0 };
	inner = array_source_new(items, N);
	inner->info.clock.base_ns = 100;
	assert_int_equal(ticks_find(inner, &c, &e), 1);
	assert_int_equal(reclock_source_new(&s, inner, &c, &e), 0);
	info_add_task(&inner->info, 5, 5, (const char[SCHED_COMM_LEN]){ "late" });
	inner->info.skipped = 9;
	for (i = 0; i < N; i++) {
		assert_int_equal(s->ops->next(s, &item, &e), 1);
		if (item.type == ITEM_LOSS)
			continue;
		assert_true(clock_event_ns(&s->info.clock, &item.event) ==
			    items[i].event.tick + 100 + (i == 30 ? 7 : 0));
		assert_true(item.event.tick >= 1);
		if (i != 20 && i != 30 && i != 10 && i != 500)
			assert_int_equal(item.event.tick_off_ns, 0);
		if (i == 41) /* the loss ends where this event is */
			assert_true(clock_ns(&c, item.event.tick) == stamps[41]);
	}
	assert_int_equal(s->ops->next(s, &item, &e), 0);
	assert_int_equal(s->info.n_tasks, 1);
	assert_int_equal(s->info.skipped, 9);

	assert_int_equal(s->ops->rewind(s, &e), 0);
	for (i = 0; i <= 42; i++)
		assert_int_equal(s->ops->next(s, &item, &e), 1);
	assert_int_equal(item.loss.from_tick, 0);
	assert_true(clock_ns(&c, item.loss.to_tick) == stamps[43]);

	assert_int_equal(s->ops->seek(s, clock_tick_at(&c, stamps[9000]), &e), 0);
	assert_int_equal(s->ops->next(s, &item, &e), 1);
	assert_true(clock_event_ns(&c, &item.event) == stamps[9000]);
	source_free(s);
}

static void test_pipe(void **state)
{
	struct trace_source *s = array_source_new(sample_items, SAMPLE_N);
	struct error e = ERROR_INIT;
	struct trace_clock c;

	(void)state;
	((struct array_source *)s)->pipe = true;
	assert_int_equal(ticks_find(s, &c, &e), -ESPIPE);
	assert_int_equal(((struct array_source *)s)->at, 0);
	/* What counts in ticks already is left alone. */
	s->info.clock.mult = 20;
	assert_int_equal(ticks_find(s, &c, &e), 0);
	assert_int_equal(c.mult, 20);
	assert_int_equal(((struct array_source *)s)->at, 0);
	source_free(s);
}

static int set_up(void **state)
{
	(void)state;
	seed = 88172645463325252ULL;
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_kernel_scale, set_up),
		cmocka_unit_test_setup(test_frequencies, set_up),
		cmocka_unit_test_setup(test_right_from_boot, set_up),
		cmocka_unit_test_setup(test_divisor, set_up),
		cmocka_unit_test_setup(test_odd_stamps, set_up),
		cmocka_unit_test_setup(test_none, set_up),
		cmocka_unit_test_setup(test_reclock, set_up),
		cmocka_unit_test_setup(test_pipe, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
