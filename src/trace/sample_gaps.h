/* SPDX-License-Identifier: MIT */
/*
 * sample_gaps: how long records of a profile are missing, by the losses that its source tells in order.
 *
 * A loss lies between two records of a CPU. Several causes may have the same gap, which counts once, and a pause that was
 * asked for is no gap. What is missing before a CPU's first record has no beginning, and does not count.
 */
#ifndef KISEKI_TRACE_SAMPLE_GAPS_H
#define KISEKI_TRACE_SAMPLE_GAPS_H

#include "trace/info.h"
#include "trace/sample_pace.h"

struct sample_gaps {
	const struct sample_pace *pace; /* borrowed */
	uint64_t from, to;		/* of this time only, ticks */
	uint64_t ticks;			/* of all CPUs, added up */
	uint64_t until[TRACE_CPUS_MAX]; /* of each: what is before is counted */
};

void sample_gaps_init(struct sample_gaps *g, const struct sample_pace *pace, uint64_t from,
		      uint64_t to);
void sample_gaps_add(struct sample_gaps *g, uint32_t cpu, uint64_t from, uint64_t to);

#endif
