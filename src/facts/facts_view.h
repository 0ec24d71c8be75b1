/* SPDX-License-Identifier: MIT */
/*
 * facts_view: the rows of facts.sqlite that a question is about, as they are at one moment, and threads that read them.
 *
 * Hours that lie in the range as a whole, minutes at its ends and where an hour is not up to date. Each thread has a connection; all see
 * the same state of the file, which is told by its count of changes: whoever got another begins again.
 */
#ifndef KISEKI_FACTS_FACTS_VIEW_H
#define KISEKI_FACTS_FACTS_VIEW_H

#include <stdatomic.h>

#include "facts/facts_local.h"

#define FACTS_VIEW_THREADS_MAX 16U
#define FACTS_VIEW_ROWS_MAX (1U << 25)

struct facts_view_row {
	int64_t id;
	uint64_t start_s, version;
	struct message_id device;
	uint32_t n_sets; /* that it stands for: 1, or those of a sum (facts_sums.h) */
	bool is_hour;
};

struct facts_view {
	struct facts_db *dbs[FACTS_VIEW_THREADS_MAX];
	size_t n_dbs;
	struct facts_view_row *rows; /* by id: so they are read in the order of the file */
	size_t n, room;
	uint64_t devices; /* that have any */
	uint64_t summed;  /* sets that are in no row, but in another's sum */
};

/* `threads`: how many connections at the most; there are never more than the machine has CPUs. */
int facts_view_init(struct facts_view *v, struct facts_local *l, const struct facts_query *q,
		    size_t threads, struct error *e);
void facts_view_done(struct facts_view *v);
#define CLEANUP_FACTS_VIEW __attribute__((cleanup(facts_view_done)))

/* Called in each thread for each of its rows, until one fails; 0 or < 0. `part` is the thread's number. */
struct facts_view_job {
	int (*read)(void *context, size_t part, struct facts_db *d,
		    const struct facts_view_row *row, struct error *e);
	void *context;
};
int facts_view_run(struct facts_view *v, const struct facts_view_job *job, struct error *e);

#endif
