/* SPDX-License-Identifier: MIT */
/*
 * summaries: what happened in each second of each run, made in the background as blocks come in.
 *
 * A thread of low priority follows the store: it decodes each complete segment once (summarise.h)
 * and keeps the sums in DIR/summary.sqlite. That file is derived; it can be deleted while nobody
 * uses it, and is made again. When more comes in than can be decoded, the thread falls behind and
 * nothing else suffers: what is not summarised yet is decoded by whoever asks (timeline.h).
 *
 * The summaries of a run go when the store has forgotten it.
 */
#ifndef KISEKI_COLLECTOR_SUMMARIES_H
#define KISEKI_COLLECTOR_SUMMARIES_H

#include "base/cleanup.h"
#include "base/error.h"
#include "store/store.h"

struct summaries;
struct summary_db;

/* The store must outlive it. */
int summaries_open(struct summaries **ret, const char *dir, struct store *s, struct error *e);
void summaries_free(struct summaries *s); /* the thread ends after the segment it works on */
DEFINE_CLEANUP(summaries, summaries_free)

/* Waits until all that could be summarised when it was called is. -ETIMEDOUT. */
int summaries_wait(struct summaries *s, unsigned int timeout_ms);

struct summaries_counters {
	uint64_t passes;      /* over the runs */
	uint64_t events;      /* decoded */
	uint64_t errors;      /* runs that could not be summarised in a pass */
	char last_error[160]; /* one line, or empty */
};
void summaries_count(struct summaries *s, struct summaries_counters *ret);

/* For the queries: the store, and a connection that sees one state; -ENOENT: nothing is summarised. */
struct store *summaries_store(struct summaries *s);
int summaries_read(struct summaries *s, struct summary_db **ret, struct error *e);
/* A query has found damage: all is made again. */
void summaries_distrust(struct summaries *s);

#endif
