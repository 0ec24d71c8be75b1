/* SPDX-License-Identifier: MIT */
/*
 * http_profile: a run with samples as requests below …/profile and …/vm ask for it: which run, which of its time, which of its
 * samples.
 */
#ifndef KISEKI_COLLECTOR_HTTP_PROFILE_H
#define KISEKI_COLLECTOR_HTTP_PROFILE_H

#include "analysis/profile_walk.h"
#include "collector/http_range.h"
#include "collector/http_symbols.h"

struct http_profile {
	struct http_request *q;
	struct http_selection selection;
	struct sample_source *source;
	struct http_symbols from;
	struct symbols *symbols; /* NULL: names are the run's own */
	struct profile_names *names;
	struct profile_tasks tasks;
	bool has_tasks;
	struct trace_filter filter;
	struct profile_select select;
	struct profile_walk walk; /* ready to be run */
	uint64_t from_ns, to_ns;  /* the window; all of the run if none is given */
	uint64_t items;
	bool whole;   /* it is read from its start */
	bool counted; /* among those under way */
};

/* Opens run and time, and takes the parameters that select samples. whole: from its start, since what is asked for depends
 * on all that was before; else only around the window. */
int http_profile_open(struct http_profile *p, struct http_request *q,
		      const struct http_range_part *part, bool whole, struct error *e);
void http_profile_close(struct http_profile *p);
#define CLEANUP_HTTP_PROFILE __attribute__((cleanup(http_profile_close)))

/* After each item of a reading, with the profile as its data: -ECANCELED when the client has gone. */
int http_profile_step(void *data);

/* What is known of a run's samples without reading them; null: nothing that is understood; NULL: no memory. */
json_t *http_profile_json(struct http_request *q, const struct store_run *run);

#endif
