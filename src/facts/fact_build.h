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

/* What is looked at before the window. */
#define FACT_BEFORE_NS 10000000000ULL

struct fact_build {
	struct store *store;
	uint32_t run;
	const struct trace_clock *clock; /* the run's */
	int64_t off_ns;			 /* CLOCK_REALTIME - that clock */
	/* Where objects lie; its folders and texts stay the caller's. */
	struct symbols_options symbols;
	struct symbols *host; /* opened with these; NULL: only what the device itself told */
	/* After each item, for those who must end at once; may be NULL. < 0 ends it. */
	int (*step)(void *data);
	void *step_data;
};

/* The window of a set in ns of the run's clock: from <= t < to; and the blocks that are to be read for it. False: it ends before that
 * clock begins. */
struct fact_window {
	uint64_t from_ns, to_ns;
	struct store_range range;
};
bool fact_build_window(const struct fact_build *b, const struct fact_key *k,
		       struct fact_window *ret);

/* Fills an empty set of the key's kind; one of a profile by cycles becomes FACT_CYCLES. -ENODATA: the run has nothing of that kind in that time; -ENOENT: the run is gone. */
int fact_build_run(const struct fact_build *b, struct fact_set *set, struct error *e);

/* One kind each; for fact_build_run(). */
int fact_build_profile(const struct fact_build *b, struct fact_set *set, struct error *e);
int fact_build_vm(const struct fact_build *b, struct fact_set *set, struct error *e);
int fact_build_sched(const struct fact_build *b, struct fact_set *set, struct error *e);

#endif
