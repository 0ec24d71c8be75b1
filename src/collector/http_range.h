/* SPDX-License-Identifier: MIT */
/*
 * http_range: which run, which part of its time, and which of its events a request asks for.
 *
 * /runs/{run}/… names a run. /devices/{device}/… means that device's latest run of the kind that is
 * asked for, or with from= or to= the latest that was sent within that time. The latest is the one that a
 * connection of the device sends now, also where another began later and has ended; else the one with the
 * latest end. Times are those of when.h: points in real time,
 * turned into the run's own clock; or "+…", a length after the run's first event. from_ns= and to_ns=
 * are nanoseconds of the run's own clock as they are; they do not choose a run.
 */
#ifndef KISEKI_COLLECTOR_HTTP_RANGE_H
#define KISEKI_COLLECTOR_HTTP_RANGE_H

#include "collector/http_request.h"
#include "trace/filter.h"
#include "trace/source.h"

/* The parameters that http_range_open() understands. */
#define HTTP_RANGE_TIMES "from to from_ns to_ns"
#define HTTP_RANGE_PARAMS HTTP_RANGE_TIMES " cpu task pid comm event"

struct http_selection {
	struct store_run run;
	struct trace_clock clock;
	uint64_t from_tick, to_tick; /* 0 and UINT64_MAX: open */
	struct filter_time from, to; /* in the run's clock; an item is in it if from <= t < to */
};

/* What a request can work with. Any will do where the kind is left open, and then a device's run of
 * the scheduler comes first, and that of its boot last. */
enum http_run_kind {
	HTTP_RUN_ANY,
	HTTP_RUN_SCHED,
	HTTP_RUN_FUNC,
	HTTP_RUN_BOOT,
	HTTP_RUN_PROFILE,
	HTTP_RUN_VM, /* a profile that has virtual machines */
	HTTP_RUN_KINDS,
};

/* Whether the device goes on with it. */
bool http_range_is_alive(const struct registry_row *row, const struct store_run *r);
/* Of runs told in the order of store_runs(): whether this is later than the one that was chosen before
 * (number 0: none was). */
bool http_range_is_later(const struct registry_row *row, const struct store_run *r,
			 const struct store_run *than);

/* By the parameter kind=. */
int http_range_get_kind(struct http_request *q, enum http_run_kind *ret, struct error *e);

int http_range_find_run(struct http_request *q, enum http_run_kind kind, struct store_run *ret,
			struct error *e);
int http_range_get_clock(struct http *h, uint32_t run, struct trace_clock *ret, struct error *e);

/* The run and the times. The first is for runs of the scheduler. */
int http_range_select(struct http_request *q, struct http_selection *ret, struct error *e);
int http_range_select_kind(struct http_request *q, enum http_run_kind kind,
			   struct http_selection *ret, struct error *e);
/* The same for answers that need no times. A run whose description is not understood gets a clock
 * with mult 0; a request for a part of its time is refused. */
int http_range_select_any(struct http_request *q, enum http_run_kind kind,
			  struct http_selection *ret, struct error *e);

/* The conditions on events, not on their time, into a filter that was initialised. */
int http_range_get_filter(struct http_request *q, struct trace_filter *ret, struct error *e);

/* The times alone, of a selection whose run and clock are known: by two parameters like from= and to=,
 * and those with _ns behind their names. */
int http_range_select_times(struct http_request *q, const char *from, const char *to,
			    struct http_selection *s, struct error *e);

/* Which of several runs and times a request names: by the parameters from= and to=, or others. */
struct http_range_part {
	const char *from, *to;
	const char *run; /* NULL: the one of the path */
	char number[16]; /* of a run, as text */
};
extern const struct http_range_part http_range_of_path;

/* What a run is compared with: with=, with_from=, with_to=, and the latter two with _ns; without with= it is the same run
 * at another time. -EINVAL: none of them is given. */
#define HTTP_RANGE_WITH "with with_from with_to with_from_ns with_to_ns"
int http_range_check_with(struct http_request *q, struct error *e);
void http_range_get_with(struct http_request *q, uint32_t run, struct http_range_part *ret);

/* By its number. */
int http_range_parse_run(struct http *h, const char *text, struct store_run *ret, struct error *e);

/* The selected items as a source; `tasks`, if not NULL, takes the conditions on tasks, and the source
 * then has the items of all (for reports). */
int http_range_open(struct http_request *q, const struct http_selection *s,
		    struct trace_filter *tasks, struct trace_source **ret, struct error *e);

#endif
