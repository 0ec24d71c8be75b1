/* SPDX-License-Identifier: MIT */
/* boot_layout: see boot_layout.h. */
#include "chart/boot_layout.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "chart/boot_sign.h"

/* A recording that starts later than this after the kernel is not of its boot: its axis starts at 0. */
#define KERNEL_ZERO_NS 600000000000ULL
#define SHARE_LEAST 50U /* thousandths of a span's time from which a sleeper counts as running */

/* --- scale --- */

double boot_scale_x(const struct boot_scale *s, uint64_t ns)
{
	double length = (double)(s->to_ns - s->from_ns);

	return ((double)ns - (double)s->from_ns) / length * s->width;
}

bool boot_scale_pixels(const struct boot_scale *s, uint64_t from_ns, uint64_t to_ns,
		       uint32_t ret[2])
{
	double a = floor(boot_scale_x(s, from_ns)), b = ceil(boot_scale_x(s, to_ns));

	if (to_ns < s->from_ns || from_ns > s->to_ns)
		return false;
	if (a > s->width - 1.0)
		a = s->width - 1.0;
	ret[0] = a < 0 ? 0 : (uint32_t)a;
	ret[1] = b > s->width ? s->width : b < 0 ? 0 : (uint32_t)b;
	if (ret[1] <= ret[0])
		ret[1] = ret[0] + 1;
	return true;
}

uint64_t boot_scale_step(const struct boot_scale *s, uint32_t least_px)
{
	double least = (double)(s->to_ns - s->from_ns) * least_px / s->width;
	uint64_t unit = 1;

	while ((double)unit * 10 <= least && unit < UINT64_MAX / 100)
		unit *= 10;
	return (double)unit >= least	   ? unit
	       : (double)unit * 2 >= least ? unit * 2
	       : (double)unit * 5 >= least ? unit * 5
					   : unit * 10;
}

/* --- rows --- */

static bool is_in_sight(const struct boot_layout *l, const struct boot_process *p)
{
	return p->to_ns >= l->from_ns && p->from_ns <= l->to_ns;
}

static bool is_short(const struct boot_process *p, uint64_t min_ns)
{
	return p->to_ns - p->from_ns < min_ns && !p->is_alive && !p->was_there;
}

/* The parent stands before the child, so its row is known. */
static uint32_t row_above(const struct boot_layout *l, const struct boot *b, uint32_t i)
{
	uint32_t parent = b->processes[i].parent;

	return parent < i ? l->row_of[parent] : BOOT_NONE;
}

static void place(struct boot_layout *l, const struct boot *b, uint32_t i,
		  const struct boot_chart_options *o)
{
	const struct boot_process *p = &b->processes[i];
	uint32_t above = row_above(l, b, i);
	struct boot_row *row;

	l->row_of[i] = BOOT_NONE;
	if (!is_in_sight(l, p))
		return;
	if (p->is_kernel && !o->kernel) {
		l->n_hidden++;
		return;
	}
	if (is_short(p, o->min_ns) && above != BOOT_NONE) {
		l->rows[above].folded++;
		l->row_of[i] = above;
		return;
	}
	row = &l->rows[l->n_rows];
	row->process = i;
	row->parent = above;
	row->depth = above == BOOT_NONE ? 0 : l->rows[above].depth + 1;
	row->folded = 0;
	l->row_of[i] = (uint32_t)l->n_rows++;
}

static void set_times(struct boot_layout *l, const struct boot *b,
		      const struct boot_chart_options *o)
{
	l->from_ns = o->from_ns > b->from_ns ? o->from_ns : b->from_ns;
	l->to_ns = o->to_ns && o->to_ns < b->to_ns ? o->to_ns : b->to_ns;
	if (l->from_ns >= l->to_ns) {
		l->from_ns = b->from_ns;
		l->to_ns = b->to_ns > b->from_ns ? b->to_ns : b->from_ns + 1;
	}
	l->base_ns = o->other || b->from_ns > KERNEL_ZERO_NS ? b->from_ns : 0;
}

int boot_layout_new(struct boot_layout **ret, const struct boot *b,
		    const struct boot_chart_options *o, struct error *e)
{
	CLEANUP(boot_layout) struct boot_layout *l = calloc(1, sizeof(*l));
	uint32_t i;

	if (l) {
		l->rows = calloc(b->n_processes + 1, sizeof(*l->rows));
		l->row_of = calloc(b->n_processes + 1, sizeof(*l->row_of));
	}
	if (!l || !l->rows || !l->row_of)
		return error_set(e, ENOMEM, "cannot draw the chart: out of memory");
	set_times(l, b, o);
	for (i = 0; i < b->n_processes; i++)
		place(l, b, i, o);
	*ret = take_ptr(l);
	return 0;
}

void boot_layout_free(struct boot_layout *l)
{
	if (!l)
		return;
	free(l->rows);
	free(l->row_of);
	free(l);
}

/* --- pixels --- */

