/* SPDX-License-Identifier: MIT */
/* summary: counts per CPU, kind and cause, and a list of damage that does not grow for ever. */
#include "scenario.h"

#include "trace/summary.h"

static void test_items(void **state)
{
	struct trace_item item = { .type = ITEM_EVENT, .cpu = 2 };
	struct trace_summary s;
	struct trace_clock clock;
	struct error e = ERROR_INIT;
	uint64_t losses, lost, uncounted;

	(void)state;
	summary_init(&s);
	clock_init(&clock);
	item.event.tick = 500;
	item.event.kind = SCHED_EXIT;
	assert_int_equal(summary_add_item(&s, &clock, &item, &e), 0);
	item.event.tick = 400;
	assert_int_equal(summary_add_item(&s, &clock, &item, &e), 0);
	item.type = ITEM_LOSS;
	item.cpu = 0;
	item.loss.cause = LOSS_RING;
	item.loss.count = 7;
	assert_int_equal(summary_add_item(&s, &clock, &item, &e), 0);
	item.loss.count = LOSS_UNKNOWN;
	assert_int_equal(summary_add_item(&s, &clock, &item, &e), 0);
	item.cpu = 1;
	item.loss.cause = 200; /* of a future format */
	assert_int_equal(summary_add_item(&s, &clock, &item, &e), 0);
	assert_int_equal(s.n_streams, 3);
	assert_int_equal(s.events, 2);
	assert_int_equal(s.kinds[SCHED_EXIT], 2);
	assert_int_equal(s.first_ns, 400);
	assert_int_equal(s.last_ns, 500);
	assert_int_equal(s.streams[2].first_tick, 400);
	assert_int_equal(s.streams[0].events, 0);
	summary_lost(&s, LOSS_RING, &losses, &lost, &uncounted);
	assert_int_equal(losses, 2);
	assert_int_equal(lost, 7);
	assert_int_equal(uncounted, 1);
	summary_lost(&s, LOSS_STORE, &losses, NULL, NULL);
	assert_int_equal(losses, 1);
	assert_false(summary_is_damaged(&s)); /* a loss is no damage */
	item.cpu = TRACE_CPUS_MAX;
	assert_true(summary_add_item(&s, &clock, &item, &e) < 0);
	summary_done(&s);
}

static void test_damage(void **state)
{
	struct trace_summary s;
	uint64_t i;

	(void)state;
	summary_init(&s);
	for (i = 0; i < SUMMARY_DAMAGE_MAX + 5; i++)
		assert_int_equal(summary_add_damage(&s, i * 100, 3, "torn"), 0);
	assert_true(summary_is_damaged(&s));
	assert_int_equal(s.n_damage, SUMMARY_DAMAGE_MAX);
	assert_int_equal(s.damaged_places, SUMMARY_DAMAGE_MAX + 5);
	assert_int_equal(s.damaged_bytes, 3 * (SUMMARY_DAMAGE_MAX + 5));
	assert_int_equal(s.damage[7].offset, 700);
	assert_string_equal(s.damage[7].what, "torn");
	summary_done(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
