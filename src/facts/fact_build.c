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

int fact_build_run(const struct fact_build *b, struct fact_set *set, struct error *e)
{
	int r = -ENODATA;

	switch ((enum fact_kind)set->key.kind) {
	case FACT_PROFILE:
	case FACT_CYCLES:
		r = fact_build_profile(b, set, e);
		break;
	case FACT_VM:
		r = fact_build_vm(b, set, e);
		break;
	case FACT_SCHED:
		r = fact_build_sched(b, set, e);
		break;
	case FACT_KINDS:
		break;
	}
	if (r >= 0)
		set->version = set->events;
	return r;
}
