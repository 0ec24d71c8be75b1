/* SPDX-License-Identifier: MIT */
/*
 * fact_build: works a minute of a run out: from its blocks to its set of facts.
 *
 * What comes out follows from the blocks and the window alone, so it does not matter who does it, when, or how often. What is so when
 * the window begins may have begun before it (who has a CPU, who waits for one, which virtual CPU sleeps), so reading starts some
 * seconds earlier; what began even before that and shows no event since is not known, and counts as unknown.
 *
 * A hole in the time of a virtual CPU that lies across the window's border is nobody's: it would be its owner's by the samples on both
 * sides of it, and one of them is in another minute. Classes are exact all the same.
 */
#ifndef KISEKI_FACTS_FACT_BUILD_H
#define KISEKI_FACTS_FACT_BUILD_H

#include "base/error.h"
#include "facts/fact_set.h"
#include "store/store_reader.h"
#include "symbol/symbols.h"
#include "trace/clock.h"
#include "trace/run_description.h"
#include "trace/sample_source.h"

/* What is looked at before the window. */
#define FACT_BEFORE_NS 10000000000ULL

struct fact_build {
	struct store *store;
	uint32_t run;
	const struct trace_clock *clock; /* the run's */
	int64_t off_ns;			 /* CLOCK_REALTIME - that clock */
	/* The run's, as long as all parts are built; NULL: it is read from the store. */
	const struct run_description *told;
	/* Where objects lie; its folders and texts stay the caller's. */
	struct symbols_options symbols;
	struct symbols *host; /* opened with these; NULL: only what the device itself told */
	/* After each item, for those who must end at once; may be NULL. < 0 ends it. */
	int (*step)(void *data);
	void *step_data;
	/* For those who have threads without work: a source that they may help to decode (sample_ahead.h), from here on until it is
	 * withdrawn; nobody is at it when that returns. Both or none, by who builds. */
	void (*offer)(void *data, struct sample_source *s);
	void (*withdraw)(void *data, struct sample_source *s);
	void *offer_data;
};

/* The window of a set in ns of the run's clock: from <= t < to; and the blocks that are to be read for it. False: it ends before that
 * clock begins. */
struct fact_window {
	uint64_t from_ns, to_ns;
	struct store_range range;
};
bool fact_build_window(const struct fact_build *b, const struct fact_key *k,
		       struct fact_window *ret);

/* A set to be filled, which is empty and has its key, and what became of it. */
struct fact_part {
	struct fact_set *set;
	/* out: 0; -ENODATA: the run has nothing of that kind in that time; -ENOENT: the run is gone; ... */
	int result;
	struct error *error;
};

/* Some of one minute, each of another kind; what needs the same records reads them once. A profile by cycles becomes FACT_CYCLES. */
void fact_build_run(const struct fact_build *b, struct fact_part *parts, size_t n);

/* For fact_build_run(): of the scheduler; of samples, the machines' or the profile or both. */
int fact_build_sched(const struct fact_build *b, struct fact_set *set, struct error *e);
void fact_build_samples(const struct fact_build *b, struct fact_part *vm,
			struct fact_part *profile);

#endif
