/* SPDX-License-Identifier: MIT */
/* boot_clock: see boot_clock.h. */
#include "analysis/boot_clock.h"

#include <string.h>

/* The recorder notices that the clock was set in its next pass, which may be late. */
#define LATE_NS 100000000ULL

bool boot_clock_is_same(const struct trace_clock *c)
{
	return !strcmp(c->name, "mono");
}

int boot_clock_get_start(struct trace_source *sched, uint64_t *ret_ns, struct error *e)
{
	struct trace_item item;
	int n = sched->ops->next(sched, &item, e), r;

	if (n < 0)
		return n;
	r = sched->ops->rewind(sched, e);
	if (r < 0)
		return r;
	*ret_ns = 0;
	if (n && item.type == ITEM_EVENT)
		*ret_ns = clock_event_ns(&sched->info.clock, &item.event);
	else if (n)
		*ret_ns = clock_ns(&sched->info.clock, item.loss.to_tick);
	return 0;
}

static uint64_t get_size(uint64_t add)
{
	return (int64_t)add < 0 ? -add : add;
}

/* How far from the time in which this real time held the trace began, if it is the one that the trace means. */
static uint64_t get_miss(const struct boot *b, size_t i, uint64_t began_ns)
{
	uint64_t from = b->realtimes[i].from_ns;
	uint64_t to = i + 1 < b->n_realtimes ? b->realtimes[i + 1].from_ns : INT64_MAX;
	uint64_t miss = 0;

	if ((int64_t)began_ns < (int64_t)from)
		miss = from - began_ns;
	else if ((int64_t)began_ns >= (int64_t)to)
		miss = began_ns - to;
	return miss <= LATE_NS ? 0 : miss;
}

/* Several may fit, where the clock was set back. Both clocks begin about when the machine does: the one by which they
 * differ least is the likely one. */
static uint64_t choose(const struct boot *b, int64_t own_ns, uint64_t start_ns)
{
	uint64_t best = (uint64_t)own_ns - (uint64_t)b->realtimes[0].off_ns;
	uint64_t best_miss = get_miss(b, 0, start_ns + best), add, miss;
	size_t i;

	for (i = 1; i < b->n_realtimes; i++) {
		add = (uint64_t)own_ns - (uint64_t)b->realtimes[i].off_ns;
		miss = get_miss(b, i, start_ns + add);
		if (miss > best_miss || (miss == best_miss && get_size(add) >= get_size(best)))
			continue;
		best = add;
		best_miss = miss;
	}
	return best;
}

bool boot_clock_join(const struct boot *b, const struct trace_clock *c, uint64_t start_ns,
		     uint64_t *ret_add_ns)
{
	int64_t own_ns;

	if (boot_clock_is_same(c))
		*ret_add_ns = 0;
	else if (b->n_realtimes && clock_get_own(c, &own_ns))
		*ret_add_ns = choose(b, own_ns, start_ns);
	else if (b->is_measured && c->is_measured)
		*ret_add_ns = (uint64_t)c->realtime_off_ns - (uint64_t)b->realtime_ns;
	else
		return false;
	return true;
}
