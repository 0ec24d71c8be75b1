/* SPDX-License-Identifier: MIT */
/* detail: see detail.h. */
#include "collector/detail.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/ksk.h"
#include "trace/run_source.h"
#include "trace/stream_cursor.h"

#define LOOK_EVERY 16384U	/* items */
#define BACK_EVENTS_MAX 65536U	/* in segments that are read only for what was before */
#define BACK_NS_LEAST 1000000U	/* how far back it should be known, */
#define BACK_NS_MOST 100000000U /* between these: as long as the range is */
#define SETTLED_NS 10000000000U /* a CPU that sent nothing for so long had nothing to send */

struct detail {
	struct detail_query q;
	struct store_run run;
	struct trace_source *source;
	struct block_reader *reader;
	uint64_t to_ns; /* cut */
	uint64_t from_tick, to_tick;
	uint64_t *ticks; /* by CPU: where it starts to read */
	bool final;
	struct spans *spans;
};

void detail_free(struct detail *d)
{
	if (!d)
		return;
	spans_free(d->spans);
	source_free(d->source);
	free(d->ticks);
	free(d);
}

/* --- how much it is --- */

static bool has_losses(const struct store_run *r)
{
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (r->lost[i])
			return true;
	return r->lost_unknown;
}

/* The key block of the segment that holds the tick; false if that is where the stream starts. */
static bool find_key(struct detail *d, uint32_t stream, uint64_t tick, struct block *ret)
{
	uint64_t place = d->reader->ops->seek(d->reader, stream, tick), at;

	return place && d->reader->ops->next(d->reader, stream, &place, ret, &at) == 1;
}

static uint64_t stream_place(struct detail *d, uint32_t stream)
{
	uint64_t place = d->reader->ops->seek(d->reader, stream, d->from_tick);
	struct block_start start;

	if (place)
		return place;
	d->reader->ops->start(d->reader, stream, &start);
	return start.place;
}

/* Events in blocks that lie wholly within the range, as long as they are not more than `most`. With
 * `one`, in the first segment only, wherever they lie. */
static uint64_t count_blocks(struct detail *d, uint32_t stream, uint64_t most, bool one)
{
	uint64_t place = stream_place(d, stream), at, sum = 0, until = 0, from;
	uint32_t keys = 0;
	struct block b;

	while (sum <= most && d->reader->ops->next(d->reader, stream, &place, &b, &at) == 1) {
		from = b.flags & BLOCK_KEY ? b.first_tick : until;
		until = ksk_until(until, &b);
		keys += b.flags & BLOCK_KEY ? 1 : 0;
		if (from >= d->to_tick || (one && keys > 1))
			break;
		if (one || (from >= d->from_tick && until < d->to_tick))
			sum += b.events;
	}
	return sum;
}

/* At least so many events are in the range: those of all whole segments. What key blocks say counts
 * the lost as well, so this is for runs that have lost nothing. */
static uint64_t count_segments(struct detail *d, uint32_t stream)
{
	struct block first, last;
	struct block_start start;
	uint64_t before, n;

	if (!find_key(d, stream, d->to_tick, &last))
		return 0;
	if (find_key(d, stream, d->from_tick, &first)) {
		before = first.before;
	} else {
		d->reader->ops->start(d->reader, stream, &start);
		before = start.before;
	}
	if (last.before - before <= d->q.limit / (d->source->info.cpus + 1))
		return 0; /* the blocks will tell */
	n = count_blocks(d, stream, UINT64_MAX, true);
	return last.before - before > n ? last.before - before - n : 0;
}

static bool is_too_much(struct detail *d)
{
	uint64_t sum = 0;
	uint32_t cpu;

	for (cpu = 0; cpu < d->source->info.cpus && !has_losses(&d->run) && sum <= d->q.limit;
	     cpu++)
		sum += count_segments(d, STREAM_CPU(cpu));
	if (sum > d->q.limit)
		return true;
	sum = 0;
	for (cpu = 0; cpu < d->source->info.cpus && sum <= d->q.limit; cpu++)
		sum += count_blocks(d, STREAM_CPU(cpu), d->q.limit - sum, false);
	return sum > d->q.limit;
}

static int say_too_much(const struct detail *d, struct error *e)
{
	return error_set(e, EFBIG,
			 "cannot show run %u in detail: that time has more than %llu events; ask "
			 "for less of it, or for its timeline",
			 d->q.run, (unsigned long long)d->q.limit);
}

/* --- where to begin --- */

/* One segment further back where the one that holds the range's start would tell too little. */
static void step_back(struct detail *d)
{
	uint64_t want_ns = d->to_ns - d->q.from_ns, left = BACK_EVENTS_MAX, since;
	struct block key, before;
	uint32_t cpu;

	if (want_ns < BACK_NS_LEAST)
		want_ns = BACK_NS_LEAST;
	if (want_ns > BACK_NS_MOST)
		want_ns = BACK_NS_MOST;
	if (want_ns > d->q.from_ns)
		want_ns = d->q.from_ns;
	since = clock_tick_at(&d->source->info.clock, d->q.from_ns - want_ns);
	for (cpu = 0; cpu < d->source->info.cpus; cpu++) {
		d->ticks[cpu] = d->from_tick;
		if (!find_key(d, STREAM_CPU(cpu), d->from_tick, &key) || key.first_tick < since ||
		    !find_key(d, STREAM_CPU(cpu), key.first_tick, &before) ||
		    key.before - before.before > left)
			continue;
		left -= key.before - before.before;
		d->ticks[cpu] = key.first_tick;
	}
}

