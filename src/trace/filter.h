/* SPDX-License-Identifier: MIT */
/*
 * filter: a source that passes on a part of another source.
 *
 * Every condition that is given must hold:
 *   time   from <= t < to, so that neighbouring ranges share no event;
 *   cpu    the event's CPU is in the set;
 *   kind   the event's kind is in the set;
 *   task   one of the event's tasks has one of the pids, or a name that one of the patterns
 *          matches. The tasks of an event are who ran when it happened (common_pid) and those it
 *          names: prev and next, the woken one, parent and child, the old pid of an exec. A rename
 *          has both names. Pids and patterns together select the union.
 *          A pid is all tasks that had it; pid@time the one that had it then: the last that began
 *          by that time (trace/lives.h), or the first one if there was none.
 * A loss is passed when its CPU is in the set and its interval touches the time range, whatever the
 * other conditions say: nobody knows what it would have been.
 *
 * The name of common_pid is the one the last switch on that CPU gave it, else the one in the task
 * table, so the first events of a trace without task table may lack it.
 */
#ifndef KISEKI_TRACE_FILTER_H
#define KISEKI_TRACE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/source.h"

#define FILTER_PIDS_MAX 65536U
#define FILTER_COMMS_MAX 256U
#define FILTER_LIVES_MAX 64U
#define FILTER_COMM_LEN 256U /* of a pattern */

/* A time as an option gives it. */
struct filter_time {
	bool given;
	bool relative; /* to the first item of the trace */
	uint64_t ns;
};

/* One of the tasks that had a pid. */
struct filter_life {
	int32_t pid;
	struct filter_time at;
	bool found;
	uint64_t from_ns, to_ns; /* it had the pid from … to < … */
};

struct trace_filter {
	struct filter_time from;
	struct filter_time to;
	bool cpus_given;
	uint64_t cpus[TRACE_CPUS_MAX / 64]; /* a bit each */
	uint32_t kinds;			    /* 1 << enum sched_kind; 0: all */
	int32_t *pids;			    /* sorted after filter_settle() */
	size_t n_pids, room_pids;
	struct filter_life *lives;
	size_t n_lives;
	bool lives_found;
	char **comms; /* fnmatch patterns */
	size_t n_comms;
};

void filter_init(struct trace_filter *f); /* passes everything */
void filter_done(struct trace_filter *f);
bool filter_is_empty(const struct trace_filter *f);

int filter_add_pid(struct trace_filter *f, int32_t pid);
int filter_add_comm(struct trace_filter *f, const char *pattern, size_t len);

int filter_add_life(struct trace_filter *f, int32_t pid, const struct filter_time *at);

/* When all is added. filter_source_new() does it as well. */
void filter_settle(struct trace_filter *f);

/* When these tasks had their pids: reads all of the source, and goes back to its beginning. Nothing is
 * done where there are none, or it was done. filter_source_new()'s sources do it as well. */
int filter_find_lives(struct trace_filter *f, struct trace_source *s, struct error *e);

/* Is this one of the tasks? Without pids and patterns every task is. Of a settled filter, whose lives
 * were found; `ns` is a time at which the task had the pid. */
bool filter_has_task(const struct trace_filter *f, int32_t pid, const char comm[SCHED_COMM_LEN],
		     uint64_t ns);
bool filter_has_life(const struct trace_filter *f, int32_t pid, uint64_t ns);

/* Takes both the inner source and the contents of f, which is then empty; on failure both stay the
 * caller's. */
int filter_source_new(struct trace_source **ret, struct trace_source *inner, struct trace_filter *f,
		      struct error *e);

#endif
