/* SPDX-License-Identifier: MIT */
/* fact_build: see fact_build.h. */
#include "facts/fact_build.h"

#include <errno.h>

#define NS_PER_S 1000000000ULL

bool fact_build_window(const struct fact_build *b, const struct fact_key *k,
		       struct fact_window *ret)
{
	int64_t from, to;
	uint64_t before;

	if (__builtin_sub_overflow((int64_t)(k->start_s * NS_PER_S), b->off_ns, &from) ||
	    __builtin_add_overflow(from, (int64_t)(k->length_s * NS_PER_S), &to) || to <= 0)
		return false;
	ret->from_ns = from < 0 ? 0 : (uint64_t)from;
	ret->to_ns = (uint64_t)to;
	before = ret->from_ns > FACT_BEFORE_NS ? ret->from_ns - FACT_BEFORE_NS : 0;
	ret->range.from_tick =
		clock_tick_at(b->clock, fact_kind_is_profile(k->kind) ? ret->from_ns : before);
	ret->range.to_tick = clock_tick_at(b->clock, ret->to_ns);
	return true;
}

static struct fact_part *find_part(struct fact_part *parts, size_t n, enum fact_kind kind)
{
	size_t i = 0;

	while (i < n && parts[i].set->key.kind != kind)
		i++;
	return i < n ? &parts[i] : NULL;
}

void fact_build_run(const struct fact_build *b, struct fact_part *parts, size_t n)
{
	struct fact_part *vm = find_part(parts, n, FACT_VM);
	struct fact_part *profile = find_part(parts, n, FACT_PROFILE);
	struct fact_part *sched = find_part(parts, n, FACT_SCHED);
	size_t i;

	for (i = 0; i < n; i++)
		parts[i].result = -ENODATA;
	if (vm || profile)
		fact_build_samples(b, vm, profile);
	if (sched)
		sched->result = fact_build_sched(b, sched->set, sched->error);
	for (i = 0; i < n; i++)
		if (parts[i].result >= 0)
			parts[i].set->version = parts[i].set->events;
}
