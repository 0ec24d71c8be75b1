/* SPDX-License-Identifier: MIT */
/* budget: a recorder whose samples cost something, on a clock that is made here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device/profile/budget.h"

#define MS 1000000ULL
#define TURN_NS (100 * MS)
#define WINDOW_TURNS (BUDGET_WINDOW_NS / TURN_NS)
#define CPUS 4U

/* What it costs, and the time. */
struct machine {
	struct budget budget;
	uint64_t now_ns, used_ns;
	uint64_t sample_ns, turn_ns; /* of CPU time, for each */
	uint32_t changes;
	uint64_t shortest_ns; /* period that was ever in force */
};

static void start(struct machine *m, uint32_t ppm, uint64_t period_ns, uint64_t sample_ns)
{
	*m = (struct machine){ .now_ns = 77 * MS,
			       .used_ns = 5000 * MS, /* before it began: of no interest */
			       .sample_ns = sample_ns,
			       .turn_ns = 20000,
			       .shortest_ns = UINT64_MAX };
	budget_init(&m->budget, ppm, period_ns);
	budget_begin(&m->budget, m->now_ns, m->used_ns);
}

/* What a turn used, in millionths of a CPU. */
static uint64_t go(struct machine *m)
{
	uint64_t used = CPUS * TURN_NS / m->budget.period_ns * m->sample_ns + m->turn_ns;

	m->now_ns += TURN_NS;
	m->used_ns += used;
	m->changes += budget_turn(&m->budget, m->now_ns, m->used_ns);
	if (m->budget.period_ns < m->shortest_ns)
		m->shortest_ns = m->budget.period_ns;
	return used * 1000000 / TURN_NS;
}

static uint64_t go_windows(struct machine *m, uint32_t windows)
{
	uint64_t last = 0, i;

	for (i = 0; i < windows * WINDOW_TURNS; i++)
		last = go(m);
	return last;
}

/* 4 CPUs, 1 ms, 10 us a sample: 4 %, of which half a percent is allowed. */
static void test_lowers(void **state)
{
	struct machine m;

	(void)state;
	start(&m, 5000, MS, 10000);
	assert_true(go_windows(&m, 1) > 5000);
	assert_true(go_windows(&m, 5) <= 5000);
	assert_true(m.budget.period_ns < 20 * MS);
	m.changes = 0;
	assert_true(go_windows(&m, 200) > 2500);
	assert_int_equal(m.changes, 0);
}

/* What costs little is sampled as often as was asked for, and no more often. */
static void test_raises(void **state)
{
	struct machine m;

	(void)state;
	start(&m, 5000, MS, 10000);
	go_windows(&m, 6);
	assert_true(m.budget.period_ns > 5 * MS);
	m.sample_ns = 500;
	go_windows(&m, 12);
	assert_int_equal(m.budget.period_ns, MS);
	m.changes = 0;
	go_windows(&m, 200);
	assert_int_equal(m.changes, 0);
	assert_int_equal(m.shortest_ns, MS);
}

static void test_is_quiet_below_the_limit(void **state)
{
	struct machine m;

	(void)state;
	start(&m, 5000, MS, 900);
	go_windows(&m, 100);
	assert_int_equal(m.changes, 0);
}

/* A load that comes and goes within a window or two does not let it swing: it is slow to raise. */
static void test_bursts(void **state)
{
	struct machine m;
	uint32_t i;

	(void)state;
	start(&m, 5000, MS, 10000);
	go_windows(&m, 6);
	m.changes = 0;
	for (i = 0; i < 50; i++) {
		m.sample_ns = i % 2 ? 10000 : 2000;
		go_windows(&m, 1);
	}
	assert_int_equal(m.changes, 0);
}

/* Where nothing helps, it ends at the longest period and stays there. */
static void test_beyond_reach(void **state)
{
	struct machine m;

	(void)state;
	start(&m, BUDGET_PPM_LEAST, MS, 10000);
	m.turn_ns = 1000000;
	go_windows(&m, 20);
	assert_int_equal(m.budget.period_ns, BUDGET_PERIOD_MOST_NS);
	m.changes = 0;
	go_windows(&m, 100);
	assert_int_equal(m.changes, 0);
	/* One that was asked for and is longer than that is not shortened. */
	start(&m, BUDGET_PPM_LEAST, 3000 * MS, 10000);
	m.turn_ns = 1000000;
	go_windows(&m, 20);
	assert_int_equal(m.budget.period_ns, 3000 * MS);
}

static void test_none(void **state)
{
	struct machine m;

	(void)state;
	start(&m, 0, MS, 1000000);
	go_windows(&m, 20);
	assert_int_equal(m.changes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lowers),
		cmocka_unit_test(test_raises),
		cmocka_unit_test(test_is_quiet_below_the_limit),
		cmocka_unit_test(test_bursts),
		cmocka_unit_test(test_beyond_reach),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests_name("budget", tests, NULL, NULL);
}
