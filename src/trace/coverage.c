/* SPDX-License-Identifier: MIT */
/* coverage: see coverage.h. */
#include "trace/coverage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "store/store_reader.h"
#include "trace/info_meta.h"
#include "trace/sample_pace.h"

/* A stream lacks this. */
struct hole {
	uint32_t stream;
	uint64_t from, to;
};

/* A run, as far as it matters here. */
struct part {
	const struct store_run *run;
	struct trace_info info;
	struct sample_pace pace;
	struct hole *holes;
	size_t n_holes, room;
	uint64_t from, to; /* ticks */
	uint64_t from_ns, to_ns, planned_ns, lost_ns;
	int64_t wall_off_ns; /* of the collector's real time; 0: it is by the times of arrival */
};

static void part_done(struct part *p)
{
	info_done(&p->info);
	sample_pace_done(&p->pace);
	free(p->holes);
	p->holes = NULL;
}

/* --- one run --- */

static int read_description(struct part *p, struct store *s, struct error *e)
{
	const struct store_range all = { .to_tick = UINT64_MAX };
	struct block_reader *reader;
	uint64_t place = 0, at;
	struct block b;
	int r = store_reader_open(&reader, s, p->run->number, &all, e);

	if (r < 0)
		return r;
	while (r == 0 && (r = reader->ops->next(reader, STREAM_META, &place, &b, &at)) == 1) {
		r = 0;
		if (b.codec != CODEC_META || !b.payload)
			continue;
		r = info_decode(&p->info, NULL, b.payload, b.payload_len);
		if (r == 0)
			r = sample_pace_decode(&p->pace, b.payload, b.payload_len);
	}
	reader->ops->free(reader);
	sample_pace_settle(&p->pace);
	return r < 0 ? error_set(e, -r, "cannot read run %u: its description is not understood",
				 p->run->number)
		     : 0;
}

/* What the collector itself has dropped was recorded. What is missing from the first event on is the sum of rows that are
 * gone; from tick 0 on, what a stream lacked since the run began. */
static int add_hole(void *context, const struct store_loss *l)
{
	struct part *p = context;
	uint64_t from = l->from_tick ? l->from_tick : p->run->first_tick;
	int r;

	if (l->cause == LOSS_STORE || (l->from_tick && from <= p->run->first_tick) ||
	    l->to_tick <= from || l->stream == STREAM_META || stream_is_func(l->stream))
		return 0;
	r = array_grow(&p->holes, p->n_holes, &p->room, sizeof(*p->holes), COVERAGE_ROWS_MAX);
	if (r < 0)
		return r == -E2BIG ? 1 : r;
	p->holes[p->n_holes++] = (struct hole){ l->stream, from, l->to_tick };
	return 0;
}

