/* SPDX-License-Identifier: MIT */
/*
 * sample: a source over an array, and one small trace that has everything.
 *
 * The trace has every kind of event, every cause of loss, and task names with spaces, quotes,
 * markup, a backslash, control characters, and bytes that are no UTF-8. The golden files of the
 * exports are made from it, so it must not change without them.
 */
#ifndef KISEKI_TESTS_SAMPLE_H
#define KISEKI_TESTS_SAMPLE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/source.h"

struct array_source {
	struct trace_source source;
	const struct trace_item *items;
	size_t n, at;
	unsigned int seeks;
	size_t breaks;		   /* at this item, unless it is 0 */
	unsigned int rewinds_left; /* then it cannot any more; 0: as often as wanted */
	bool pipe;		   /* cannot rewind */
};

static int array_next(struct trace_source *s, struct trace_item *ret, struct error *e)
{
	struct array_source *a = (struct array_source *)s;

	if (a->at == a->n)
		return 0;
	if (a->breaks && a->at == a->breaks)
		return error_set(e, EBADMSG, "cannot read on: broken");
	*ret = a->items[a->at++];
	return 1;
}

static int array_rewind(struct trace_source *s, struct error *e)
{
	struct array_source *a = (struct array_source *)s;

	if (a->pipe)
		return error_set(e, ESPIPE, "cannot rewind: a pipe");
	a->pipe = a->rewinds_left && !--a->rewinds_left;
	a->at = 0;
	return 0;
}

static int array_seek(struct trace_source *s, uint64_t tick, struct error *e)
{
	struct array_source *a = (struct array_source *)s;
	const struct trace_item *i;

	(void)e;
	a->seeks++;
	for (a->at = 0; a->at < a->n; a->at++) {
		i = &a->items[a->at];
		if ((i->type == ITEM_EVENT ? i->event.tick : i->loss.to_tick) >= tick)
			break;
	}
	return 0;
}

static void array_free(struct trace_source *s)
{
	info_done(&s->info);
	free(s);
}

static const struct trace_source_ops array_ops = {
	.next = array_next,
	.rewind = array_rewind,
	.seek = array_seek,
	.free = array_free,
};

static inline struct trace_source *array_source_new(const struct trace_item *items, size_t n)
{
	struct array_source *a = calloc(1, sizeof(*a));

	if (!a || info_init(&a->source.info) < 0)
		abort();
	a->source.ops = &array_ops;
	a->source.info.cpus = 2;
	a->items = items;
	a->n = n;
	return &a->source;
}

