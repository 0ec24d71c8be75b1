/* SPDX-License-Identifier: MIT */
/* func_merge: sources of one counter keep their ticks; of several clocks they meet at the right time. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tools/func_items.h"
#include "trace/func_clock.h"
#include "trace/func_merge.h"

#define SECOND 1000000000ULL

/* A source of one thread whose events lie `step` ticks apart. */
static struct func_source *make(uint64_t first, uint64_t step, uint32_t n)
{
	struct func_items *s = func_items_new(1);
	uint32_t i;

	for (i = 0; i < n; i++)
		func_items_add_event(s, 0, i % 2, 0x1000, first + i * step);
	return &s->source;
}

static void set_counter(struct func_source *s, uint64_t hz, uint64_t tick, uint64_t mono_ns)
{
	assert_int_equal(func_source_add_sync(s, tick, mono_ns), 0);
	func_clock_settle(s, hz);
}

static struct func_source *merge(struct func_source **parts, size_t n, enum func_axis axis)
{
	struct func_source *s = NULL;
	struct error e = ERROR_INIT;

	if (func_merge_new(parts, n, axis, &s, &e) < 0)
		fail_msg("%s", e.text);
	return s;
}

static void test_same_counter(void **state)
{
	struct func_source *parts[3], *s;
	struct func_item item;
	uint64_t last = 0;
	uint32_t i, n[3] = { 0 };

	(void)state;
	for (i = 0; i < 3; i++) {
		parts[i] = make(1000 + i, 10 + i, 100);
		set_counter(parts[i], 2 * SECOND, 1000 + i * 4 * SECOND,
			    7 * SECOND + i * 2 * SECOND);
	}
	s = merge(parts, 3, FUNC_AXIS_MONOTONIC);
	assert_int_equal(s->n_processes, 3);
	assert_int_equal(s->threads[2].process, 2);
	assert_int_equal(s->n_syncs, 3);
	assert_true(clock_ns(&s->clock, 1000 + 2 * SECOND) == 8 * SECOND);
	while (s->ops->next(s, &item, NULL) == 1) {
		assert_true(item.event.tick >= last);
		assert_true((item.event.tick - 1000 - item.thread) % (10 + item.thread) == 0);
		last = item.event.tick;
		n[item.thread]++;
	}
	assert_true(n[0] == 100 && n[1] == 100 && n[2] == 100);
	assert_int_equal(s->ops->rewind(s, NULL), 0);
	assert_int_equal(s->ops->next(s, &item, NULL), 1);
	assert_true(item.event.tick == 1000);
	func_source_free(s);
}

/* One could read the counter, the other could not. */
static void test_mixed(void **state)
{
	struct func_source *parts[2], *s;
	struct func_item item;
	struct func_items *lossy;
	uint64_t i;

	(void)state;
	parts[0] = make(0, 25000000, 10); /* a second apart, from 100 s on */
	set_counter(parts[0], 25000000, 0, 100 * SECOND);
	parts[1] = make(100 * SECOND + SECOND / 2, SECOND, 10);
	lossy = (struct func_items *)parts[1];
	item = (struct func_item){ .type = FUNC_ITEM_LOSS };
	item.loss = (struct trace_loss){ .from_tick = 109 * SECOND + SECOND / 2,
					 .to_tick = 109 * SECOND + SECOND / 2,
					 .count = 5,
					 .cause = LOSS_BUFFER };
	func_items_add(lossy, &item);
	s = merge(parts, 2, FUNC_AXIS_MONOTONIC);
	assert_int_equal(s->clock.mult, 1);
	assert_string_equal(s->clock.name, "mono");
	assert_int_equal(s->n_syncs, 0);
	for (i = 0; i < 20; i++) {
		assert_int_equal(s->ops->next(s, &item, NULL), 1);
		assert_int_equal(item.thread, i % 2);
		assert_true(item.event.tick == 100 * SECOND + i * SECOND / 2);
	}
	assert_int_equal(s->ops->next(s, &item, NULL), 1);
	assert_int_equal(item.type, FUNC_ITEM_LOSS);
	assert_true(item.loss.from_tick == 109 * SECOND + SECOND / 2);
	assert_int_equal(s->ops->next(s, &item, NULL), 0);
	func_source_free(s);
}

/* Two machines: their real times are what they have in common. */
static void test_machines(void **state)
{
	struct func_source *parts[2], *s;
	struct func_item item;
	uint64_t i;

	(void)state;
	for (i = 0; i < 2; i++) {
		parts[i] = make(0, SECOND, 5);
		parts[i]->clock.has_realtime = true;
		parts[i]->clock.realtime_off_ns = (int64_t)(1000 * SECOND + i * SECOND / 4);
	}
	s = merge(parts, 2, FUNC_AXIS_REALTIME);
	assert_string_equal(s->clock.name, "realtime");
	assert_true(s->clock.has_realtime && s->clock.realtime_off_ns == 0);
	for (i = 0; i < 10; i++) {
		assert_int_equal(s->ops->next(s, &item, NULL), 1);
		assert_int_equal(item.thread, i % 2);
		assert_true(item.event.tick == 1000 * SECOND + i / 2 * SECOND + i % 2 * SECOND / 4);
	}
	func_source_free(s);
}

/* A kernel's trace with a clock of its own, beside a process. */
static void test_other_clock(void **state)
{
	struct func_source *parts[2], *s;
	struct func_item item;

	(void)state;
	parts[0] = make(10 * SECOND, SECOND, 2);
	parts[1] = make(3 * SECOND + 5, SECOND, 2);
	strcpy(parts[1]->clock.name, "local");
	parts[0]->clock.has_realtime = parts[1]->clock.has_realtime = true;
	parts[0]->clock.realtime_off_ns = (int64_t)(500 * SECOND);
	parts[1]->clock.realtime_off_ns = (int64_t)(507 * SECOND);
	parts[1]->clock.base_ns = 1; /* else it would be the same clock */
	s = merge(parts, 2, FUNC_AXIS_MONOTONIC);
	assert_int_equal(s->ops->next(s, &item, NULL), 1);
	assert_true(item.thread == 0 && item.event.tick == 10 * SECOND);
	assert_int_equal(s->ops->next(s, &item, NULL), 1);
	assert_true(item.thread == 1 && item.event.tick == 10 * SECOND + 6);
	func_source_free(s);
	assert_int_equal(func_merge_new(NULL, 0, FUNC_AXIS_MONOTONIC, &s, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_counter),
		cmocka_unit_test(test_mixed),
		cmocka_unit_test(test_machines),
		cmocka_unit_test(test_other_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
