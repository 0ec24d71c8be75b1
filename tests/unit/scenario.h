/* SPDX-License-Identifier: MIT */
/*
 * scenario: traces written by hand, one call per item, for the tests of the reports.
 *
 * Ticks are nanoseconds. `add` is the function under test; every call of it must succeed.
 */
#ifndef KISEKI_TESTS_SCENARIO_H
#define KISEKI_TESTS_SCENARIO_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/source.h"

#define RUNNABLE 0
#define PREEMPTED 0x100
#define SLEEPING 1

struct scenario {
	struct trace_info info;
	void *report;
	int (*add)(void *report, const struct trace_item *item, struct error *e);
};

static inline void scenario_init(struct scenario *s, uint32_t cpus)
{
	memset(s, 0, sizeof(*s));
	assert_int_equal(info_init(&s->info), 0);
	s->info.cpus = cpus;
}

static inline void scenario_push(struct scenario *s, const struct trace_item *item)
{
	struct error e = ERROR_INIT;

	assert_int_equal(s->add(s->report, item, &e), 0);
}

static inline void name_task(struct sched_task *t, int32_t pid)
{
	t->pid = pid;
	t->prio = 120;
	t->comm[0] = pid ? (char)('a' + pid / 10 - 1) : '-'; /* 10 is a, 20 is b, … */
}

static inline void switches(struct scenario *s, uint64_t ns, uint32_t cpu, int32_t prev,
			    uint64_t state, int32_t next)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = cpu };

	i.event.kind = SCHED_SWITCH;
	i.event.tick = ns;
	i.event.pid = prev;
	i.event.state = state;
	name_task(&i.event.task, prev);
	name_task(&i.event.other, next);
	scenario_push(s, &i);
}

static inline void wakes(struct scenario *s, uint64_t ns, uint32_t cpu, int32_t waker,
			 enum sched_kind kind, int32_t pid, int32_t target)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = cpu };

	i.event.kind = (uint8_t)kind;
	i.event.tick = ns;
	i.event.pid = waker;
	i.event.value = target;
	name_task(&i.event.task, pid);
	scenario_push(s, &i);
}

static inline void forks(struct scenario *s, uint64_t ns, uint32_t cpu, int32_t parent,
			 int32_t child)
{
	struct trace_item i = { .type = ITEM_EVENT, .cpu = cpu };

	i.event.kind = SCHED_FORK;
	i.event.tick = ns;
	i.event.pid = parent;
	name_task(&i.event.task, parent);
	name_task(&i.event.other, child);
	scenario_push(s, &i);
}

static inline void loses(struct scenario *s, uint32_t cpu, uint64_t from, uint64_t to,
			 uint64_t count)
{
	struct trace_item i = { .type = ITEM_LOSS, .cpu = cpu };

	i.loss.from_tick = from;
	i.loss.to_tick = to;
	i.loss.count = count;
	scenario_push(s, &i);
}

#endif
