/* SPDX-License-Identifier: MIT */
/*
 * http_calls: a run of programs as requests below …/calls ask for it: which run, which of its time, which of
 * its threads; and beside it the scheduler's run of the same time.
 */
#ifndef KISEKI_COLLECTOR_HTTP_CALLS_H
#define KISEKI_COLLECTOR_HTTP_CALLS_H

#include "analysis/call_slices.h"
#include "analysis/call_walk.h"
#include "collector/http_range.h"

struct http_calls {
	struct http_request *q;
	struct http_selection selection;
	struct store_run sched; /* its number is 0: there is none */
	struct func_source *source;
	struct symbols *symbols; /* NULL: functions are object and place */
	struct call_names *names;
	struct call_select select;
	struct call_window window;
	uint64_t *last_ns;	      /* by thread */
	uint64_t from_ns, to_ns;      /* of all calls; 0, 0: there are none */
	struct marks *marks;	      /* NULL: not asked for */
	struct call_mark resume;      /* where the source begins; its tick is 0: at the start */
	struct call_walk walk;	      /* for reports */
	struct call_slices_join join; /* to the clock of `sched` */
	uint64_t items;
	bool counted; /* among those under way */
};

/* Opens run and time. joined: with what the scheduler did; else without, and then it need not be read from
 * its start. */
int http_calls_open(struct http_calls *c, struct http_request *q, const struct http_range_part *p,
		    bool joined, struct error *e);
void http_calls_close(struct http_calls *c);
#define CLEANUP_HTTP_CALLS __attribute__((cleanup(http_calls_close)))

/* What is known of a run of programs without reading its calls: {"from_ns", "to_ns", "sched"}; NULL: no memory. */
json_t *http_calls_json(struct http_request *q, const struct store_run *run);

#endif
