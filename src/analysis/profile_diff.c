/* SPDX-License-Identifier: MIT */
/* profile_diff: see profile_diff.h. */
#include "analysis/profile_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct profile_diff {
	const struct profile_report *reports[2];
	enum profile_value value;
	enum profile_order order;
	struct profile_change *list;
	size_t n;
};

/* --- rows --- */

static int compare_rows(const struct profile_row *x, const struct profile_row *y)
{
	int r = strcmp(x->name, y->name);

	return r ? r : strcmp(x->object, y->object);
}

static int compare_pointers(const void *a, const void *b)
{
	return compare_rows(*(const struct profile_row *const *)a,
			    *(const struct profile_row *const *)b);
}

static const struct profile_row **by_name(const struct profile_report *r, size_t *ret_n)
{
	const struct profile_row *rows = profile_report_get(r, ret_n);
	const struct profile_row **list = calloc(*ret_n + 1, sizeof(*list));
	size_t i;

	for (i = 0; list && i < *ret_n; i++)
		list[i] = &rows[i];
	if (list && *ret_n)
		qsort(list, *ret_n, sizeof(*list), compare_pointers);
	return list;
}

static void push(struct profile_diff *d, const struct profile_row *before,
		 const struct profile_row *after)
{
	const struct profile_row *any = after ? after : before;

	d->list[d->n++] = (struct profile_change){ .name = any->name,
						   .object = any->object,
						   .before = before,
						   .after = after };
}

static void join(struct profile_diff *d, const struct profile_row **a, size_t n_a,
		 const struct profile_row **b, size_t n_b)
{
	size_t i = 0, k = 0;
	int order;

	while (i < n_a || k < n_b) {
		order = i == n_a ? 1 : k == n_b ? -1 : compare_rows(a[i], b[k]);
		if (order < 0)
			push(d, a[i++], NULL);
		else if (order > 0)
			push(d, NULL, b[k++]);
		else
			push(d, a[i++], b[k++]);
	}
}

int profile_diff_new(struct profile_diff **ret, const struct profile_report *before,
		     const struct profile_report *after, enum profile_value value, struct error *e)
{
	CLEANUP(profile_diff) struct profile_diff *d = calloc(1, sizeof(*d));
	size_t n_a = 0, n_b = 0;
	_cleanup_free_ const struct profile_row **a = by_name(before, &n_a);
	_cleanup_free_ const struct profile_row **b = by_name(after, &n_b);

	if (d)
		d->list = calloc(n_a + n_b + 1, sizeof(*d->list));
	if (!d || !a || !b || !d->list)
		return error_set(e, ENOMEM, "cannot compare the profiles: out of memory");
	d->reports[0] = before;
	d->reports[1] = after;
	d->value = value;
	join(d, a, n_a, b, n_b);
	*ret = take_ptr(d);
	return 0;
}

void profile_diff_free(struct profile_diff *d)
{
	if (!d)
		return;
	free(d->list);
	free(d);
}

double profile_diff_share(const struct profile_diff *d, const struct profile_change *c, int which,
			  enum profile_order order)
{
	const struct profile_row *row = which ? c->after : c->before;
	uint64_t all = profile_report_totals(d->reports[which])->values[d->value];
	uint64_t part;

	if (!row || !all)
		return 0;
	part = order == PROFILE_ORDER_TOTAL ? row->total[d->value] : row->self[d->value];
	return 100.0 * (double)part / (double)all;
}

static double growth(const struct profile_diff *d, const struct profile_change *c)
{
	return profile_diff_share(d, c, 1, d->order) - profile_diff_share(d, c, 0, d->order);
}

static int compare_changes(const void *a, const void *b, void *data)
{
	const struct profile_change *x = a, *y = b;
	const struct profile_diff *d = data;
	double p = growth(d, x), q = growth(d, y);
	int r;

	if (d->order != PROFILE_ORDER_NAME && p != q)
		return p < q ? 1 : -1;
	r = strcmp(x->name, y->name);
	return r ? r : strcmp(x->object, y->object);
}

void profile_diff_sort(struct profile_diff *d, enum profile_order order)
{
	d->order = order;
	if (d->n)
		qsort_r(d->list, d->n, sizeof(*d->list), compare_changes, d);
}

const struct profile_change *profile_diff_get(const struct profile_diff *d, size_t *ret_n)
{
	*ret_n = d->n;
	return d->list;
}

const struct profile_report *profile_diff_report(const struct profile_diff *d, int which)
{
	return d->reports[which];
}

/* --- trees --- */

/* Each node of a tree into the other, its parent first: nodes are made in that order. */
static int merge(struct profile_join *j, const struct profile_stacks *s, size_t which)
{
	size_t n = profile_tree_count(s->tree);
	_cleanup_free_ uint32_t *to = calloc(n, sizeof(*to));
	uint64_t values[2 * PROFILE_VALUES] = { 0 };
	const struct profile_node *node;
	const struct function *f;
	uint32_t i, key;
	int r = to ? 0 : -ENOMEM;

	for (i = 1; r >= 0 && i < n; i++) {
		node = profile_tree_get(s->tree, i);
		f = functions_get(s->functions, node->key);
		r = functions_find_label(&j->functions, f->name, f->object, &key);
		if (r >= 0)
			r = profile_tree_find(j->tree, to[node->parent], key, &to[i]);
		if (r < 0)
			return r;
		memcpy(values + which * PROFILE_VALUES, profile_tree_self(s->tree, i),
		       PROFILE_VALUES * sizeof(*values));
		profile_tree_add(j->tree, to[i], values);
	}
	return r;
}

int profile_join_init(struct profile_join *j, const struct profile_stacks *before,
		      const struct profile_stacks *after, struct error *e)
{
	int r;

	functions_init(&j->functions);
	j->tree = NULL;
	r = profile_tree_new(&j->tree, 2 * PROFILE_VALUES);
	if (r >= 0)
		r = merge(j, before, 0);
	if (r >= 0)
		r = merge(j, after, 1);
	if (r < 0) {
		profile_join_done(j);
		return error_set(e, -r, "cannot compare the profiles: %s", strerror(-r));
	}
	return 0;
}

void profile_join_done(struct profile_join *j)
{
	profile_tree_free(j->tree);
	j->tree = NULL;
	functions_done(&j->functions);
}

static int compare_labels(const void *data, uint32_t a, uint32_t b)
{
	const struct function *x = functions_get(data, a), *y = functions_get(data, b);
	int r = strcmp(x->name, y->name);

	return r ? r : strcmp(x->object, y->object);
}

int profile_join_sort(struct profile_join *j, enum profile_value by)
{
	return profile_tree_sort(j->tree, by, compare_labels, &j->functions);
}
