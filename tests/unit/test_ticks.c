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

static uint64_t stamps[N], bound_ns = UINT64_MAX;

/* A counter of hz, scaled by the kernel, that has run for `ran` ticks since its last epoch, whose
 * own time is any ns. Gaps are up to 4096 ticks, now and then a long one. */
static void make_some(size_t n, uint32_t hz, uint64_t epoch_ns, uint64_t ran)
{
	struct trace_clock c;
	size_t i;

	clock_init(&c);
	ticks_kernel_scale(hz, &c.mult, &c.shift);
	c.base_ns = epoch_ns;
	for (i = 0; i < n; i++) {
		ran += random64() >> (random64() % 64 ? 52 : 40);
		stamps[i] = clock_ns(&c, ran);
	}
}

static void make_stamps(uint32_t hz, uint64_t epoch_ns, uint64_t ran)
{
	make_some(N, hz, epoch_ns, ran);
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
	ticks_feed_bound(t, bound_ns);
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

/* A counter whose epoch is not a time: it began before zero, and no whole ns from there on will do. */
static void test_before_zero(void **state)
{
	struct trace_clock c;
	size_t i, off;

	(void)state;
	make_stamps(19200000, 0, 1ULL << 38);
	for (i = N; i--;)
		stamps[i] -= stamps[0] - 100;
	assert_false(decide(&c, N, &off));
	assert_int_equal(c.mult, 1);
	assert_int_equal(off, 0);
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

/* Feeds stamps of a counter without end, every so many of them off its grid, from `from` on. */
static bool decide_long(uint32_t hz, size_t n, size_t from, size_t odd_every)
{
	struct trace_clock c, found;
	struct ticks *t = ticks_new();
	uint64_t ran = 1ULL << 38;
	bool ret;
	size_t i;

	assert_non_null(t);
	clock_init(&c);
	clock_init(&found);
	ticks_kernel_scale(hz, &c.mult, &c.shift);
	for (i = 0; i < n; i++) {
		ran += 1 + random64() % 4096;
		ticks_feed(t, clock_ns(&c, ran) +
				      (i >= from && i % odd_every == 0 ? 5 + random64() % 7 : 0));
	}
	ret = ticks_decide(t, &found);
	if (ret)
		assert_true(found.mult >> found.shift == c.mult >> c.shift);
	ticks_free(t);
	return ret;
}

/* Many odd stamps are few among more; a counter that goes away is not one. */
static void test_long(void **state)
{
	static const uint32_t hz[] = { 50000000, 54000000 };
	size_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		assert_true(decide_long(hz[i], 460000, 0, 220));
		assert_false(decide_long(hz[i], 10000, 4000, 2));
	}
}

/* A few stamps of a fast counter leave much open, also around the circle's end: any base that is found must do for all of them. */
static void test_few(void **state)
{
	static const uint32_t hz[] = { 333333333, 192000000, 76800000 };
	size_t i, n, off, found = 0;
	struct trace_clock c;

	(void)state;
	for (i = 1; i < 3000; i++) {
		n = 32 + i % 16;
		make_some(n, hz[i % 3], random64() >> 24, random64() >> 26);
		bound_ns = stamps[0] - i; /* a loss before them that is on no grid */
		found += decide(&c, n, &off);
		assert_int_equal(off, 0);
	}
	assert_true(found > 2500);
	bound_ns = UINT64_MAX;
}

/* Stamps from the end of time on backwards, and a loss at its start: no base lies before all of them. */
static void test_ends_of_time(void **state)
{
	uint64_t lasts[] = { UINT64_MAX, UINT64_MAX - 1000 }, off_ns;
	struct trace_clock c;
	struct ticks *t;
	size_t i, k;

	(void)state;
	make_stamps(54000000, 1000, 1ULL << 38);
	for (k = 0; k < 2; k++) {
		off_ns = lasts[k] - stamps[N - 1];
		t = ticks_new();
		assert_non_null(t);
		ticks_feed_bound(t, 0);
		for (i = N; i--;)
			ticks_feed(t, stamps[i] + off_ns);
		clock_init(&c);
		if (ticks_decide(t, &c))
			assert_true(clock_ns(&c, clock_tick_near(&c, lasts[k])) == lasts[k]);
		else
			assert_true(c.mult == 1 && c.base_ns == 0);
		ticks_free(t);
	}
}

/* A base of 2^63 and above means a time before zero: those of stamps that are later lie below it. */
static void test_late(void **state)
{
	struct trace_clock c;
	uint64_t off_ns;
	size_t i, off, scaled;

	(void)state;
	for (scaled = 0; scaled < 2; scaled++) {
		make_stamps(scaled ? 54000000 : 50000000, 1000, 1ULL << 38);
		off_ns = 0xc000000000000000ULL;
		for (i = 0; i < N; i++)
			stamps[i] += off_ns;
		assert_true(decide(&c, N, &off));
		assert_int_equal(off, 0);
		assert_true(c.base_ns <= INT64_MAX);
		assert_int_equal(c.shift != 0, scaled);
	}
}

/* What is wrong with a divisor: larger than a clock can have, and a rest that the first stamps are below. */
static void test_divisor_ends(void **state)
{
	struct trace_clock c;
	size_t i, off;

	(void)state;
	for (i = 0; i < N; i++)
		stamps[i] = i * 4294967311U;
	assert_false(decide(&c, N, &off));
	assert_int_equal(c.mult, 1);
	for (i = 0; i < N; i++)
		stamps[i] = 123 + 1000 * (i + random64() % 3);
	stamps[0] = 123;
	stamps[300] = 5;
	assert_true(decide(&c, N, &off));
	assert_int_equal(c.mult, 1000);
	assert_int_equal(c.base_ns, 123);
	assert_int_equal(off, 1);
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
	items[44].type = ITEM_LOSS;
	items[44].loss = (struct trace_loss){ 0, 0, 5, 0 };
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
	s->info.clock.mult = 1;
	s->info.clock.shift = 3;
	assert_int_equal(ticks_find(s, &c, &e), 0);
	assert_int_equal(c.shift, 3);
	assert_int_equal(((struct array_source *)s)->at, 0);
	source_free(s);
}

/* A source that breaks while it is read, or that cannot go back afterwards. */
static void test_breaks(void **state)
{
	struct trace_source *s = array_source_new(sample_items, SAMPLE_N);
	struct array_source *a = (struct array_source *)s;
	struct error e = ERROR_INIT;
	struct trace_clock c;

	(void)state;
	a->breaks = SAMPLE_N / 2;
	assert_int_equal(ticks_find(s, &c, &e), -EBADMSG);
	assert_int_equal(a->at, SAMPLE_N / 2);
	a->breaks = 0;
	a->rewinds_left = 1;
	assert_int_equal(ticks_find(s, &c, &e), -ESPIPE);
	assert_int_equal(a->at, SAMPLE_N);
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
		cmocka_unit_test_setup(test_before_zero, set_up),
		cmocka_unit_test_setup(test_divisor, set_up),
		cmocka_unit_test_setup(test_odd_stamps, set_up),
		cmocka_unit_test_setup(test_none, set_up),
		cmocka_unit_test_setup(test_reclock, set_up),
		cmocka_unit_test_setup(test_pipe, set_up),
		cmocka_unit_test_setup(test_breaks, set_up),
		cmocka_unit_test_setup(test_long, set_up),
		cmocka_unit_test_setup(test_few, set_up),
		cmocka_unit_test_setup(test_ends_of_time, set_up),
		cmocka_unit_test_setup(test_divisor_ends, set_up),
		cmocka_unit_test_setup(test_late, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
