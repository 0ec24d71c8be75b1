/* SPDX-License-Identifier: MIT */
/* state: see state.h. */
#include "trace/state.h"

uint32_t state_format(char ret[STATE_TEXT_MAX], const struct sched_dialect *d, uint64_t state)
{
	uint64_t bits = state & d->state_mask;
	uint32_t n = 0, i;

	if (!bits)
		ret[n++] = 'R';
	for (i = 0; bits && i < DIALECT_STATE_BITS; i++) {
		if (!(bits >> i & 1) || !d->state_letters[i])
			continue;
		if (n)
			ret[n++] = '|';
		ret[n++] = d->state_letters[i];
	}
	if (state & d->state_preempt)
		ret[n++] = '+';
	ret[n] = 0;
	return n;
}
