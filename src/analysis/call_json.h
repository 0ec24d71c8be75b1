/* SPDX-License-Identifier: MIT */
/*
 * call_json: reports of calls as JSON (docs/reports.md), for the command line and the HTTP API. NULL:
 * out of memory. Parts that no record of the operating system covers are null, never 0.
 */
#ifndef KISEKI_ANALYSIS_CALL_JSON_H
#define KISEKI_ANALYSIS_CALL_JSON_H

#include <jansson.h>

#include "analysis/call_diff.h"
#include "analysis/call_fold.h"
#include "analysis/call_graph.h"
#include "analysis/call_list.h"
#include "analysis/call_report.h"
#include "analysis/call_tree.h"

/* limit 0: all. */
json_t *call_report_json(const struct call_report *r, uint64_t limit);
json_t *call_diff_json(const struct call_diff *d, uint64_t limit);

/* Nodes in the order of the tree; depth 0: all. */
json_t *call_tree_json(const struct call_tree *t, uint32_t depth, uint64_t min_ns);
json_t *call_fold_json(const struct call_fold *f); /* the same, with rows of others */
json_t *call_graph_json(const struct call_graph *g, const struct call_tree *t);

json_t *call_totals_json(const struct call_totals *t);
json_t *call_row_json(const struct call_row *row, const struct call_list *l,
		      const struct func_source *source, const struct call_names *names);

#endif
