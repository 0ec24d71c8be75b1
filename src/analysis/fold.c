/* SPDX-License-Identifier: MIT */
/* fold: see fold.h. */
#include "analysis/fold.h"

#include <stdlib.h>

static int by_value(const void *pa, const void *pb, void *data)
{
	const struct fold_tree *t = data;
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
	uint64_t x = t->value(t->data, a), y = t->value(t->data, b);

	if (x != y)
		return x < y ? 1 : -1;
	return (a > b) - (a < b);
}

size_t fold_choose(const struct fold_tree *t, uint64_t limit, uint32_t *top, uint32_t *order)
{
	uint32_t i, parent;
	size_t n = 0, k;

	for (i = 1; i < t->n; i++)
		if (t->is_wanted(t->data, i))
			order[n++] = i;
	if (n > limit) {
		qsort_r(order, n, sizeof(*order), by_value, (void *)t);
		n = (size_t)limit;
	}
	for (i = 1; i < t->n; i++)
		top[i] = 0;
	top[0] = FOLD_KEPT;
	for (k = 0; k < n; k++)
		top[order[k]] = FOLD_KEPT;
	for (i = 1; i < t->n; i++) {
		parent = t->parent(t->data, i);
		if (top[i] != FOLD_KEPT)
			top[i] = top[parent] == FOLD_KEPT ? i : top[parent];
	}
	return n;
}
