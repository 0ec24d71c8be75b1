/* SPDX-License-Identifier: MIT */
/* boot_clock: a trace of another clock finds its place in a boot, whenever the real time was set. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/boot_clock.h"
#include "analysis/boot_exact.h"
#include "tools/boot_story.h"
#include "tools/sched_story.h"

#define MS BOOT_STORY_MS
#define S (1000 * MS)
#define DAY (86400 * (int64_t)S)
#define REAL (1700000000 * (int64_t)S) /* the real time when the machine starts */
#define LACKS (250 * (int64_t)MS)      /* the trace's clock began so much later */

struct made {
	struct boot_story *samples;
	struct sched_story *events;
	struct boot *boot;
	struct trace_clock clock;
};

static int setup(void **state)
{
	static struct made m;

	m = (struct made){ .samples = boot_story_new(), .events = sched_story_new(1) };
	clock_init(&m.clock);
	strcpy(m.clock.name, "local");
	*state = &m;
	return 0;
}

static int teardown(void **state)
{
	struct made *m = *state;

	boot_free(m->boot);
	boot_story_free(m->samples);
	sched_story_free(m->events);
	return 0;
}

static void set_realtime(struct made *m, uint64_t ns, int64_t off_ns)
{
	struct boot_event ev = { .tick = ns, .kind = BOOT_MARK, .key = BOOT_MARK_CLOCK };

	ev.number[BOOT_MARK_TICK] = ns;
	ev.number[BOOT_MARK_VALUE] = (uint64_t)off_ns;
	ev.text = "set";
	ev.text_len = 3;
	boot_story_put(m->samples, &ev);
}

/* A boot from 1 s to 60 s, whose clock is set at 10 s and at 40 s. */
static const struct boot *make(struct made *m, int64_t first, int64_t second, int64_t third)
{
	CLEANUP(boot_source) struct boot_source *source = NULL;
	struct trace_clock *c = &boot_story_info(m->samples)->clock;
	struct error e = ERROR_INIT;

	c->has_realtime = true;
	c->realtime_off_ns = first;
	boot_story_pass(m->samples, 1 * S);
	boot_story_found(m->samples, 1 * S, 1, 0, 0);
	boot_story_task(m->samples, 1 * S, 1, 'S', 0);
	set_realtime(m, 10 * S, second);
	boot_story_pass(m->samples, 10 * S);
	set_realtime(m, 40 * S, third);
	boot_story_pass(m->samples, 60 * S);
	boot_story_open(m->samples, &source);
	assert_int_equal(boot_new(&m->boot, source, &e), 0);
	return m->boot;
}

/* A trace that began then, when the device's real time was so far from its CLOCK_MONOTONIC: it gets its place. */
static void check(struct made *m, uint64_t began_ns, int64_t real_ns)
{
	uint64_t add = 0;

	m->clock.has_realtime = true;
	m->clock.realtime_off_ns = real_ns + LACKS;
	assert_true(boot_clock_join(m->boot, &m->clock, began_ns - (uint64_t)LACKS, &add));
	assert_int_equal(add, LACKS);
}

/* As of a board without a battery: 1970, then the date, then a correction. */
static void test_forward(void **state)
{
	struct made *m = *state;

	make(m, 0, REAL, REAL + (int64_t)S / 2);
	assert_int_equal(m->boot->n_realtimes, 3);
	assert_int_equal(m->boot->realtime_ns, REAL + (int64_t)S / 2); /* as at the end */
	check(m, 1 * S, 0);
	check(m, 9900 * MS, 0);
	check(m, 9990 * MS, REAL); /* the recorder noticed it in the pass after */
	check(m, 10 * S, REAL);
	check(m, 39 * S, REAL);
	check(m, 41 * S, REAL + (int64_t)S / 2);
	check(m, 59 * S, REAL + (int64_t)S / 2);
}

static void test_back(void **state)
{
	struct made *m = *state;

	make(m, REAL + 3 * DAY, REAL, REAL - (int64_t)S / 2);
	check(m, 1 * S, REAL + 3 * DAY);
	check(m, 11 * S, REAL);
	check(m, 39 * S, REAL);
	check(m, 41 * S, REAL - (int64_t)S / 2);
	/* By less than the trace began before: another one would fit as well. */
	check(m, 39800 * MS, REAL);
}

/* A collector's real time is of no use with the device's own, and is not needed. */
static void test_measured(void **state)
{
	struct made *m = *state;
	struct trace_clock *c = &boot_story_info(m->samples)->clock;
	uint64_t add;

	c->has_realtime = true;
	c->realtime_off_ns = 5;
	clock_set_measured(c, REAL, 1000);
	clock_set_measured(c, REAL, 1000); /* a second one does not hide the device's own */
	assert_true(c->has_own && c->own_off_ns == 5);
	make(m, REAL, DAY, DAY);
	assert_int_equal(m->boot->realtime_ns, REAL);
	m->clock.has_realtime = true;
	m->clock.realtime_off_ns = DAY + LACKS;
	clock_set_measured(&m->clock, REAL + LACKS + 7, 1000);
	assert_true(boot_clock_join(m->boot, &m->clock, 20 * S, &add));
	assert_int_equal(add, LACKS);
	/* Only the collector knows. */
	m->clock.has_own = false;
	assert_true(boot_clock_join(m->boot, &m->clock, 20 * S, &add));
	assert_int_equal(add, LACKS + 7);
	m->boot->is_measured = false;
	assert_false(boot_clock_join(m->boot, &m->clock, 20 * S, &add));
	strcpy(m->clock.name, "mono");
	assert_true(boot_clock_join(m->boot, &m->clock, 20 * S, &add));
	assert_int_equal(add, 0);
}

/* From the first record to the exact chart: a process runs at 2 s, before the clock is set. */
static void test_exact(void **state)
{
	struct made *m = *state;
	struct trace_source *sched;
	struct error e = ERROR_INIT;
	const struct boot_process *p;
	uint32_t i;

	make(m, 0, REAL, REAL);
	sched_story_switch(m->events, 2 * S - (uint64_t)LACKS, 0, 0, 'R', 1);
	sched_story_fork(m->events, 3 * S - (uint64_t)LACKS, 0, 1, 7);
	sched_story_switch(m->events, 50 * S - (uint64_t)LACKS, 0, 1, 'S', 0);
	sched = sched_story_open(m->events);
	sched->info.clock = m->clock;
	sched->info.clock.has_realtime = true;
	sched->info.clock.realtime_off_ns = LACKS;
	assert_int_equal(boot_make_exact(m->boot, sched, &e), 0);
	i = boot_find(m->boot, 7, 4 * S);
	assert_true(i != BOOT_NONE);
	p = &m->boot->processes[i];
	assert_int_equal(p->from_ns, 3 * S);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = { T(test_forward), T(test_back), T(test_measured),
					    T(test_exact) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