static int set_range(struct detail *d, struct error *e)
{
	const struct trace_clock *c = &d->source->info.clock;
	uint64_t last_ns = clock_ns(c, d->run.last_tick);

	if (!d->run.last_tick)
		return error_set(e, ENODATA, "run %u has no events yet", d->q.run);
	if (d->q.from_ns >= d->q.to_ns)
		return error_set(e, EINVAL, "nothing lies between the two times");
	d->to_ns = d->q.to_ns;
	if (last_ns < d->to_ns) {
		d->to_ns = last_ns + 1;
		d->final = d->run.ended;
	} else {
		d->final = d->run.ended || last_ns - d->to_ns >= SETTLED_NS;
	}
	if (d->to_ns < d->q.from_ns)
		d->to_ns = d->q.from_ns;
	d->from_tick = clock_tick_at(c, d->q.from_ns);
	d->to_tick = clock_tick_at(c, d->to_ns);
	d->ticks = calloc((size_t)d->source->info.cpus + 1, sizeof(*d->ticks));
	return d->ticks ? 0 : error_set(e, ENOMEM, "out of memory");
}

int detail_open(struct detail **ret, struct store *s, const struct detail_query *q, struct error *e)
{
	static const struct store_range all = { .to_tick = UINT64_MAX };
	CLEANUP(detail) struct detail *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return error_set(e, ENOMEM, "cannot show run %u: out of memory", q->run);
	d->q = *q;
	r = store_get_run(s, q->run, &d->run, e);
	if (r >= 0)
		r = source_run_open(&d->source, s, q->run, &all, e);
	if (r < 0)
		return r;
	d->reader = source_run_reader(d->source);
	r = set_range(d, e);
	if (r < 0)
		return r;
	if (is_too_much(d))
		return say_too_much(d, e);
	*ret = take_ptr(d);
	return 0;
}

bool detail_is_final(const struct detail *d)
{
	return d->final;
}

uint64_t detail_to_ns(const struct detail *d)
{
	return d->to_ns;
}

/* --- reading --- */

static int by_tick(const void *a, const void *b)
{
	const struct trace_item *x = a, *y = b;
	uint64_t tx = item_tick(x), ty = item_tick(y);

	if (tx != ty)
		return tx < ty ? -1 : 1;
	return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* The first item of each CPU behind the range says who had it until then. */
static int add_next(struct detail *d, struct error *e)
{
	uint32_t cpus = d->source->info.cpus, cpu, n = 0, i;
	_cleanup_free_ struct trace_item *items = calloc((size_t)cpus + 1, sizeof(*items));
	const struct trace_item *item;
	bool all = true;
	int r = 0;

	if (!items)
		return error_set(e, ENOMEM, "out of memory");
	for (cpu = 0; cpu < cpus; cpu++) {
		item = source_run_peek(d->source, cpu);
		all = all && item;
		if (item)
			items[n++] = *item;
	}
	d->final = d->final || all;
	qsort(items, n, sizeof(*items), by_tick);
	for (i = 0; i < n && r >= 0; i++)
		r = spans_add(d->spans, &items[i], e);
	return r;
}

static bool is_behind(const struct detail *d, const struct trace_item *item)
{
	const struct trace_clock *c = &d->source->info.clock;

	if (item->type == ITEM_LOSS)
		return clock_ns(c, item->loss.from_tick) >= d->to_ns;
	return clock_event_ns(c, &item->event) >= d->to_ns;
}

static int read_items(struct detail *d, struct error *e)
{
	struct trace_item item;
	uint64_t n = 0;
	int r, got;

	while ((got = d->source->ops->next(d->source, &item, e)) > 0) {
		if (is_behind(d, &item))
			break;
		r = spans_add(d->spans, &item, e);
		if (r < 0)
			return r;
		if (d->spans->events > d->q.limit)
			return say_too_much(d, e);
		if (++n % LOOK_EVERY == 0 && d->q.is_over && d->q.is_over(d->q.context))
			return error_set(e, ECANCELED, "the client has gone");
	}
	return got < 0 ? got : add_next(d, e);
}

int detail_read(struct detail *d, const struct spans **ret, struct error *e)
{
	int r;

	r = spans_new(&d->spans, &d->source->info, d->q.from_ns, d->to_ns);
	if (r < 0)
		return error_set(e, r, "cannot show run %u: %s", d->q.run, strerror(-r));
	step_back(d);
	source_run_seek_segments(d->source, d->ticks);
	r = read_items(d, e);
	if (r >= 0)
		r = spans_finish(d->spans, e);
	if (r < 0)
		return r;
	*ret = d->spans;
	return 0;
}
