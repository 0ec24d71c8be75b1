/* SPDX-License-Identifier: MIT */
/* latency: waits, percentiles and cases of hand-made traces. */
#include "scenario.h"

#include "analysis/latency.h"

static int add(void *report, const struct trace_item *item, struct error *e)
{
	return latency_add(report, item, e);
}

static struct latency *begin(struct scenario *s, uint32_t n_cases)
{
	struct latency *l = NULL;

	scenario_init(s, 1);
	assert_int_equal(latency_new(&l, &s->info, n_cases), 0);
	s->report = l;
	s->add = add;
	return l;
}

static void finish(struct latency *l)
{
	struct error e = ERROR_INIT;

	assert_int_equal(latency_finish(l, &e), 0);
}

static void end(struct scenario *s, struct latency *l)
{
	latency_free(l);
	info_done(&s->info);
}

/* a wakes d at 1000 and runs to 1300; then b to 1400, a to 1450, b to 1500, idle to 1550; d. */
static void test_case(void **state)
{
	struct scenario s;
	struct latency *l = begin(&s, 10);
	const struct latency_case *c;
	size_t n;

	(void)state;
	switches(&s, 900, 0, 40, SLEEPING, 10);
	wakes(&s, 1000, 0, 10, SCHED_WAKING, 40, 3);
	switches(&s, 1300, 0, 10, RUNNABLE, 20);
	switches(&s, 1400, 0, 20, RUNNABLE, 10);
	switches(&s, 1450, 0, 10, SLEEPING, 20);
	switches(&s, 1500, 0, 20, SLEEPING, 0);
	switches(&s, 1550, 0, 0, RUNNABLE, 40);
	finish(l);
	c = latency_get_cases(l, &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->pid, 40);
	assert_int_equal(c->cpu, 0);
	assert_int_equal(c->target_cpu, 3);
	assert_int_equal(c->from_ns, 1000);
	assert_int_equal(c->to_ns, 1550);
	assert_int_equal(c->waker_pid, 10);
	assert_string_equal(c->waker_comm, "a");
	assert_int_equal(c->waker_cpu, 0);
	assert_int_equal(c->n_blockers, 2);
	assert_int_equal(c->blockers[0].pid, 10);
	assert_int_equal(c->blockers[0].ns, 350);
	assert_int_equal(c->blockers[0].from_ns, 1000);
	assert_int_equal(c->blockers[0].to_ns, 1450);
	assert_int_equal(c->blockers[1].pid, 20);
	assert_int_equal(c->blockers[1].ns, 150);
	assert_int_equal(c->idle_ns, 50);
	assert_int_equal(c->others_ns + c->unknown_ns, 0);
	/* The preempted: a for 100 (1300-1400), b for 50 (1400-1450). */
	assert_int_equal(latency_get_all(l, WAIT_PREEMPTED)->known.count, 2);
	assert_int_equal(latency_get_all(l, WAIT_PREEMPTED)->known.sum, 150);
	end(&s, l);
}

/* Waits of d only: those of the others are not counted, but they still are who ran instead. */
static void test_select(void **state)
{
	struct trace_filter only;
	struct scenario s;
	struct latency *l = begin(&s, 10);
	const struct latency_case *c;
	size_t n;

	(void)state;
	filter_init(&only);
	assert_int_equal(filter_add_comm(&only, "d", 1), 0);
	latency_select(l, &only);
	switches(&s, 900, 0, 40, SLEEPING, 10);
	wakes(&s, 1000, 0, 10, SCHED_WAKING, 40, 0);
	wakes(&s, 1010, 0, 10, SCHED_WAKING, 20, 0);
	switches(&s, 1300, 0, 10, RUNNABLE, 20);
	switches(&s, 1400, 0, 20, SLEEPING, 40);
	switches(&s, 1450, 0, 40, SLEEPING, 10);
	finish(l);
	assert_int_equal(latency_get_all(l, WAIT_WAKEUP)->known.count, 1);
	assert_int_equal(latency_get_all(l, WAIT_WAKEUP)->known.sum, 400);
	assert_int_equal(latency_get_all(l, WAIT_PREEMPTED)->ends[WAIT_RAN], 0);
	assert_int_equal(latency_get_tasks(l, &n)->pid, 40);
	assert_int_equal(n, 1);
	c = latency_get_cases(l, &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->n_blockers, 2);
	assert_int_equal(c->blockers[0].pid, 10);
	end(&s, l);
	filter_done(&only);
}