/* What one pixel has of a process. */
struct sum {
	double state_ns[BOOT_STATES], ran_ns, all_ns;
};

static void add_span(struct sum *sum, const struct boot_span *s, double from, double to)
{
	double a = (double)s->from_ns > from ? (double)s->from_ns : from;
	double b = (double)s->to_ns < to ? (double)s->to_ns : to, ran;

	if (b <= a || s->state >= BOOT_STATES)
		return;
	ran = (b - a) * s->share / 1000;
	sum->all_ns += b - a;
	sum->ran_ns += ran;
	if (s->state == BOOT_RUNNING || s->share < SHARE_LEAST)
		ran = 0;
	sum->state_ns[BOOT_RUNNING] += ran;
	sum->state_ns[s->state] += b - a - ran;
}

static uint8_t choose_state(const struct sum *sum)
{
	static const uint8_t order[2][4] = {
		{ BOOT_RUNNING, BOOT_DISK_WAIT, BOOT_RUNNABLE, BOOT_STOPPED },
		{ BOOT_SLEEPING, BOOT_ZOMBIE, BOOT_UNKNOWN, BOOT_UNKNOWN },
	};
	uint8_t best = BOOT_UNKNOWN;
	int group, i;

	for (group = 0; group < 2; group++) {
		double most = 0;

		for (i = 0; i < 4; i++)
			if (sum->state_ns[order[group][i]] > most) {
				best = order[group][i];
				most = sum->state_ns[best];
			}
		if (most > 0)
			return best;
	}
	return best;
}

/* The first span that ends behind this time. */
static size_t find_span(const struct boot_process *p, double ns)
{
	size_t low = 0, high = p->n_spans;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if ((double)p->spans[middle].to_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct boot_stretch look_at(const struct boot_scale *s, const struct boot_process *p,
				   uint32_t px, size_t *at)
{
	double length = (double)(s->to_ns - s->from_ns) / s->width;
	double from = (double)s->from_ns + length * px, to = from + length;
	struct sum sum = { .ran_ns = 0 };
	struct boot_stretch run = { .from_px = px, .to_px = px + 1 };
	size_t i;

	while (*at < p->n_spans && (double)p->spans[*at].to_ns <= from)
		++*at;
	for (i = *at; i < p->n_spans && (double)p->spans[i].from_ns < to; i++)
		add_span(&sum, &p->spans[i], from, to);
	run.state = choose_state(&sum);
	/* A process that lived for no time, or at the very edge: what its nearest span says. */
	if (sum.all_ns <= 0 && p->n_spans) {
		const struct boot_span *near = &p->spans[*at < p->n_spans ? *at : p->n_spans - 1];

		run.state = near->state;
		sum.all_ns = 1;
		sum.ran_ns = near->share / 1000.0;
	}
	if (run.state == BOOT_RUNNING && sum.all_ns > 0)
		run.level =
			(uint8_t)boot_sign_level((uint32_t)(sum.ran_ns / sum.all_ns * 1000 + 0.5));
	return run;
}

size_t boot_layout_runs(const struct boot_scale *s, const struct boot_process *p,
			struct boot_stretch *out)
{
	uint32_t px[2], x;
	size_t n = 0, at;

	if (!boot_scale_pixels(s, p->from_ns, p->to_ns, px))
		return 0;
	at = find_span(p, (double)s->from_ns);
	for (x = px[0]; x < px[1]; x++) {
		struct boot_stretch run = look_at(s, p, x, &at);

		if (n && out[n - 1].state == run.state && out[n - 1].level == run.level)
			out[n - 1].to_px = run.to_px;
		else
			out[n++] = run;
	}
	return n;
}

/* --- series --- */

/* Adds a stretch's value to the pixels that it covers. */
static void spread(const struct boot_scale *s, double stretch[2], double value, double *sums[2])
{
	double length = (double)(s->to_ns - s->from_ns) / s->width;
	double a = (stretch[0] - (double)s->from_ns) / length;
	double b = (stretch[1] - (double)s->from_ns) / length;
	double x;

	if (a < 0)
		a = 0;
	if (b > s->width)
		b = s->width;
	for (x = floor(a); x < b; x++) {
		double part = (b < x + 1 ? b : x + 1) - (a > x ? a : x);

		sums[0][(size_t)x] += part * value;
		sums[1][(size_t)x] += part;
	}
}

void boot_layout_series(const struct boot_scale *s, const struct boot_series *series, double *out,
			double *scratch)
{
	double *sums[2] = { out, scratch };
	size_t i;

	for (i = 0; i < s->width; i++)
		out[i] = scratch[i] = 0;
	for (i = 1; i < series->n; i++) {
		double stretch[2] = { (double)series->ns(series->data, i - 1),
				      (double)series->ns(series->data, i) };

		if (stretch[1] > stretch[0])
			spread(s, stretch, series->value(series->data, i), sums);
	}
	for (i = 0; i < s->width; i++)
		out[i] = scratch[i] > 0 ? out[i] / scratch[i] : (double)NAN;
}
