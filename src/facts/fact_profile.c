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
#include <string.h>

#include "analysis/profile_stacks.h"
#include "facts/fact_objects.h"
#include "facts/fact_stacks.h"
#include "facts/fact_tree.h"
#include "store/array.h"

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
	uint32_t guests[SAMPLE_MODES]; /* the place of a guest, and one; 0: not asked yet */
	struct waiting *waiting;       /* by node */
	size_t room;
	struct error *error;
};

static const struct profile_shape shape = { .processes = true };

void fact_profile_free(struct fact_profile *p)
{
	if (!p)
		return;
	profile_pass_free(p->pass);
	fact_stacks_free(p->stacks);
	free(p->waiting);
	fact_objects_done(&p->objects);
	profile_tree_free(p->tree);
	profile_names_free(p->names);
	profile_tasks_done(&p->tasks);
	free(p);
}

/* Values wait by node, and go up the tree at the end. */
struct waiting {
	uint64_t values[FACT_VALUES];
};

static int count_at(struct fact_profile *p, uint32_t node, uint64_t weight)
{
	size_t before = p->room;
	int r = 0;

	while (r >= 0 && p->room <= node) {
		r = array_grow(&p->waiting, p->room, &p->room, sizeof(*p->waiting),
			       PROFILE_NODES_MAX);
		if (r >= 0)
			memset(p->waiting + before, 0, (p->room - before) * sizeof(*p->waiting));
		before = p->room;
	}
	if (r < 0)
		return r;
	p->waiting[node].values[PROFILE_SAMPLES]++;
	p->waiting[node].values[PROFILE_WEIGHT] += weight;
	return 0;
}

static bool is_guest(uint8_t mode)
{
	return mode == SAMPLE_GUEST_KERNEL || mode == SAMPLE_GUEST_USER;
}

/* The innermost address is left out, and what says that it was in a guest. */
static void keep_callers(struct fact_profile *p, const struct profile_sample *s, uint32_t node)
{
	size_t inner = 1U + is_guest(s->mode);
	struct fact_stacks_new_one o = { s, s->n - inner, node, p->tasks.renamed };

	if (!s->event->n_kernel && !s->event->n_user)
		return;
	while (inner--)
		o.node = profile_tree_get(p->tree, o.node)->parent;
	/* In a tree that is full nodes are not what they are called. */
	if (!profile_tree_folded(p->tree))
		fact_stacks_keep(p->stacks, &o);
}

static int take(void *data, const struct profile_sample *s)
{
	struct fact_profile *p = data;
	uint32_t node, object;
	size_t i;
	int r = profile_path_find(&p->path, s, &node);

	if (r >= 0)
		r = count_at(p, node, s->values[PROFILE_WEIGHT]);
	fact_objects_begin(&p->objects);
	for (i = 0; r >= 0 && i < s->n; i++) {
		r = fact_objects_find(&p->objects, p->names, s->places[i], &object);
		if (r >= 0)
			fact_objects_add(&p->objects, object, 1);
	}
	if (r >= 0)
		keep_callers(p, s, node);
	return r;
}

/* Its object counts if none of the callers has it: those are counted together, at the end. */
static int count_object(struct fact_profile *p, const struct fact_stack *callers, uint32_t place)
{
	uint32_t mine, object = 0;
	size_t i;
	int r = fact_objects_find(&p->objects, p->names, place, &mine);

	for (i = 0; r >= 0 && i < callers->n; i++) {
		r = fact_objects_find(&p->objects, p->names, callers->places[i], &object);
		if (object == mine)
			return r;
	}
	if (r < 0)
		return r;
	fact_objects_begin(&p->objects);
	fact_objects_add(&p->objects, mine, 1);
	return 0;
}

static int find_inner(struct fact_profile *p, uint32_t place, uint32_t *node)
{
	return profile_tree_find(p->tree, *node, profile_names_get(p->names, place)->function,
				 node);
}

/* Its place stays what it was the first time. */
static int find_guest(struct fact_profile *p, uint8_t mode, uint32_t *node)
{
	uint32_t place;
	int r = p->guests[mode] ? 0 : profile_walk_label(&p->walk, mode, &place);

	if (r < 0)
		return r;
	if (!p->guests[mode])
		p->guests[mode] = place + 1;
	return find_inner(p, p->guests[mode] - 1, node);
}

/* Callers that came before: only the innermost place is named. */
static int take_again(void *data, const struct sample_event *ev, uint32_t thread)
{
	struct fact_profile *p = data;
	struct sample_span span = SAMPLE_SPAN_ALL;
	struct fact_stack *callers = NULL;
	uint32_t node, place;
	int r;

	if (ev->n_kernel || ev->n_user)
		callers = fact_stacks_get(p->stacks, ev, thread, p->tasks.renamed);
	if (!callers)
		return 0;
	node = callers->node;
	r = profile_names_find_frame(p->names, ev, 0, &place, &span);
	if (r >= 0)
		r = find_inner(p, place, &node);
	if (r >= 0)
		r = count_object(p, callers, place);
	if (r >= 0 && is_guest(ev->mode))
		r = find_guest(p, ev->mode, &node);
	if (r >= 0)
		r = count_at(p, node, ev->weight);
	callers->samples++;
	return r < 0 ? r : 1;
}

/* What waits. */
static int settle(struct fact_profile *p)
{
	const struct fact_stack *s;
	size_t at = 0, i;
	uint32_t object;
	int r = 0;

	for (i = 0; i < p->room; i++)
		if (p->waiting[i].values[PROFILE_SAMPLES])
			profile_tree_add(p->tree, (uint32_t)i, p->waiting[i].values);
	while (r >= 0 && (s = fact_stacks_next(p->stacks, &at))) {
		fact_objects_begin(&p->objects);
		for (i = 0; r >= 0 && i < s->n; i++) {
			r = fact_objects_find(&p->objects, p->names, s->places[i], &object);
			if (r >= 0)
				fact_objects_add(&p->objects, object, s->samples);
		}
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
	r = settle(p);
	if (r >= 0)
		r = fact_set_add_tree(set, profile_names_functions(p->names), p->tree);
	if (r >= 0)
		r = fact_objects_give(&p->objects, set);
	return r < 0 ? error_set(p->error, -r, "cannot keep a minute of run %u", p->build->run) : 0;
}
