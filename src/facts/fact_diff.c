/* SPDX-License-Identifier: MIT */
/* fact_diff: see fact_diff.h. */
#include "facts/fact_diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int compare_names(const void *a, const void *b)
{
	const struct facts_row *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : strcmp(x->object, y->object);
}

static int compare_changes(const void *a, const void *b)
{
	const struct fact_change *x = a, *y = b;
	double p = fact_change_growth(x), q = fact_change_growth(y);

	if (p != q)
		return p < q ? 1 : -1;
	return compare_names(x->after ? x->after : x->before, y->after ? y->after : y->before);
}

static double share(const struct facts_row *row, const struct facts_rows *side,
		    const struct facts_order *o)
{
	uint64_t all = side->basis.values[o->value];

	if (!row || !all)
		return 0;
	return 100.0 * (double)(o->total ? row->total[o->value] : row->self[o->value]) /
	       (double)all;
}

int fact_diff_init(struct fact_diff *d, struct facts_rows sides[2], const struct facts_order *o)
{
	size_t at[2] = { 0, 0 };
	struct fact_change *c;
	int i, order;

	d->n = 0;
	d->changes = calloc(sides[0].n + sides[1].n + 1, sizeof(*d->changes));
	if (!d->changes)
		return -ENOMEM;
	for (i = 0; i < 2; i++)
		if (sides[i].n)
			qsort(sides[i].rows, sides[i].n, sizeof(*sides[i].rows), compare_names);
	while (at[0] < sides[0].n || at[1] < sides[1].n) {
		c = &d->changes[d->n++];
		order = at[0] == sides[0].n ? 1
			: at[1] == sides[1].n
				? -1
				: compare_names(&sides[0].rows[at[0]], &sides[1].rows[at[1]]);
		if (order <= 0)
			c->before = &sides[0].rows[at[0]++];
		if (order >= 0)
			c->after = &sides[1].rows[at[1]++];
		c->shares[0] = share(c->before, &sides[0], o);
		c->shares[1] = share(c->after, &sides[1], o);
	}
	if (d->n)
		qsort(d->changes, d->n, sizeof(*d->changes), compare_changes);
	return 0;
}

void fact_diff_done(struct fact_diff *d)
{
	free(d->changes);
	d->changes = NULL;
	d->n = 0;
}
