/* SPDX-License-Identifier: MIT */
/*
 * slices: the items of one CPU, cut into buckets of equal time (bucket.h).
 *
 * An event names the task that ran when it happened: that task had the CPU since the CPU's event
 * before, unless something was lost in between; then nobody knows who had it. From a switch on it is
 * the next task. This needs no other CPU, and of what was before no more than struct slices_state:
 * so a stream can be taken segment by segment, by anybody who has the state at its beginning. Where
 * no switch is missing the sums are those of `report sched` (tracker.h), which knows all CPUs and
 * can guess better where one is.
 *
 * Time of a CPU starts with its first event; slices_end() gives it an end. Stamps that run backwards
 * count as simultaneous with the latest before them. Losses count where the next event is.
 */
#ifndef KISEKI_ANALYSIS_SLICES_H
#define KISEKI_ANALYSIS_SLICES_H

#include "analysis/bucket.h"
#include "trace/source.h"

struct slices_state {
	bool begun;	     /* there was an event: the others are set */
	bool lost_first;     /* a loss was before it */
	struct holder now;   /* since seen_ns */
	struct holder first; /* at the first event */
	uint64_t first_ns;
	uint64_t seen_ns;
	uint64_t lost, uncounted; /* losses that wait for the next event */
};

struct slices {
	const struct trace_info *info; /* clock and dialect */
	uint64_t width_ns;
	/* Takes each complete bucket, trimmed; may change it. A return other than 0 ends the call
	 * that led to it, with the same. */
	int (*put)(void *context, struct bucket *b);
	void *context;
	struct slices_state state;
	struct bucket open; /* while begun: that of seen_ns, filled up to it */
};

/* info must outlive it. About 40 KB: not for the stack. */
void slices_init(struct slices *s, const struct trace_info *info, uint64_t width_ns);

/* The item's CPU is not looked at. */
int slices_add(struct slices *s, const struct trace_item *item);

/* The CPU's time ends here, or at its last event if that is later: it is idle until then if it was,
 * else unknown. The open bucket is put. Nothing may be added afterwards. */
int slices_end(struct slices *s, uint64_t to_ns);

/* What the time before the CPU's first event was, if the trace began earlier. */
const struct holder *slices_get_beginning(const struct slices_state *s);

#endif
