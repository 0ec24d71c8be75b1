/* SPDX-License-Identifier: MIT */
/*
 * call_slices: the calls of a window of time as spans, thread by thread, for a timeline
 * (docs/format/calls-slices.md).
 *
 * Calls shorter than min_ns are left out and counted. A call that is too short has only called what was
 * shorter still, so at its end it is its thread's newest span and is simply taken back.
 */
#ifndef KISEKI_ANALYSIS_CALL_SLICES_H
#define KISEKI_ANALYSIS_CALL_SLICES_H

#include "analysis/call_walk.h"

#define CALL_SLICES_MAX 2000000U
#define CALL_SLICES_MAGIC "KCL1"

/* How the times are those of another clock, for one who draws both. */
struct call_slices_join {
	uint32_t
		run; /* of the scheduler; 0: there is none, or their clocks have nothing in common */
	int64_t offset_ns; /* the scheduler's time - that of the calls */
};

struct call_slices_options {
	uint64_t min_ns;
	uint64_t limit; /* spans; -E2BIG beyond */
	bool final;	/* nothing more can come into the window */
	struct call_slices_join join;
};

enum call_slices_flag {
	CALL_SLICE_BEGAN_BEFORE = 1, /* its begin was not seen, or is before the window */
	CALL_SLICE_ENDS_LATER = 2,   /* likewise its end: the window's, the trace's, or a loss's */
	CALL_SLICE_UNWOUND = 4,	     /* it was left without a return of its own */
	CALL_SLICE_FLAGS = 8,
};

struct call_slices;

/* Runs the walk, which has a window; its listener is ours. */
int call_slices_new(struct call_slices **ret, const struct call_walk *w,
		    const struct call_slices_options *o, struct error *e);
void call_slices_free(struct call_slices *s);
DEFINE_CLEANUP(call_slices, call_slices_free)

/* The document; free(*ret). */
int call_slices_encode(const struct call_slices *s, uint8_t **ret, size_t *ret_len,
		       struct error *e);

#endif