/* Ten tasks take turns while k waits: eight are named, the rest is summed up. */
static void test_many_blockers(void **state)
{
	struct scenario s;
	struct latency *l = begin(&s, 10);
	const struct latency_case *c;
	int32_t i;
	size_t n;

	(void)state;
	wakes(&s, 1000, 0, 10, SCHED_WAKING, 200, 0);
	for (i = 1; i < 10; i++)
		switches(&s, 1000 + 10 * (uint64_t)i, 0, 10 * i, SLEEPING, 10 * (i + 1));
	switches(&s, 1100, 0, 100, SLEEPING, 200);
	finish(l);
	c = latency_get_cases(l, &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->n_blockers, LATENCY_BLOCKERS);
	assert_int_equal(c->others_ns, 20);
	end(&s, l);
}

/* The longest blockers are named, not the latest: the last two ran for the shortest time. */
static void test_longest_blockers(void **state)
{
	struct scenario s;
	struct latency *l = begin(&s, 10);
	const struct latency_case *c;
	uint64_t at = 1000;
	uint32_t k;
	int32_t i;
	size_t n;

	(void)state;
	wakes(&s, at, 0, 10, SCHED_WAKING, 200, 0);
	for (i = 1; i <= 10; i++) {
		at += 21 - 2 * (uint64_t)i;
		switches(&s, at, 0, 10 * i, SLEEPING, i < 10 ? 10 * (i + 1) : 200);
	}
	finish(l);
	c = latency_get_cases(l, &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->n_blockers, LATENCY_BLOCKERS);
	for (k = 0; k < LATENCY_BLOCKERS; k++) {
		assert_int_equal(c->blockers[k].pid, 10 * (k + 1));
		assert_int_equal(c->blockers[k].ns, 19 - 2 * k);
	}
	assert_int_equal(c->others_ns, 3 + 1);
	end(&s, l);
}

/* More switches than the history holds: what lies further back is unknown, not invented. */
static void test_long_ago(void **state)
{
	struct scenario s;
	struct latency *l = begin(&s, 1);
	const struct latency_case *c;
	uint64_t i;
	size_t n;

	(void)state;
	wakes(&s, 0, 0, 10, SCHED_WAKING, 200, 0);
	for (i = 1; i < 2 * LATENCY_HISTORY; i++)
		switches(&s, i * 10, 0, i % 2 ? 10 : 20, SLEEPING, i % 2 ? 20 : 10);
	switches(&s, i * 10, 0, 20, SLEEPING, 200);
	finish(l);
	c = latency_get_cases(l, &n);
	assert_int_equal(n, 1);
	assert_int_equal(c->unknown_ns, LATENCY_HISTORY * 10);
	assert_int_equal(c->blockers[0].ns, LATENCY_HISTORY * 5);
	assert_int_equal(c->blockers[1].ns, LATENCY_HISTORY * 5);
	end(&s, l);
}

