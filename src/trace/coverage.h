/* SPDX-License-Identifier: MIT */
/*
 * coverage: how much of a time was recorded, and how much was not although it should have been.
 *
 * Of a run: the time from its beginning to its end, as far as that is known; pauses that were asked for; and the time in
 * which records were lost, of all CPUs together: where one of four lacks a second, a quarter of a second is lost. Of a
 * device: its runs of one kind, one behind the other, with the gaps between them, in which nobody recorded. There is
 * no gap behind a run that had recorded all that was asked for.
 *
 * Only headers, the ledger and descriptions are read, no events.
 */
#ifndef KISEKI_TRACE_COVERAGE_H
#define KISEKI_TRACE_COVERAGE_H

#include "store/store.h"

#define COVERAGE_RUNS_MAX 1000U	  /* of a device, the latest */
#define COVERAGE_ROWS_MAX 100000U /* of a run's ledger; what is behind them is not looked at */

struct coverage {
	uint64_t runs;
	uint64_t total_ns;   /* in which it should have been recorded, or was not to be */
	uint64_t planned_ns; /* of it, pauses that were asked for */
	uint64_t lost_ns;    /* … records were lost */
	uint64_t gaps_ns;    /* … between runs */
};

/* -ENODATA: it is no recording that goes on, or it has no events. */
int coverage_of_run(struct store *s, const struct store_run *run, struct coverage *ret,
		    struct error *e);

/* Of all runs of its device that are of its kind. */
int coverage_of_device(struct store *s, const struct store_run *run, struct coverage *ret,
		       struct error *e);

/* The part of all time that is uncovered, 0 to 1. */
double coverage_ratio(const struct coverage *c);

#endif
