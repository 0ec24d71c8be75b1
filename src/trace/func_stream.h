/* SPDX-License-Identifier: MIT */
/*
 * func_stream: the items of one thread on their way out: its events, and before each the losses
 * that belong there.
 *
 * What reads a thread's bytes (a process's record, the blocks of a .ksk) pushes events and tallies
 * losses; what merges threads pops items. Losses come after the last event before them and before
 * the first event behind them, and have the ticks of both.
 */
#ifndef KISEKI_TRACE_FUNC_STREAM_H
#define KISEKI_TRACE_FUNC_STREAM_H

#include "trace/func_source.h"
#include "trace/loss_tally.h"
#include "wire/types.h"

struct func_stream {
	uint32_t thread;
	bool os_only;	    /* it has no calls: neither have its losses */
	uint64_t last_tick; /* of the last event */
	struct loss_tally tally;
	struct trace_loss losses[LOSS_TALLY_ROWS];
	uint8_t at, n; /* losses that wait */
	bool has_event;
	struct func_event event;
};

static inline void func_stream_init(struct func_stream *s, uint32_t thread, bool os_only)
{
	memset(s, 0, sizeof(*s));
	s->thread = thread;
	s->os_only = os_only;
}

/* Only when pop has nothing. */
void func_stream_push(struct func_stream *s, const struct func_event *ev);
/* The last event was pushed: what was lost behind it. */
void func_stream_end(struct func_stream *s);

static inline bool func_stream_pop(struct func_stream *s, struct func_item *ret)
{
	ret->thread = s->thread;
	if (s->at < s->n) {
		ret->type = FUNC_ITEM_LOSS;
		ret->os_only = s->os_only;
		ret->loss = s->losses[s->at++];
		return true;
	}
	if (!s->has_event)
		return false;
	ret->type = FUNC_ITEM_EVENT;
	ret->event = s->event;
	s->has_event = false;
	return true;
}

#endif
