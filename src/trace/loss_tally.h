/* SPDX-License-Identifier: MIT */
/*
 * loss_tally: what is to be told as lost before the next event of a stream, by cause.
 *
 * Of each cause there is a count, and beside it the fact that there was more, which nobody counted:
 * a known count is never hidden by an unknown one.
 */
#ifndef KISEKI_TRACE_LOSS_TALLY_H
#define KISEKI_TRACE_LOSS_TALLY_H

#include <stdbool.h>

#include "trace/source.h"

#define LOSS_TALLY_ROWS                                                                            \
	(2U * LOSS_CAUSES) /* between two events: of each cause, known and unknown */

struct loss_tally {
	uint64_t lost[LOSS_CAUSES];
	bool some[LOSS_CAUSES];
};

/* LOSS_UNKNOWN, or a sum that would reach it, is an unknown number. */
void loss_tally_add(struct loss_tally *t, uint32_t cause, uint64_t count);

/* Moves the tally out as rows between two ticks, by rising cause, the known one first. How many. */
size_t loss_tally_take(struct loss_tally *t, uint64_t from_tick, uint64_t to_tick,
		       struct trace_loss ret[LOSS_TALLY_ROWS]);

#endif
