/* SPDX-License-Identifier: MIT */
/*
 * timeline_grid: buckets of any width, CPU by CPU, into the pieces of a timeline.
 *
 * Buckets come by rising time for each CPU; the time between two of them is filled in as the later
 * one says (bucket.h). A bucket lies in one piece: pieces start and end where buckets do. Tasks are
 * kept as lists of their pieces, because most of those who run at all in a day run in few of them.
 */
#ifndef KISEKI_COLLECTOR_TIMELINE_GRID_H
#define KISEKI_COLLECTOR_TIMELINE_GRID_H

#include "collector/timeline.h"
#include "trace/info.h"

struct timeline_grid;

/* The pieces and CPUs of t, whose cells are allocated. */
int timeline_grid_new(struct timeline_grid **ret, struct timeline *t);
void timeline_grid_free(struct timeline_grid *g);
DEFINE_CLEANUP(timeline_grid, timeline_grid_free)

/* The next CPU begins. What lies before known_ns is not known any more. */
int timeline_grid_begin(struct timeline_grid *g, uint32_t cpu, uint64_t known_ns);

/* 0; 1: the range is full, nothing later is of use; -ENOMEM, -E2BIG. */
int timeline_grid_put(struct timeline_grid *g, const struct bucket *b, uint64_t width_ns);

/* What the CPU did outside of its buckets, cut to the range. */
int timeline_grid_fill(struct timeline_grid *g, uint64_t from_ns, uint64_t to_ns,
		       const struct holder *h);
/* Losses of a CPU that has no event. */
void timeline_grid_lose(struct timeline_grid *g, uint64_t ns, uint64_t lost, uint64_t uncounted);

/* Sums, and the tasks with the most time. */
int timeline_grid_finish(struct timeline_grid *g, uint32_t tasks_max,
			 const struct trace_info *info);

#endif
