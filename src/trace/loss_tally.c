/* SPDX-License-Identifier: MIT */
/* loss_tally: see loss_tally.h. */
#include "trace/loss_tally.h"

#include <string.h>

void loss_tally_add(struct loss_tally *t, uint32_t cause, uint64_t count)
{
	if (count > LOSS_UNKNOWN - 1 - t->lost[cause])
		t->some[cause] = true;
	else
		t->lost[cause] += count;
}

size_t loss_tally_take(struct loss_tally *t, uint64_t from_tick, uint64_t to_tick,
		       struct trace_loss ret[LOSS_TALLY_ROWS])
{
	struct trace_loss loss = { .from_tick = from_tick,
				   .to_tick = to_tick > from_tick ? to_tick : from_tick };
	size_t n = 0;

	for (loss.cause = 0; loss.cause < LOSS_CAUSES; loss.cause++) {
		loss.count = t->lost[loss.cause];
		if (loss.count)
			ret[n++] = loss;
		loss.count = LOSS_UNKNOWN;
		if (t->some[loss.cause])
			ret[n++] = loss;
	}
	memset(t, 0, sizeof(*t));
	return n;
}
