/* SPDX-License-Identifier: MIT */
/*
 * source: anything that yields a trace's items in order of time.
 *
 * The .ksk reader, the importers of other tools' formats and the filters are all sources; reports
 * and sinks take any of them. Items come merged over all CPUs: by time, and at the same time by
 * CPU number unless the source knows the true order (a text file does). A loss comes where it
 * belongs: after the last event before it and before the first event after it on its CPU.
 */
#ifndef KISEKI_TRACE_SOURCE_H
#define KISEKI_TRACE_SOURCE_H

#include "base/error.h"
#include "trace/info.h"
#include "wire/loss.h"
#include "wire/sched_event.h"

enum item_type {
	ITEM_EVENT = 0,
	ITEM_LOSS = 1,
};

/* Events missing on one CPU between two ticks. */
struct trace_loss {
	uint64_t from_tick; /* last event before, or 0 */
	uint64_t to_tick;   /* first event after, or from_tick if none followed */
	uint64_t count;	    /* LOSS_UNKNOWN if only the fact is known */
	uint8_t cause;	    /* enum loss_cause */
};

struct trace_item {
	enum item_type type;
	uint32_t cpu;
	struct sched_event event; /* ITEM_EVENT */
	struct trace_loss loss;	  /* ITEM_LOSS */
	/* Of an event, if info.has_comm: is the name of the task that ran (common_pid) known, and the
	 * name, which can be empty. */
	bool comm_known;
	char comm[SCHED_COMM_LEN];
};

struct trace_source;

struct trace_source_ops {
	/* 1: *ret is the next item (borrowed strings valid until the next call); 0: the end;
	 * < 0: failed, e says why. After 0 or an error it stays there until rewound. */
	int (*next)(struct trace_source *s, struct trace_item *ret, struct error *e);

	/* Back to the first item. -ESPIPE where the input is a pipe. */
	int (*rewind)(struct trace_source *s, struct error *e);

	/* Optional: skips to the first item at or after this tick, decoding as little as it can. */
	int (*seek)(struct trace_source *s, uint64_t tick, struct error *e);

	/* Optional, of a source that leaves out a part of another: from now on calls `seen` with each
	 * item that it reads, before it decides. NULL ends it. */
	void (*watch)(struct trace_source *s,
		      void (*seen)(void *context, const struct trace_item *item), void *context);

	/* Optional: input bytes done and in all, for the progress bar. */
	void (*progress)(const struct trace_source *s, uint64_t *ret_done, uint64_t *ret_total);

	void (*free)(struct trace_source *s); /* frees s itself, too */
};

/* Embedded as the first member of every source. `info` is complete after opening, but for
 * info.skipped, and for info.tasks of text inputs, which are complete at the end. */
struct trace_source {
	const struct trace_source_ops *ops;
	struct trace_info info;
};

static inline void source_free(struct trace_source *s)
{
	if (s)
		s->ops->free(s);
}

#endif
