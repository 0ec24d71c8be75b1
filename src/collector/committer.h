/* SPDX-License-Identifier: MIT */
/*
 * committer: the thread that makes durable what the ingest has put.
 *
 * The ingest says that something waits; the committer commits at once if the last commit began long
 * enough ago, else when that time is over: so a lone block waits for its sync alone, and a thousand
 * busy devices share one. When a commit fails (a full disk), it tries again with growing pauses;
 * nothing is dropped and nothing is called durable meanwhile. It has a keeper for the rest of what a
 * store needs.
 */
#ifndef KISEKI_COLLECTOR_COMMITTER_H
#define KISEKI_COLLECTOR_COMMITTER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "store/store.h"

struct committer;

struct committer_options {
	struct store *store;
	unsigned int commit_ms; /* between the beginnings of two commits, at least */
	/* After every commit that succeeded, with the last put that is durable; from the thread. */
	void (*done)(void *context, uint64_t durable);
	void (*log)(void *context, const char *line);
	void *context;
};

struct committer_counters {
	uint64_t commits, commit_ns, errors;
};

int committer_start(struct committer **ret, const struct committer_options *o, struct error *e);
/* Tries once more to commit what waits, and joins the thread. */
void committer_stop(struct committer *c);
DEFINE_CLEANUP(committer, committer_stop)

void committer_wake(struct committer *c);		 /* something was put */
uint64_t committer_get_begun(const struct committer *c); /* commits that have begun */
void committer_count(struct committer *c, struct committer_counters *ret);

#endif