/* Waits of 1 … 1000 ns in a scrambled order: only the longest three are kept, longest first. */
static void test_worst_and_percentiles(void **state)
{
	struct scenario s;
	struct latency *l = begin(&s, 3);
	const struct latency_waits *w;
	const struct latency_case *c;
	uint64_t i, wait, ns = 10000;
	size_t n;

	(void)state;
	switches(&s, ns, 0, 10, SLEEPING, 20);
	for (i = 0; i < 1000; i++) {
		wait = i * 389 % 1000 + 1; /* 389 and 1000 have no common divisor */
		wakes(&s, ns, 0, 20, SCHED_WAKING, 10, 0);
		switches(&s, ns + wait, 0, 20, RUNNABLE, 10);
		switches(&s, ns + wait + 5, 0, 10, SLEEPING, 20);
		ns += 5000;
	}
	finish(l);
	c = latency_get_cases(l, &n);
	assert_int_equal(n, 3);
	assert_int_equal(c[0].to_ns - c[0].from_ns, 1000);
	assert_int_equal(c[1].to_ns - c[1].from_ns, 999);
	assert_int_equal(c[2].to_ns - c[2].from_ns, 998);
	w = latency_get_all(l, WAIT_WAKEUP);
	assert_int_equal(w->known.count, 1000);
	assert_int_equal(w->known.sum, 500500);
	assert_int_equal(w->known.min, 1);
	assert_int_equal(w->known.max, 1000);
	assert_in_range(histogram_permille(&w->known, 500), 495, 505);
	assert_in_range(histogram_permille(&w->known, 900), 891, 909);
	assert_in_range(histogram_permille(&w->known, 990), 980, 1000);
	assert_int_equal(histogram_permille(&w->known, 1000), 1000);
	assert_int_equal(histogram_power(&w->known, 0), 1);
	assert_int_equal(histogram_power(&w->known, 5), 32);
	assert_int_equal(histogram_power(&w->known, 9), 1000 - 511);
	assert_int_equal(latency_average(w), 500);
	end(&s, l);
}

/* One of each end; see tracker.h. */
static void test_ends(void **state)
{
	struct scenario s;
	struct latency *l = begin(&s, 5);
	const struct latency_waits *w;
	size_t n;

	(void)state;
	switches(&s, 100, 0, 10, SLEEPING, 20);
	wakes(&s, 200, 0, 20, SCHED_WAKING, 10, 0);
	switches(&s, 300, 0, 20, SLEEPING, 10); /* ran */
	switches(&s, 400, 0, 10, SLEEPING, 20); /* unseen: b slept and nobody woke it */
	wakes(&s, 450, 0, 20, SCHED_WAKING, 30, 0);
	switches(&s, 500, 0, 30, SLEEPING, 0); /* inferred: b did not hand over to c */
	wakes(&s, 600, 0, 0, SCHED_WAKEUP_NEW, 40, 0);
	loses(&s, 0, 600, 700, 1);
	switches(&s, 700, 0, 0, RUNNABLE, 40);	    /* unknown */
	wakes(&s, 800, 0, 40, SCHED_WAKEUP, 10, 0); /* never */
	finish(l);
	w = latency_get_all(l, WAIT_WAKEUP);
	assert_int_equal(w->ends[WAIT_RAN], 1);
	assert_int_equal(w->ends[WAIT_UNSEEN], 1);
	assert_int_equal(w->ends[WAIT_INFERRED], 1);
	assert_int_equal(w->ends[WAIT_UNKNOWN], 1);
	assert_int_equal(w->ends[WAIT_NEVER], 1);
	assert_int_equal(w->known.count, 1);
	latency_get_cases(l, &n);
	assert_int_equal(n, 1);
	end(&s, l);
}

static void test_order(void **state)
{
	struct scenario s;
	struct latency *l = begin(&s, 0);
	const struct latency_task *t;
	size_t n;

	(void)state;
	switches(&s, 0, 0, 10, SLEEPING, 20);
	wakes(&s, 100, 0, 20, SCHED_WAKING, 10, 0);
	wakes(&s, 100, 0, 20, SCHED_WAKING, 30, 0);
	switches(&s, 150, 0, 20, SLEEPING, 10); /* a 50 */
	switches(&s, 200, 0, 10, SLEEPING, 30); /* c 100 */
	wakes(&s, 300, 0, 30, SCHED_WAKING, 10, 0);
	switches(&s, 370, 0, 30, SLEEPING, 10); /* a 70 */
	finish(l);
	t = latency_get_tasks(l, &n);
	assert_int_equal(n, 3);
	assert_int_equal(t[0].pid, 30);
	latency_sort(l, LATENCY_BY_COUNT);
	assert_int_equal(t[0].pid, 10);
	latency_sort(l, LATENCY_BY_TOTAL);
	assert_int_equal(t[0].waits[WAIT_WAKEUP].known.sum, 120);
	latency_sort(l, LATENCY_BY_AVERAGE);
	assert_int_equal(t[0].pid, 30);
	latency_sort(l, LATENCY_BY_PID);
	assert_int_equal(t[1].pid, 20);
	latency_get_cases(l, &n);
	assert_int_equal(n, 0);
	end(&s, l);
}

