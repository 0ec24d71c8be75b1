/* SPDX-License-Identifier: MIT */
/*
 * profile_json: reports of profiles as JSON (docs/profile.md), for the command line and whoever answers over HTTP. NULL:
 * out of memory.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_JSON_H
#define KISEKI_ANALYSIS_PROFILE_JSON_H

#include <jansson.h>

#include "analysis/profile_diff.h"
#include "analysis/profile_fold.h"
#include "analysis/profile_report.h"
#include "analysis/profile_stacks.h"

extern const char *const profile_mode_words[SAMPLE_MODES];

json_t *profile_totals_json(const struct profile_totals *t, const struct sample_source *s);

/* limit 0: all. */
json_t *profile_report_json(const struct profile_report *r, const struct sample_source *s,
			    uint64_t limit);
json_t *profile_diff_json(const struct profile_diff *d, uint64_t limit);

/* Nodes in the order of the tree, which is sorted; rows with less than that share of all are left out with what is
 * below them. */
json_t *profile_stacks_json(const struct profile_stacks *t, const struct sample_source *s,
			    double percent);

/* The same of a tree that was folded; what is left out is there as "(others)". */
json_t *profile_fold_json(const struct profile_fold *f, const struct profile_stacks *t,
			  const struct sample_source *s);

#endif
