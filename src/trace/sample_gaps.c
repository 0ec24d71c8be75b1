/* SPDX-License-Identifier: MIT */
/* sample_gaps: see sample_gaps.h. */
#include "trace/sample_gaps.h"

#include <string.h>

void sample_gaps_init(struct sample_gaps *g, const struct sample_pace *pace, uint64_t from,
		      uint64_t to)
{
	memset(g, 0, sizeof(*g));
	g->pace = pace;
	g->from = from;
	g->to = to;
}

void sample_gaps_add(struct sample_gaps *g, uint32_t cpu, uint64_t from, uint64_t to)
{
	if (cpu >= TRACE_CPUS_MAX || !from)
		return;
	from = from < g->from ? g->from : from;
	from = from < g->until[cpu] ? g->until[cpu] : from;
	to = to > g->to ? g->to : to;
	if (to <= from)
		return;
	g->ticks += to - from - sample_pace_paused(g->pace, from, to);
	g->until[cpu] = to;
}
