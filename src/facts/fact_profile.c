/* SPDX-License-Identifier: MIT */
/*
 * fact_profile: see fact_profile.h. What is kept is: process ; functions, the outermost first.
 *
 * Processes have no numbers here, and functions no places: on another device, or in the next build, these are others and the names are
 * the same. Which builds were there is said beside the tree, object by object.
 */
#include "facts/fact_profile.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/profile_stacks.h"
#include "facts/fact_objects.h"
#include "facts/fact_stacks.h"
#include "facts/fact_tree.h"

struct fact_profile {
	const struct fact_build *build;
	struct profile_names *names;
	struct profile_tasks tasks;
	struct profile_tree *tree;
	struct profile_select select;
	struct profile_walk walk;
	struct profile_path path;
	struct profile_pass *pass;
	struct profile_totals totals;
	struct fact_objects objects;
	struct fact_stacks *stacks;
	struct error *error;
};

static const struct profile_shape shape = { .processes = true };

void fact_profile_free(struct fact_profile *p)
{
	if (!p)
		return;
	profile_pass_free(p->pass);
	fact_stacks_free(p->stacks);
	fact_objects_done(&p->objects);
	profile_tree_free(p->tree);
	profile_names_free(p->names);
	profile_tasks_done(&p->tasks);
	free(p);
}

static int take(void *data, const struct profile_sample *s)
{
	struct fact_profile *p = data;
	uint32_t node;
	int r = profile_path_find(&p->path, s, &node);

	if (r < 0)
		return r;
	profile_tree_add(p->tree, node, s->values);
	fact_stacks_keep(p->stacks, s, node, p->tasks.renamed);
	return fact_objects_put(&p->objects, p->names, s, 1);
}

static bool take_again(void *data, const struct sample_event *ev, uint32_t thread)
{
	struct fact_profile *p = data;

	return fact_stacks_again(p->stacks, ev, thread, p->tasks.renamed);
}

static int add_again(struct fact_profile *p)
{
	struct fact_stack s;
	size_t at = 0;
	int r = 0;

	while (r >= 0 && fact_stacks_next(p->stacks, &at, &s)) {
		const struct profile_sample like = { .places = s.places, .n = s.n };

		profile_tree_add(p->tree, s.node, s.values);
		r = fact_objects_put(&p->objects, p->names, &like, s.values[PROFILE_SAMPLES]);
	}
	return r;
}

int fact_profile_new(struct fact_profile **ret, const struct fact_build *b,
		     struct sample_source *source, const struct fact_window *window,
		     struct error *e)
{
	CLEANUP(fact_profile) struct fact_profile *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return error_set(e, ENOMEM, "cannot work out a minute: out of memory");
	p->build = b;
	p->error = e;
	profile_tasks_init(&p->tasks, source);
	r = profile_names_new(&p->names, source, b->host, e);
	if (r < 0)
		return r;
	if (profile_tree_new(&p->tree, FACT_VALUES) < 0 || fact_stacks_new(&p->stacks) < 0)
		return error_set(e, ENOMEM, "cannot work out a minute: out of memory");
	p->select = (struct profile_select){ .from_ns = window->from_ns,
					     .to_ns = window->to_ns,
					     .is_part = true };
	p->walk = (struct profile_walk){ .source = source,
					 .names = p->names,
					 .tasks = &p->tasks,
					 .select = &p->select,
					 .sample = take,
					 .again = take_again,
					 .data = p };
	p->path = (struct profile_path){ .walk = &p->walk, .shape = &shape, .tree = p->tree };
	r = profile_pass_new(&p->pass, &p->walk, &p->totals);
	if (r < 0)
		return profile_walk_explain(r, e);
	*ret = take_ptr(p);
	return 0;
}

int fact_profile_put(struct fact_profile *p, const struct sample_item *item)
{
	int r = profile_pass_put(p->pass, item);

	return r < 0 ? profile_walk_explain(r, p->error) : 0;
}

static void count(struct fact_set *set, const struct profile_totals *t)
{
	set->events = t->values[PROFILE_SAMPLES] + t->idle[PROFILE_SAMPLES] + t->others;
	set->lost = t->lost;
	set->lost_places = t->lost_unknown;
	set->covered_ns = t->to_ns > t->from_ns ? (t->to_ns - t->from_ns) * t->cpus : 0;
}

int fact_profile_give(struct fact_profile *p, struct fact_set *set)
{
	int r;

	profile_pass_end(p->pass);
	count(set, &p->totals);
	if (!set->events && !set->lost && !set->lost_places)
		return -ENODATA;
	r = add_again(p);
	if (r >= 0)
		r = fact_set_add_tree(set, profile_names_functions(p->names), p->tree);
	if (r >= 0)
		r = fact_objects_give(&p->objects, set);
	return r < 0 ? error_set(p->error, -r, "cannot keep a minute of run %u", p->build->run) : 0;
}
