/* SPDX-License-Identifier: MIT */
/* profile_stacks: see profile_stacks.h. */
#include "analysis/profile_stacks.h"

#include <errno.h>
#include <string.h>

static int find_groups(const struct profile_path *p, const struct profile_sample *s, uint32_t *node)
{
	struct functions *f = profile_names_functions(p->walk->names);
	const struct profile_tasks *tasks = p->walk->tasks;
	char text[PROFILE_TASK_TEXT];
	uint32_t key;
	int r = 0;

	if (p->shape->processes) {
		profile_process_format(profile_tasks_process(tasks, s->thread), p->shape->numbered,
				       text);
		r = functions_find_label(f, text, "process", &key);
		if (r >= 0)
			r = profile_tree_find(p->tree, *node, key, node);
	}
	if (r >= 0 && p->shape->threads) {
		profile_thread_format(tasks->threads[s->thread], p->shape->numbered, text);
		r = functions_find_label(f, text, "thread", &key);
		if (r >= 0)
			r = profile_tree_find(p->tree, *node, key, node);
	}
	return r;
}

int profile_path_find(const struct profile_path *p, const struct profile_sample *s, uint32_t *ret)
{
	uint32_t node = 0, place, key;
	size_t i;
	int r = p->shape->places ? 0 : find_groups(p, s, &node);

	for (i = 0; r >= 0 && i < s->n; i++) {
		place = s->places[p->shape->turned ? i : s->n - 1 - i];
		key = p->shape->places ? place : profile_names_get(p->walk->names, place)->function;
		r = profile_tree_find(p->tree, node, key, &node);
	}
	if (r >= 0)
		*ret = node;
	return r;
}

static int take(void *data, const struct profile_sample *s)
{
	const struct profile_path *p = data;
	uint32_t node;
	int r = profile_path_find(p, s, &node);

	if (r >= 0)
		profile_tree_add(p->tree, node, s->values);
	return r;
}

int profile_stacks_init(struct profile_stacks *s, const struct profile_walk *w,
			const struct profile_shape *shape, struct error *e)
{
	struct profile_path path = { .walk = w, .shape = shape };
	struct profile_walk mine = *w;
	int r;

	memset(s, 0, sizeof(*s));
	if (profile_tree_new(&s->tree, PROFILE_VALUES) < 0)
		return error_set(e, ENOMEM, "cannot make the tree of stacks: out of memory");
	s->functions = profile_names_functions(w->names);
	path.tree = s->tree;
	mine.sample = take;
	mine.data = &path;
	r = profile_walk_run(&mine, &s->totals, e);
	if (r < 0)
		profile_stacks_done(s);
	return r;
}

void profile_stacks_done(struct profile_stacks *s)
{
	profile_tree_free(s->tree);
	memset(s, 0, sizeof(*s));
}

int profile_stacks_sort(struct profile_stacks *s, enum profile_value by)
{
	return profile_tree_sort(s->tree, by, functions_compare, s->functions);
}
