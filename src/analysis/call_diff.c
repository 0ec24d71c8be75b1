/* SPDX-License-Identifier: MIT */
/* call_diff: see call_diff.h. Both lists are sorted by name and object, and merged. */
#include "analysis/call_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct call_diff {
	const struct call_report *reports[2];
	struct call_change *changes;
	size_t n;
};

static int compare_names(const struct call_change *a, const struct call_change *b)
{
	int c = strcmp(a->name, b->name);

	return c ? c : strcmp(a->object, b->object);
}

/* Two functions of one name and file (static ones of two sources) are told apart by their order. */
static uint32_t first_function(const struct call_change *c)
{
	return c->before ? c->before->function : c->after->function;
}

static int compare_whole(const void *pa, const void *pb)
{
	const struct call_change *a = pa, *b = pb;
	uint32_t x = first_function(a), y = first_function(b);
	int c = compare_names(a, b);

	return c ? c : (x > y) - (x < y);
}

static struct call_change *list_of(const struct call_report *r, bool after, size_t *ret_n)
{
	const struct call_stat *s = call_report_get(r, ret_n);
	struct call_change *list = calloc(*ret_n + 1, sizeof(*list));
	const struct function *f;
	size_t i;

	for (i = 0; list && i < *ret_n; i++) {
		f = call_names_get(call_report_names(r), s[i].function);
		list[i].name = f->name;
		list[i].object = f->object;
		*(after ? &list[i].after : &list[i].before) = &s[i];
	}
	if (list)
		qsort(list, *ret_n, sizeof(*list), compare_whole);
	return list;
}

static void merge(struct call_diff *d, const struct call_change *a, size_t n_a,
		  const struct call_change *b, size_t n_b)
{
	size_t i = 0, k = 0;
	int c;

	while (i < n_a || k < n_b) {
		c = i == n_a ? 1 : k == n_b ? -1 : compare_names(&a[i], &b[k]);
		d->changes[d->n] = c <= 0 ? a[i] : b[k];
		if (!c)
			d->changes[d->n].after = b[k].after;
		i += c <= 0;
		k += c >= 0;
		d->n++;
	}
}

int call_diff_new(struct call_diff **ret, const struct call_report *before,
		  const struct call_report *after, struct error *e)
{
	CLEANUP(call_diff) struct call_diff *d = calloc(1, sizeof(*d));
	_cleanup_free_ struct call_change *a = NULL, *b = NULL;
	size_t n_a = 0, n_b = 0;

	a = list_of(before, false, &n_a);
	b = list_of(after, true, &n_b);
	if (d)
		d->changes = calloc(n_a + n_b + 1, sizeof(*d->changes));
	if (!a || !b || !d || !d->changes)
		return error_set(e, ENOMEM, "cannot compare: out of memory");
	d->reports[0] = before;
	d->reports[1] = after;
	merge(d, a, n_a, b, n_b);
	call_diff_sort(d, CALL_BY_LOCAL);
	*ret = take_ptr(d);
	return 0;
}

void call_diff_free(struct call_diff *d)
{
	if (!d)
		return;
	free(d->changes);
	free(d);
}

static int compare_growth(const void *pa, const void *pb, void *data)
{
	const struct call_change *a = pa, *b = pb;
	const enum call_order *order = data;
	int64_t x = call_change_by(a, *order), y = call_change_by(b, *order);

	if (*order != CALL_BY_NAME && x != y)
		return x < y ? 1 : -1;
	return compare_whole(a, b);
}

void call_diff_sort(struct call_diff *d, enum call_order order)
{
	if (d->n)
		qsort_r(d->changes, d->n, sizeof(*d->changes), compare_growth, &order);
}

const struct call_report *call_diff_report(const struct call_diff *d, int which)
{
	return d->reports[which];
}

const struct call_change *call_diff_get(const struct call_diff *d, size_t *ret_n)
{
	*ret_n = d->n;
	return d->changes;
}
