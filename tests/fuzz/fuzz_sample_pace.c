/* SPDX-License-Identifier: MIT */
/* sample_pace: any bytes as what a recorder says of its pace; pauses of parts add up to those of the whole. */
#include <assert.h>

#include "trace/sample_pace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sample_pace p = { .n = 0 };
	uint64_t from, to, middle, least, most;

	if (sample_pace_decode(&p, data, size) == 0) {
		sample_pace_settle(&p);
		if (sample_pace_span(&p, &from, &to)) {
			middle = from + (to - from) / 3;
			assert(from <= to);
			assert(sample_pace_paused(&p, from, to) <= to - from);
			assert(sample_pace_paused(&p, from, middle) +
				       sample_pace_paused(&p, middle, to) ==
			       sample_pace_paused(&p, from, to));
			if (sample_pace_periods(&p, middle, to, &least, &most))
				assert(least && least <= most);
		}
	}
	sample_pace_done(&p);
	return 0;
}
