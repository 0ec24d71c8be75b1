/* SPDX-License-Identifier: MIT */
/* profile_list: see profile_list.h. */
#include "analysis/profile_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

struct filling {
	struct profile_list *list;
	struct profile_path path;
	bool full;
};

static int take(void *data, const struct profile_sample *s)
{
	struct filling *f = data;
	struct profile_list *l = f->list;
	struct profile_entry *to;
	int r = array_grow(&l->entries, l->n, &l->room, sizeof(*l->entries), PROFILE_LIST_MAX);

	f->full = r == -E2BIG;
	if (r < 0)
		return r;
	to = &l->entries[l->n];
	*to = (struct profile_entry){ .ns = s->ns,
				      .weight = s->values[PROFILE_WEIGHT],
				      .thread = s->thread,
				      .cpu = s->cpu,
				      .order = (uint32_t)l->n };
	r = profile_path_find(&f->path, s, &to->node);
	if (r < 0)
		return r;
	profile_tree_add(l->tree, to->node, s->values);
	l->n++;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct profile_entry *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

int profile_list_init(struct profile_list *l, const struct profile_walk *w, bool places,
		      struct error *e)
{
	const struct profile_shape shape = { .places = places };
	struct filling f = { .list = l, .path = { .walk = w, .shape = &shape } };
	struct profile_walk mine = *w;
	int r;

	memset(l, 0, sizeof(*l));
	if (profile_tree_new(&l->tree, PROFILE_VALUES) < 0)
		return error_set(e, ENOMEM, "cannot list the samples: out of memory");
	f.path.tree = l->tree;
	mine.sample = take;
	mine.data = &f;
	r = profile_walk_run(&mine, &l->totals, e);
	if (r < 0) {
		profile_list_done(l);
		return f.full ? error_set(e, E2BIG, "cannot list the samples: more than %u",
					  PROFILE_LIST_MAX)
			      : r;
	}
	if (l->n)
		qsort(l->entries, l->n, sizeof(*l->entries), compare);
	return 0;
}

void profile_list_done(struct profile_list *l)
{
	profile_tree_free(l->tree);
	free(l->entries);
	memset(l, 0, sizeof(*l));
}

size_t profile_list_span(const struct profile_list *l, size_t from)
{
	size_t to = from;

	while (to < l->n && l->entries[to].thread == l->entries[from].thread)
		to++;
	return to - from;
}
