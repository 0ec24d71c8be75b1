/* SPDX-License-Identifier: MIT */
/*
 * profile_walk: all samples of a source that are asked for, once through, to one listener.
 *
 * The ground under reports, trees and exports: it says whose a sample is, names its places, and counts what is left
 * out and what is missing. A sample without work (the CPU was idle) is counted and goes to the listener only if that is
 * wanted: idle time is no program's. Memory depends on places and tasks, never on the length of the profile.
 */
#ifndef KISEKI_ANALYSIS_PROFILE_WALK_H
#define KISEKI_ANALYSIS_PROFILE_WALK_H

#include "analysis/profile_names.h"
#include "analysis/profile_tasks.h"

#define PROFILE_FRAMES_MAX (SAMPLE_CHAIN_MAX + 1U) /* and the guest */

/* What every sample counts for. Trees have room for more (profile_tree.h). */
enum profile_value {
	PROFILE_SAMPLES = 0,
	PROFILE_WEIGHT = 1, /* in the unit of the source's sampling */
	PROFILE_VALUES = 2,
};

struct profile_select {
	const char *processes; /* lists, as call_select.h has them; NULL: all */
	const char *threads;
	const uint64_t *cpus;	 /* a bit each of TRACE_CPUS_MAX; NULL: all */
	uint32_t modes;		 /* 1 << enum sample_mode; 0: all but idle */
	uint64_t from_ns, to_ns; /* of the source's clock: from <= t < to; to 0: to the end */
	bool is_part; /* the source has that time only: what else it gives is not counted as left out */
};

struct profile_sample {
	uint64_t tick, ns;
	uint32_t cpu;
	uint32_t thread; /* of the tasks */
	uint8_t mode;	 /* enum sample_mode */
	uint64_t values[PROFILE_VALUES];
	const uint32_t *places; /* innermost first; at least one */
	size_t n;
	const struct sample_event *event; /* out of which it was made */
	struct sample_span span; /* ticks in which the same addresses are the same places */
};

struct profile_walk {
	struct sample_source *source; /* at its start */
	struct profile_names *names;
	struct profile_tasks *tasks;
	const struct profile_select *select; /* NULL: all but idle */
	/* < 0: a negative errno that ends the walk. */
	int (*sample)(void *data, const struct profile_sample *s);
	void *data;
	/* 1: the listener knows it by one that came before, and took it; then it is not named. 0: it does not; < 0. May be NULL. */
	int (*again)(void *data, const struct sample_event *ev, uint32_t thread);
	/* After each item, for a progress bar, or a client that may have gone; may be NULL. */
	int (*step)(void *data);
	void *step_data;
};

struct profile_totals {
	uint64_t values[PROFILE_VALUES]; /* of the samples that were given */
	uint64_t idle[PROFILE_VALUES];	 /* of the idle ones among those selected, given or not */
	uint64_t modes[SAMPLE_MODES];	 /* samples given, by where the CPU was */
	uint64_t left_out;		 /* samples that were not selected */
	uint64_t others;		 /* records that are no samples */
	uint64_t from_ns, to_ns;	 /* of the first and the last record looked at */
	uint64_t cpus;			 /* that have records */
	uint64_t losses;		 /* places where records are missing */
	uint64_t lost;			 /* records, as far as counted */
	uint64_t lost_unknown;		 /* places whose count is not known */
	uint64_t span_ns;		 /* in which it was to be sampled, or paused */
	uint64_t planned_ns;		 /* of it, pauses that were asked for */
	uint64_t uncovered_ns;		 /* … records are missing; the mean of all CPUs */
	bool has_pace;			 /* it is known when it paused, and began and ended */
	uint64_t least_period, most_period; /* in that time; 0: not known */
};

int profile_walk_run(const struct profile_walk *w, struct profile_totals *ret, struct error *e);

/* The same for who reads the source, and gives the items to others beside it: nothing here calls `step`. The walk and the totals must
 * outlive it. */
struct profile_pass;
int profile_pass_new(struct profile_pass **ret, const struct profile_walk *w,
		     struct profile_totals *totals);			      /* -ENOMEM */
int profile_pass_put(struct profile_pass *x, const struct sample_item *item); /* negative errno */
void profile_pass_end(struct profile_pass *x);				      /* all was put */
void profile_pass_free(struct profile_pass *x);
DEFINE_CLEANUP(profile_pass, profile_pass_free)

/* The place that stands for all of a guest, inside of the host's: of one of the modes of guests. */
int profile_walk_label(const struct profile_walk *w, uint8_t mode, uint32_t *ret);

/* What profile_pass_put() returned, in words. Returns it. */
int profile_walk_explain(int failed, struct error *e);

/* Modes out of words with commas between them: user, kernel, guest, idle. -EINVAL. */
int profile_modes_parse(uint32_t *ret, const char *text, struct error *e);

/* "ns", "cycles": the unit of the weights. */
const char *profile_walk_unit(const struct sample_source *s);

#endif