#define DEAD 0x20 /* Z */

/* d waits while one task of pid 20 dies, and the next one is born and runs: they are two, and the next
 * one's waits are its own. The waker of the second wait is the second, too. */
static void test_lives(void **state)
{
	struct scenario s;
	struct latency *l = begin(&s, 10);
	const struct latency_case *c;
	const struct latency_task *t;
	size_t n;

	(void)state;
	switches(&s, 900, 0, 40, SLEEPING, 20);
	wakes(&s, 1000, 0, 20, SCHED_WAKING, 40, 0);
	switches(&s, 1300, 0, 20, DEAD, 30);
	forks(&s, 1350, 0, 30, 20);
	wakes(&s, 1360, 0, 30, SCHED_WAKEUP_NEW, 20, 0);
	switches(&s, 1400, 0, 30, SLEEPING, 20); /* waited 40 */
	switches(&s, 1500, 0, 20, RUNNABLE, 40); /* waited 500 */
	wakes(&s, 1600, 0, 40, SCHED_WAKING, 30, 0);
	switches(&s, 1610, 0, 40, SLEEPING, 30);
	finish(l);
	c = latency_get_cases(l, &n);
	assert_int_equal(n, 3);
	assert_int_equal(c[0].to_ns - c[0].from_ns, 500);
	assert_int_equal(c[0].waker_pid, 20);
	assert_int_equal(c[0].waker_born_ns, 900);
	assert_int_equal(c[0].n_blockers, 3);
	assert_int_equal(c[0].blockers[0].pid, 20);
	assert_int_equal(c[0].blockers[0].ns, 300);
	assert_int_equal(c[0].blockers[0].born_ns, 900);
	assert_int_equal(c[0].blockers[1].ns + c[0].blockers[2].ns, 200);
	assert_int_equal(c[0].blockers[1].born_ns + c[0].blockers[2].born_ns, 1300 + 1350);
	latency_sort(l, LATENCY_BY_PID);
	t = latency_get_tasks(l, &n);
	assert_int_equal(n, 4);
	assert_int_equal(t[0].pid, 20);
	assert_int_equal(t[0].waits[WAIT_WAKEUP].known.count, 0);
	assert_int_equal(t[0].ended_ns, 1300);
	assert_int_equal(t[1].pid, 20);
	assert_int_equal(t[1].born_ns, 1350);
	assert_int_equal(t[1].waits[WAIT_WAKEUP].known.sum, 40);
	end(&s, l);
}

/* More lives than are kept: the longest waits stay in the list, all of them in the sums and cases. */
static void test_folded(void **state)
{
	struct scenario s;
	struct latency *l = begin(&s, 4);
	const struct latency_case *c;
	const struct latency_task *t;
	uint64_t ns = 1000, k;
	size_t n;

	(void)state;
	latency_allow(l, 16);
	for (k = 0; k < 400; k++, ns += 10000) {
		forks(&s, ns, 0, 10, 50);
		wakes(&s, ns + 10, 0, 10, SCHED_WAKEUP_NEW, 50, 0);
		switches(&s, ns + 20 + k * 7 % 400, 0, 10, SLEEPING, 50);
		switches(&s, ns + 9000, 0, 50, DEAD, 10);
	}
	finish(l);
	assert_int_equal(latency_get_all(l, WAIT_WAKEUP)->known.count, 400);
	t = latency_get_tasks(l, &n);
	assert_int_equal(n + latency_get_folded(l), 401);
	assert_in_range(n, 2, 16);
	assert_int_equal(t[0].waits[WAIT_WAKEUP].known.max, 409);
	c = latency_get_cases(l, &n);
	assert_int_equal(n, 4);
	assert_int_equal(c[0].to_ns - c[0].from_ns, 409);
	assert_int_equal(c[0].blockers[0].pid, 10);
	assert_int_equal(c[0].blockers[0].ns, 409);
	end(&s, l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_case),
		cmocka_unit_test(test_many_blockers),
		cmocka_unit_test(test_longest_blockers),
		cmocka_unit_test(test_long_ago),
		cmocka_unit_test(test_worst_and_percentiles),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_lives),
		cmocka_unit_test(test_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
