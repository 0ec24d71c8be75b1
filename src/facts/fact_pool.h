/* SPDX-License-Identifier: MIT */
/*
 * fact_pool: some threads that work minutes out side by side.
 *
 * Whoever has jobs gives them all at once, works with the others, and goes on when all are done. Each thread has names of its own
 * (struct symbols is one thread's), which stay open from job to job. A thread that finds no more jobs helps those that are at one to decode:
 * one minute of one host is done by several, too.
 */
#ifndef KISEKI_FACTS_FACT_POOL_H
#define KISEKI_FACTS_FACT_POOL_H

#include <stdatomic.h>

#include "base/cleanup.h"
#include "facts/fact_build.h"

#define FACT_POOL_THREADS_MAX 256U

/* One set to be made. */
struct fact_job {
	struct fact_build build; /* without names, step and offers */
	struct fact_set set;	 /* empty, with its key */
	bool is_beside;		 /* of the same minute as the one before it, and made with it */
	int result;		 /* out: of fact_build_run() */
	struct error error;
	uint64_t
		ns; /* out: how long it took, of all threads; of several that were made together the first has it all */
};

struct fact_pool;

struct fact_pool_options {
	unsigned int threads; /* 0: one for each CPU */
	/* Where objects lie, with what it points to; no folders: only what devices themselves told. */
	struct symbols_options symbols;
	int niceness;
	const atomic_bool *stop; /* jobs end early with -EINTR when it becomes true */
};

int fact_pool_new(struct fact_pool **ret, const struct fact_pool_options *o, struct error *e);
void fact_pool_free(struct fact_pool *p);
DEFINE_CLEANUP(fact_pool, fact_pool_free)

unsigned int fact_pool_threads(const struct fact_pool *p);

/* By one thread at a time. */
void fact_pool_run(struct fact_pool *p, struct fact_job *jobs, size_t n);

#endif
