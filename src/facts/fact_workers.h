/* SPDX-License-Identifier: MIT */
/*
 * fact_workers: the threads that work minutes out as they become ripe, run after run, and never stop.
 *
 * One of them goes through the runs of the store, looks at what is new of each (fact_frontier.h) and makes jobs: one minute, of one run
 * and one kind. All of them, it too, do these jobs; what comes out is put in one batch per run, together with how far the run was
 * looked at. Whoever dies in between loses nothing but time.
 *
 * They have low priority, and wait for nobody but the store: the ingest never waits for them. When more comes in than they can do
 * they fall behind, and say so: docs/design/fleet.md has the condition for keeping up.
 */
#ifndef KISEKI_FACTS_FACT_WORKERS_H
#define KISEKI_FACTS_FACT_WORKERS_H

#include "base/cleanup.h"
#include "base/error.h"
#include "facts/fact_members.h"
#include "facts/facts.h"
#include "store/store.h"
#include "symbol/symbols.h"

struct fact_workers;

struct fact_workers_options {
	struct store *store; /* all three must outlive it */
	struct facts *facts;
	struct fact_members *members; /* with whom the devices are shared; NULL: nobody */
	struct symbols_options
		symbols;	  /* where objects lie, with what it points to; no folders: none */
	unsigned int threads;	  /* 0: one for each CPU */
	struct facts_ages keep_s; /* how old minutes and hours become; 0: for ever */
	/* A set was put; of one run and kind they come by time, but for what came late. From the thread. May be NULL. */
	void (*put)(void *context, const struct fact_set *s);
	/* After each pass, from the same thread: what is to come was recorded after `now_s`, but for what comes late. May be NULL. */
	void (*passed)(void *context, uint64_t now_s);
	void *put_context; /* of both */
	/* One line for each thing worth telling; from any thread. May be NULL. */
	void (*log)(void *context, const char *line);
	void *log_context;
};

int fact_workers_start(struct fact_workers **ret, const struct fact_workers_options *o,
		       struct error *e);
void fact_workers_stop(struct fact_workers *w); /* ends after the jobs that are under way */
DEFINE_CLEANUP(fact_workers, fact_workers_stop)

/* Waits until all minutes that were ripe when it was called are worked out. -ETIMEDOUT. `all`: those that are not over are taken for
 * ripe, too, as at the end of a recording. */
int fact_workers_wait(struct fact_workers *w, bool all, unsigned int timeout_ms);

/* The condition t0 + t1 > (t0 + t2) n. */
struct fact_pace {
	uint64_t hosts; /* n: runs that had something in the last minute */
	double t0_s;	/* to store one host's minute */
	double t1_s;	/* collected in one round */
	double t2_s;	/* to work it out, with all threads */
	bool holds;
	uint64_t hosts_max; /* the largest n for which it would hold; 0: not known yet */
};
void fact_pace_judge(struct fact_pace *p);

struct fact_workers_counters {
	uint64_t passes;
	uint64_t minutes;  /* sets that were put */
	uint64_t again;	   /* of these, minutes that had been worked out before */
	uint64_t late;	   /* that came when their hour was closed, and are not in it */
	uint64_t events;   /* decoded */
	uint64_t errors;   /* runs of which a pass failed */
	uint64_t work_ns;  /* of jobs, added up over threads */
	uint64_t waiting;  /* minutes that were not worked out after the last pass */
	uint64_t behind_s; /* age of the oldest of them that was ripe; 0: none */
	unsigned int threads;
	char last_error[sizeof(((struct error *)0)->text)];
	struct fact_pace pace; /* of the last minutes; without t0 */
};
void fact_workers_count(struct fact_workers *w, struct fact_workers_counters *ret);

#endif
