/* SPDX-License-Identifier: MIT */
/*
 * profile_timeline: the samples of a profile over time, in buckets of equal length, by where the CPU was; a row for each CPU, or
 * for each process or thread.
 *
 * For an overview, in which somebody selects a part to look at. Its memory is PROFILE_TIMELINE_CELLS_MAX numbers at most: rows
 * that have no room, and those beyond the limit, are added to one row of others.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_TIMELINE_H
#define KISEKI_ANALYSIS_PROFILE_TIMELINE_H

#include <jansson.h>

#include "analysis/profile_report.h"

#define PROFILE_TIMELINE_WIDTH_MAX 4096U
#define PROFILE_TIMELINE_ROWS_MAX 4096U
#define PROFILE_TIMELINE_CELLS_MAX (1U << 22)

struct profile_timeline_options {
	uint64_t from_ns, to_ns; /* the walk selects the same */
	uint32_t width;
	enum profile_by by; /* PROFILE_BY_CPU, PROCESS or THREAD */
	enum profile_value value;
	uint64_t limit; /* rows but for CPUs, which are all shown */
};

struct profile_timeline_row {
	uint32_t key;	/* CPU, or index among the walk's tasks; UINT32_MAX: the others */
	uint64_t total; /* without idle */
	uint64_t idle;
	uint64_t *cells[SAMPLE_MODES]; /* by bucket; NULL: nothing in this mode */
};

struct profile_timeline;

/* Runs the walk; its listener is this one's. */
int profile_timeline_new(struct profile_timeline **ret, const struct profile_walk *w,
			 const struct profile_timeline_options *o, struct error *e);
void profile_timeline_free(struct profile_timeline *t);
DEFINE_CLEANUP(profile_timeline, profile_timeline_free)

/* CPUs by number, others by what they have; what stands for the rest comes last. */
const struct profile_timeline_row *profile_timeline_get(const struct profile_timeline *t,
							size_t *ret_n);

/* As profile/timeline of the collector answers it. NULL: out of memory. */
json_t *profile_timeline_json(const struct profile_timeline *t);

#endif
