/* SPDX-License-Identifier: MIT */
/*
 * items_log: what a source gave, item by item, so that two readings of the same bytes can be
 * compared: whole against whole, and from a tick on against the end of the whole.
 */
#ifndef KISEKI_FUZZ_ITEMS_LOG_H
#define KISEKI_FUZZ_ITEMS_LOG_H

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "trace/stream_cursor.h"

#define ITEMS_LOG_MAX 2000U

struct items_log {
	uint32_t n;
	bool ended; /* all of it was read, and memory was never short */
	struct {
		uint32_t cpu;
		bool is_event;
		uint64_t tick, sum;
	} items[ITEMS_LOG_MAX];
};

static inline uint64_t items_log_mix(uint64_t sum, const void *bytes, size_t len)
{
	const uint8_t *at = bytes;

	while (len--)
		sum = (sum ^ *at++) * 1099511628211ULL;
	return sum;
}

/* Of the members, not of what lies between them. */
static inline uint64_t items_log_sum(const struct trace_item *item)
{
	const struct sched_event *e = &item->event;
	const uint64_t numbers[] = { e->tick,
				     e->state,
				     (uint32_t)e->tick_off_ns,
				     (uint32_t)e->pid,
				     (uint32_t)e->value,
				     e->kind,
				     e->flags,
				     e->preempt_count,
				     e->extra,
				     (uint32_t)e->task.pid,
				     (uint32_t)e->task.prio,
				     (uint32_t)e->other.pid,
				     (uint32_t)e->other.prio };
	const uint64_t loss[] = { item->loss.from_tick, item->loss.to_tick, item->loss.count,
				  item->loss.cause };
	uint64_t sum = 14695981039346656037ULL;

	if (item->type == ITEM_LOSS)
		return items_log_mix(sum, loss, sizeof(loss));
	sum = items_log_mix(sum, numbers, sizeof(numbers));
	sum = items_log_mix(sum, e->task.comm, sizeof(e->task.comm));
	sum = items_log_mix(sum, e->other.comm, sizeof(e->other.comm));
	return e->kind == SCHED_EXEC ? items_log_mix(sum, e->filename, e->filename_len) : sum;
}

static inline void items_log_read(struct items_log *l, struct trace_source *s)
{
	struct error e = ERROR_INIT;
	struct trace_item item;
	int r = 1;

	for (l->n = 0; l->n < ITEMS_LOG_MAX && (r = s->ops->next(s, &item, &e)) > 0; l->n++) {
		l->items[l->n].cpu = item.cpu;
		l->items[l->n].is_event = item.type == ITEM_EVENT;
		l->items[l->n].tick = item_tick(&item);
		l->items[l->n].sum = items_log_sum(&item);
	}
	l->ended = r == 0;
}

static inline void items_log_expect_same(const struct items_log *a, const struct items_log *b)
{
	uint32_t i;

	if (!a->ended || !b->ended)
		return;
	assert(a->n == b->n);
	for (i = 0; i < a->n; i++)
		assert(a->items[i].cpu == b->items[i].cpu && a->items[i].sum == b->items[i].sum);
}

/* The event before this one on its CPU, or the item itself. */
static inline uint32_t items_log_before(const struct items_log *l, uint32_t i)
{
	uint32_t k = i;

	while (k--)
		if (l->items[k].is_event && l->items[k].cpu == l->items[i].cpu)
			return k;
	return i;
}

/* Does each CPU's time rise? */
static inline bool items_log_rises(const struct items_log *l)
{
	uint32_t i;

	for (i = 0; i < l->n; i++)
		if (l->items[i].is_event &&
		    l->items[items_log_before(l, i)].tick > l->items[i].tick)
			return false;
	return true;
}

/* After a seek each CPU has its last events, all those from the tick on among them; of a trace whose time goes back, anything. */
static inline void items_log_expect_end(const struct items_log *whole, const struct items_log *end,
					uint64_t tick)
{
	uint32_t i = whole->n, k, later = 0, found = 0;

	if (!whole->ended || !end->ended || !items_log_rises(whole))
		return;
	for (i = 0; i < whole->n; i++)
		later += whole->items[i].is_event && whole->items[i].tick >= tick;
	for (i = 0; i < end->n; i++)
		found += end->items[i].is_event && end->items[i].tick >= tick;
	assert(found == later);
	for (k = end->n, i = 0; k--;) {
		uint32_t behind = 0, seen = 0;

		if (!end->items[k].is_event)
			continue;
		for (i = k + 1; i < end->n; i++)
			behind += end->items[i].is_event && end->items[i].cpu == end->items[k].cpu;
		for (i = whole->n; i && seen <= behind; i--)
			seen += whole->items[i - 1].is_event &&
				whole->items[i - 1].cpu == end->items[k].cpu;
		assert(seen == behind + 1 && whole->items[i].sum == end->items[k].sum);
	}
}

#endif
