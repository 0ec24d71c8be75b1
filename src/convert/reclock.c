/* SPDX-License-Identifier: MIT */
/* reclock: see reclock.h. */
#include "convert/reclock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"

struct reclock {
	struct trace_source source;
	struct trace_source *inner;
	uint64_t skip_below; /* after a seek: ticks before this one are passed over */
};

static int reclock_event(const struct reclock *c, struct sched_event *ev, struct error *e)
{
	const struct trace_clock *clock = &c->source.info.clock;
	uint64_t ns = clock_event_ns(&c->inner->info.clock, ev);
	uint64_t tick = clock_tick_near(clock, ns);
	int64_t off = (int64_t)(ns - clock_ns(clock, tick));

	if (off < INT32_MIN || off > INT32_MAX)
		return error_set(e, ERANGE,
				 "cannot express the stamp %" PRIu64 " ns in ticks of the counter",
				 ns);
	ev->tick = tick;
	ev->tick_off_ns = (int32_t)off;
	return 0;
}

static uint64_t reclock_tick(const struct reclock *c, uint64_t tick)
{
	if (!tick)
		return 0;
	return clock_tick_near(&c->source.info.clock, clock_ns(&c->inner->info.clock, tick));
}

static int reclock_end(struct reclock *c, int r, struct error *e)
{
	c->source.info.skipped = c->inner->info.skipped;
	if (info_copy_tasks(&c->source.info, &c->inner->info) < 0)
		return error_set(e, ENOMEM, "cannot convert the clock: out of memory");
	return r;
}

static int reclock_next(struct trace_source *s, struct trace_item *ret, struct error *e)
{
	struct reclock *c = (struct reclock *)s;
	int r;

	for (;;) {
		r = c->inner->ops->next(c->inner, ret, e);
		if (r <= 0)
			return reclock_end(c, r, e);
		if (ret->type == ITEM_EVENT) {
			r = reclock_event(c, &ret->event, e);
			if (r < 0)
				return r;
			if (ret->event.tick >= c->skip_below)
				return 1;
		} else {
			ret->loss.from_tick = reclock_tick(c, ret->loss.from_tick);
			ret->loss.to_tick = reclock_tick(c, ret->loss.to_tick);
			if (ret->loss.to_tick >= c->skip_below)
				return 1;
		}
	}
}

static int reclock_rewind(struct trace_source *s, struct error *e)
{
	struct reclock *c = (struct reclock *)s;
	int r = c->inner->ops->rewind(c->inner, e);

	if (r == 0)
		c->skip_below = 0;
	return r;
}

/* Stamps up to half a tick before the tick's own time belong to it as well. */
static int reclock_seek(struct trace_source *s, uint64_t tick, struct error *e)
{
	struct reclock *c = (struct reclock *)s;
	uint64_t ns = tick ? clock_ns(&s->info.clock, tick - 1) : 0;
	int r = c->inner->ops->seek(c->inner, clock_tick_at(&c->inner->info.clock, ns), e);

	if (r == 0)
		c->skip_below = tick;
	return r;
}

static void reclock_progress(const struct trace_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct reclock *c = (const struct reclock *)s;

	*ret_done = 0;
	*ret_total = 0;
	if (c->inner->ops->progress)
		c->inner->ops->progress(c->inner, ret_done, ret_total);
}

static void reclock_free(struct trace_source *s)
{
	struct reclock *c = (struct reclock *)s;

	source_free(c->inner);
	info_done(&s->info);
	free(c);
}

static const struct trace_source_ops reclock_ops = {
	.next = reclock_next,
	.rewind = reclock_rewind,
	.progress = reclock_progress,
	.free = reclock_free,
};
static const struct trace_source_ops reclock_ops_seek = {
	.next = reclock_next,
	.rewind = reclock_rewind,
	.seek = reclock_seek,
	.progress = reclock_progress,
	.free = reclock_free,
};

int reclock_source_new(struct trace_source **ret, struct trace_source *inner,
		       const struct trace_clock *clock, struct error *e)
{
	_cleanup_free_ struct reclock *c = calloc(1, sizeof(*c));

	if (!c || info_dup(&c->source.info, &inner->info) < 0)
		return error_set(e, ENOMEM, "cannot convert the clock: out of memory");
	c->source.ops = inner->ops->seek ? &reclock_ops_seek : &reclock_ops;
	c->source.info.clock = *clock;
	c->inner = inner;
	*ret = &c->source;
	c = NULL;
	return 0;
}
