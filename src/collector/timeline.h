/* SPDX-License-Identifier: MIT */
/*
 * timeline: a range of a run as it fits on a screen: what each CPU did in each piece of time, and
 * which tasks had them.
 *
 * Pieces of a second and more come from the summaries (summaries.h), on the coarsest level that is
 * fine enough, so a day costs no more than a minute; only what is not summarised yet is decoded. For
 * shorter pieces the segments of the range are decoded, unless that would be too much: then the
 * pieces become longer. The range grows to whole pieces; on these all sums are exact.
 */
#ifndef KISEKI_COLLECTOR_TIMELINE_H
#define KISEKI_COLLECTOR_TIMELINE_H

#include <jansson.h>

#include "analysis/bucket.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "collector/summaries.h"
#include "trace/clock.h"

#define TIMELINE_WIDTH_MAX 8192U
#define TIMELINE_TASKS_MAX 256U
#define TIMELINE_CELLS_MAX (1U << 20)	/* CPUs * pieces: 64 MB */
#define TIMELINE_ENTRIES_MAX (1U << 22) /* tasks in pieces: 64 MB */
#define TIMELINE_BUCKETS_MAX (1U << 17) /* read from summaries; some 300 ms */
#define TIMELINE_EVENTS_MAX (1U << 21)	/* decoded for pieces below a second; some 300 ms */
#define TIMELINE_TAIL_MAX (1U << 24)	/* decoded because they are not summarised yet */

struct timeline_query {
	uint32_t run;
	uint64_t from_tick, to_tick; /* cut to the run's own; 0 and UINT64_MAX are all */
	uint32_t width;		     /* pieces at most; 0: 1000 */
	uint32_t tasks_max;	     /* that are listed one by one */
};

/* A pid under one name: summaries do not tell tasks of one name apart that had one pid. */
struct timeline_task {
	int32_t pid;
	int32_t tgid; /* -1: not known */
	char comm[SCHED_COMM_LEN];
	char process[SCHED_COMM_LEN]; /* the name of its group's leader; empty: not known */
	uint64_t ns;		      /* in the range, on all CPUs */
	uint64_t *piece_ns;	      /* of each piece */
};

struct timeline {
	struct trace_clock clock;
	uint64_t run_from_ns, run_to_ns; /* its first and last event, as headers say */
	uint64_t from_ns;		 /* a multiple of piece_ns */
	uint64_t piece_ns;
	uint32_t n;   /* pieces */
	bool decoded; /* from events, not from summaries */
	/* If not UINT64_MAX: from here on something is missing that was not summarised yet and was
	 * too much to decode. */
	uint64_t pending_from_ns;
	uint64_t events; /* that were decoded for it */

	uint32_t cpus;
	struct bucket_counts *cells;  /* of CPU c in piece i: cells[c * n + i] */
	struct bucket_counts *totals; /* of each CPU */
	struct bucket_counts total;

	struct timeline_task *tasks; /* those with the most time, falling */
	uint32_t n_tasks;
	uint64_t tasks_in_all; /* that ran, as far as summaries name them */
	uint64_t other_ns;     /* of all other tasks */
	uint64_t *other_piece_ns;
};

/* -ENOENT: no such run; -ENODATA: it has no event yet; -EINVAL: to_tick before from_tick. */
int timeline_make(struct timeline **ret, struct summaries *s, const struct timeline_query *q,
		  struct error *e);
void timeline_free(struct timeline *t);
DEFINE_CLEANUP(timeline, timeline_free)

int timeline_json(struct summaries *s, const struct timeline_query *q, json_t **ret,
		  struct error *e);

#endif
