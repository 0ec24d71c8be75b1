/* SPDX-License-Identifier: MIT */
/* call_report: see call_report.h. */
#include "analysis/call_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

struct call_report {
	const struct call_names *names;
	struct call_stat *stats; /* while it is made: by function; then as sorted */
	size_t n, room;
	struct call_totals totals;
};

const char *const call_order_words[CALL_ORDERS + 1] = {
	[CALL_BY_LOCAL] = "local", [CALL_BY_TOTAL] = "total", [CALL_BY_CALLS] = "calls",
	[CALL_BY_AVERAGE] = "avg", [CALL_BY_MAX] = "max",     [CALL_BY_NAME] = "name",
	[CALL_ORDERS] = NULL,
};

static int begin(void *data, const struct call_at *at)
{
	struct call_report *r = data;
	int rc;

	while (r->n <= at->call->function) {
		rc = array_grow(&r->stats, r->n, &r->room, sizeof(*r->stats), FUNCTIONS_MAX);
		if (rc < 0)
			return rc;
		memset(&r->stats[r->n], 0, sizeof(*r->stats));
		r->stats[r->n].function = (uint32_t)r->n;
		r->n++;
	}
	r->stats[at->call->function].calls++;
	return 0;
}

static int end(void *data, const struct call_at *at)
{
	struct call_report *r = data;
	struct call_stat *s = &r->stats[at->call->function];
	uint64_t ns = at->ns - at->call->begin_ns;

	s->ends[at->end]++;
	if (!at->call->recursive)
		s->total_ns += ns;
	call_split_add(&s->local, &at->call->local);
	if (at->end != CALL_RETURNED && at->end != CALL_UNWOUND)
		return 0;
	if (at->call->carried) {
		s->partial++;
		return 0;
	}
	if (call_stat_complete(s) == 1 || ns < s->min_ns)
		s->min_ns = ns;
	if (ns > s->max_ns)
		s->max_ns = ns;
	s->sum_ns += ns;
	return 0;
}

static const struct call_listener listener = { .begin = begin, .end = end };

/* Functions are numbered when a call of them is seen, but an exit alone gives a number, too. */
static void drop_uncalled(struct call_report *r)
{
	size_t i, kept = 0;

	for (i = 0; i < r->n; i++)
		if (r->stats[i].calls)
			r->stats[kept++] = r->stats[i];
	r->n = kept;
}

int call_report_new(struct call_report **ret, const struct call_walk *w, struct error *e)
{
	CLEANUP(call_report) struct call_report *r = calloc(1, sizeof(*r));
	struct call_walk mine = *w;
	int rc;

	if (!r)
		return error_set(e, ENOMEM, "cannot make the report: out of memory");
	mine.listener = &listener;
	mine.data = r;
	r->names = w->names;
	rc = call_walk_run(&mine, &r->totals, e);
	if (rc < 0)
		return rc;
	drop_uncalled(r);
	call_report_sort(r, CALL_BY_LOCAL);
	*ret = take_ptr(r);
	return 0;
}

void call_report_free(struct call_report *r)
{
	if (!r)
		return;
	free(r->stats);
	free(r);
}

/* --- order --- */

struct sorting {
	const struct call_names *names;
	enum call_order order;
};

uint64_t call_stat_figure(const struct call_stat *s, enum call_order order)
{
	if (!s)
		return 0;
	switch (order) {
	case CALL_BY_TOTAL:
		return s->total_ns;
	case CALL_BY_CALLS:
		return s->calls;
	case CALL_BY_AVERAGE:
		return call_stat_average(s);
	case CALL_BY_MAX:
		return s->max_ns;
	case CALL_BY_NAME:
		return 0;
	default:
		return call_split_sum(&s->local);
	}
}

/* Largest first; what is equal by name, and of one name by the order of their first calls. */
static int compare(const void *pa, const void *pb, void *data)
{
	const struct call_stat *a = pa, *b = pb;
	const struct sorting *s = data;
	uint64_t x = call_stat_figure(a, s->order), y = call_stat_figure(b, s->order);
	int names;

	if (x != y)
		return x < y ? 1 : -1;
	names = strcmp(call_names_get(s->names, a->function)->name,
		       call_names_get(s->names, b->function)->name);
	return names ? names : (a->function > b->function) - (a->function < b->function);
}

void call_report_sort(struct call_report *r, enum call_order order)
{
	struct sorting s = { r->names, order };

	if (r->n)
		qsort_r(r->stats, r->n, sizeof(*r->stats), compare, &s);
}

void call_report_filter(struct call_report *r, const char *pattern, uint64_t min_ns)
{
	size_t i, kept = 0;

	for (i = 0; i < r->n; i++)
		if (r->stats[i].total_ns >= min_ns &&
		    call_names_fits(r->names, r->stats[i].function, pattern))
			r->stats[kept++] = r->stats[i];
	r->n = kept;
}

const struct call_stat *call_report_get(const struct call_report *r, size_t *ret_n)
{
	*ret_n = r->n;
	return r->stats;
}

const struct call_totals *call_report_totals(const struct call_report *r)
{
	return &r->totals;
}

const struct call_split *call_report_local(const struct call_report *r)
{
	return &r->totals.counts.local;
}

const struct call_names *call_report_names(const struct call_report *r)
{
	return r->names;
}