static int compare_holes(const void *a, const void *b)
{
	const struct hole *x = a, *y = b;

	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static uint64_t length_ns(const struct part *p, uint64_t ticks)
{
	const struct trace_clock *c = &p->info.clock;

	return clock_ns(c, p->from + ticks) - clock_ns(c, p->from);
}

/* Several causes may have the same hole; and a pause in it is none. */
static uint64_t sum_holes(const struct part *p)
{
	uint64_t sum = 0, until = 0, from;
	size_t i;

	for (i = 0; i < p->n_holes; i++) {
		const struct hole *h = &p->holes[i];

		if (i && h->stream != h[-1].stream)
			until = 0;
		from = h->from > until ? h->from : until;
		if (h->to <= from)
			continue;
		sum += h->to - from - sample_pace_paused(&p->pace, from, h->to);
		until = h->to;
	}
	return sum;
}

static void measure(struct part *p)
{
	uint64_t lanes = (uint64_t)p->run->cpus + p->run->samplers, from, to;

	p->from = p->run->first_tick;
	p->to = p->run->last_tick;
	if (sample_pace_span(&p->pace, &from, &to)) {
		p->from = from < p->from || !p->from ? from : p->from;
		p->to = to > p->to ? to : p->to;
	}
	if (p->n_holes)
		qsort(p->holes, p->n_holes, sizeof(*p->holes), compare_holes);
	p->from_ns = clock_ns(&p->info.clock, p->from);
	p->to_ns = clock_ns(&p->info.clock, p->to);
	p->planned_ns = length_ns(p, sample_pace_paused(&p->pace, p->from, p->to));
	p->lost_ns = length_ns(p, sum_holes(p) / (lanes ? lanes : 1));
}

static bool is_measurable(const struct store_run *run)
{
	return (run->cpus || run->samplers) && run->last_tick;
}

static int part_load(struct part *p, struct store *s, const struct store_run *run, struct error *e)
{
	struct store_clock clock;
	int r;

	memset(p, 0, sizeof(*p));
	p->run = run;
	if (info_init(&p->info) < 0)
		return error_set(e, ENOMEM, "cannot measure run %u: out of memory", run->number);
	r = read_description(p, s, e);
	if (r == 0)
		r = store_ledger(s, run->number, add_hole, p, e);
	if (r == -ENOMEM)
		error_set(e, ENOMEM, "cannot measure run %u: out of memory", run->number);
	if (r < 0)
		return r;
	measure(p);
	if (store_get_clock(s, run->number, &clock) == 0)
		p->wall_off_ns = clock.off_ns;
	return 0;
}

static void add_part(struct coverage *c, const struct part *p)
{
	c->runs++;
	c->total_ns += p->to_ns - p->from_ns;
	c->planned_ns += p->planned_ns;
	c->lost_ns += p->lost_ns;
}

int coverage_of_run(struct store *s, const struct store_run *run, struct coverage *ret,
		    struct error *e)
{
	struct part p;
	int r;

	memset(ret, 0, sizeof(*ret));
	if (!is_measurable(run))
		return error_set(e, ENODATA, "run %u is no recording over time", run->number);
	r = part_load(&p, s, run, e);
	if (r == 0)
		add_part(ret, &p);
	part_done(&p);
	return r;
}

/* --- all of a device --- */

struct list {
	const struct store_run *like;
	struct store_run *runs;
	size_t n, room;
};

static int add_run(void *context, const struct store_run *run)
{
	struct list *l = context;
	int r;

	if (!is_measurable(run) || strcmp(store_run_kind(run), store_run_kind(l->like)) != 0)
		return 0;
	r = array_grow(&l->runs, l->n, &l->room, sizeof(*l->runs), COVERAGE_RUNS_MAX);
	if (r < 0)
		return r == -E2BIG ? 1 : r; /* those before are too many to look at */
	l->runs[l->n++] = *run;
	return 0;
}

/* Gaps lie between a run's end and the beginning of the next. */
static int by_begin(const void *a, const void *b)
{
	const struct store_run *x = a, *y = b;

	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Within a boot by the clock of the machine itself, which all recorders have; else by the collector's. */
static uint64_t gap_ns(const struct part *before, const struct part *after)
{
	uint64_t end = before->to_ns, begin = after->from_ns;
	bool is_same = !memcmp(&before->run->boot, &after->run->boot, sizeof(before->run->boot)) &&
		       !strcmp(before->info.clock.name, after->info.clock.name);

	if (sample_pace_is_complete(&before->pace))
		return 0;
	if (!is_same) {
		end = before->wall_off_ns ? end + (uint64_t)before->wall_off_ns
					  : before->run->last_ns;
		begin = after->wall_off_ns ? begin + (uint64_t)after->wall_off_ns
					   : after->run->first_ns;
	}
	return begin > end ? begin - end : 0;
}

static int add_all(struct coverage *c, struct store *s, const struct list *l, struct error *e)
{
	struct part parts[2] = { { .run = NULL }, { .run = NULL } };
	size_t i, n;
	int r = 0;

	for (i = n = 0; r == 0 && i < l->n; i++, n++) {
		struct part *p = &parts[n % 2];
		uint64_t gap;

		part_done(p);
		r = part_load(p, s, &l->runs[i], e);
		if (r < 0)
			break;
		gap = n ? gap_ns(&parts[(n + 1) % 2], p) : 0;
		c->gaps_ns += gap;
		c->total_ns += gap;
		add_part(c, p);
	}
	part_done(&parts[0]);
	part_done(&parts[1]);
	return r;
}

int coverage_of_device(struct store *s, const struct store_run *run, struct coverage *ret,
		       struct error *e)
{
	struct list l = { .like = run };
	int r;

	memset(ret, 0, sizeof(*ret));
	if (!is_measurable(run))
		return error_set(e, ENODATA, "run %u is no recording over time", run->number);
	r = store_runs(s, &run->device, add_run, &l, e);
	if (r == -ENOMEM)
		error_set(e, ENOMEM, "cannot list the runs: out of memory");
	if (r >= 0) {
		qsort(l.runs, l.n, sizeof(*l.runs), by_begin);
		r = add_all(ret, s, &l, e);
	}
	free(l.runs);
	return r;
}

double coverage_ratio(const struct coverage *c)
{
	uint64_t missing = c->lost_ns + c->gaps_ns;

	return c->total_ns ? (double)missing / (double)c->total_ns : 0;
}