#define SAMPLE_EVENT(cpu_, tick_, kind_, pid_, ...)                                                \
	{                                                                                          \
		.type = ITEM_EVENT, .cpu = (cpu_), .event = {                                      \
			.tick = (tick_),                                                           \
			.kind = (kind_),                                                           \
			.pid = (pid_),                                                             \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define SAMPLE_LOSS(cpu_, from_, to_, count_, cause_)                                              \
	{                                                                                          \
		.type = ITEM_LOSS, .cpu = (cpu_), .loss = {(from_), (to_), (count_), (cause_) }    \
	}

/* Ticks of 20 ns from base 1000000000. */
static const struct trace_item sample_items[] = {
	SAMPLE_LOSS(0, 0, 100, LOSS_UNKNOWN, LOSS_RING),
	SAMPLE_EVENT(0, 100, SCHED_SWITCH, 0, .flags = 1, .preempt_count = 2,
		     .task = { 0, 120, "swapper/0" }, .other = { 41, 120, "two words" }),
	SAMPLE_EVENT(0, 150, SCHED_WAKING, 41, .flags = 1, .preempt_count = 1, .value = 1,
		     .task = { 42, 98, "quote\"d" }),
	SAMPLE_EVENT(0, 151, SCHED_WAKEUP, 41, .flags = 5, .value = 1,
		     .task = { 42, 98, "quote\"d" }),
	SAMPLE_EVENT(1, 160, SCHED_SWITCH, 43, .state = 0x100, .task = { 43, 120, "<a>&b" },
		     .other = { 42, 98, "quote\"d" }),
	SAMPLE_EVENT(0, 200, SCHED_FORK, 41, .task = { 41, 0, "two words" },
		     .other = { 44, 0, "two words" }),
	SAMPLE_EVENT(0, 201, SCHED_WAKEUP_NEW, 41, .value = 0, .task = { 44, 120, "two words" }),
	SAMPLE_EVENT(0, 210, SCHED_SWITCH, 41, .state = 3, .task = { 41, 120, "two words" },
		     .other = { 44, 120, "two words" }),
	SAMPLE_EVENT(0, 220, SCHED_EXEC, 44, .task = { .pid = 44 }, .value = 44,
		     .filename = "/bin/\xff odd\\name", .filename_len = 15),
	SAMPLE_EVENT(0, 221, SCHED_RENAME, 44, .tick_off_ns = -7, .value = -1000,
		     .task = { 44, 0, "two words" },
		     .other = { 0, 0, "\xc3\xa9t\xc3\xa9 \xe9\t\x7f\n" }),
	SAMPLE_EVENT(1, 230, SCHED_SETPRIO, 42, .task = { 43, 120, "<a>&b" },
		     .other = { .prio = 98 }),
	SAMPLE_LOSS(1, 230, 300, 17, LOSS_BUFFER),
	SAMPLE_LOSS(1, 300, 300, 1, LOSS_SPOOL),
	SAMPLE_EVENT(1, 300, SCHED_SWITCH, 43, .state = 0x1, .task = { 43, 98, "<a>&b" },
		     .other = { 42, 98, "quote\"d" }),
	SAMPLE_EVENT(0, 310, SCHED_EXIT, 44, .extra = 1,
		     .task = { 44, 120, "\xc3\xa9t\xc3\xa9 \xe9\t\x7f\n" }),
	SAMPLE_EVENT(0, 311, SCHED_SWITCH, 44, .state = 0x20,
		     .task = { 44, 120, "\xc3\xa9t\xc3\xa9 \xe9\t\x7f\n" },
		     .other = { 0, 120, "swapper/0" }),
	SAMPLE_EVENT(1, 320, SCHED_SWITCH, 42, .flags = 0x10, .state = 0x2,
		     .task = { 42, 98, "quote\"d" },
		     .other = { -5,
				139,
				{ '1', '6', ' ', 'b', 'y', 't', 'e', 's', ',', ' ', 'n', 'o', ' ',
				  'N', 'U', 'L' } }),
	SAMPLE_LOSS(0, 311, 311, LOSS_UNKNOWN, LOSS_DAMAGE),
	SAMPLE_LOSS(1, 320, 400, 3, LOSS_STORE),
};
#define SAMPLE_N (sizeof(sample_items) / sizeof(sample_items[0]))

static inline struct trace_source *sample_source_new(void)
{
	static const char names[3][SCHED_COMM_LEN] = { "two words", "quote\"d", "\\back\\" };
	struct trace_source *s = array_source_new(sample_items, SAMPLE_N);
	struct trace_info *i = &s->info;

	if (info_set(&i->device, "board <1>", 9) || info_set(&i->kernel, "6.18.0", 6) ||
	    info_set(&i->machine, "aarch64", 7) || info_set(&i->origin, "a \"test\" & \xff", 12) ||
	    info_add_task(i, 41, 40, names[0]) || info_add_task(i, 42, -1, names[1]) ||
	    info_add_task(i, 40, 40, names[2]))
		abort();
	strcpy(i->clock.name, "local");
	i->clock.mult = 20;
	i->clock.base_ns = 1000000000;
	i->clock.has_realtime = true;
	i->clock.realtime_off_ns = -5;
	i->clock.realtime_err_ns = 1000;
	i->dialect.kinds = (1 << SCHED_KINDS) - 1;
	i->skipped = 12;
	return s;
}

#endif
