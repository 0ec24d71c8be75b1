/* SPDX-License-Identifier: MIT */
/* fact_set: see fact_set.h. */
#include "facts/fact_set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/fact_tree.h"
#include "store/array.h"

int fact_set_init(struct fact_set *s, const struct fact_key *key)
{
	memset(s, 0, sizeof(*s));
	s->key = *key;
	functions_init(&s->functions);
	return key->kind == FACT_SCHED ? 0 : profile_tree_new(&s->tree, FACT_VALUES);
}

void fact_set_done(struct fact_set *s)
{
	size_t i;

	functions_done(&s->functions);
	profile_tree_free(s->tree);
	for (i = 0; i < s->n_tasks; i++) {
		histogram_done(&s->tasks[i].waits);
		histogram_done(&s->tasks[i].preempted);
	}
	for (i = 0; i < s->n_objects; i++)
		free((char *)s->objects[i].name);
	free(s->tasks);
	free(s->objects);
	free(s->task_order);
	free(s->object_order);
	memset(s, 0, sizeof(*s));
}

void fact_set_totals(const struct fact_set *s, uint64_t ret[FACT_VALUES])
{
	size_t i;

	for (i = 0; i < FACT_VALUES; i++)
		ret[i] = s->tree ? profile_tree_total(s->tree, 0)[i] : 0;
}

/* --- rows --- */

static int compare_task(const struct fact_set *s, uint32_t row, const void *name)
{
	return strcmp(s->tasks[row].name, name);
}

static int compare_object(const struct fact_set *s, uint32_t row, const void *like)
{
	const struct fact_object *a = &s->objects[row], *b = like;
	int r = strcmp(a->name, b->name);

	if (r)
		return r;
	if (a->build_id_len != b->build_id_len)
		return a->build_id_len < b->build_id_len ? -1 : 1;
	return memcmp(a->build_id, b->build_id, a->build_id_len);
}

typedef int (*compare_fn)(const struct fact_set *s, uint32_t row, const void *like);

/* Where in the order it is, or would be. */
struct place {
	size_t at;
	bool found;
};

static struct place find_place(const struct fact_set *s, const uint32_t *order, size_t n,
			       compare_fn compare, const void *like)
{
	size_t from = 0, to = n, middle;
	int r;

	while (from < to) {
		middle = from + (to - from) / 2;
		r = compare(s, order[middle], like);
		if (!r)
			return (struct place){ .at = middle, .found = true };
		if (r < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return (struct place){ .at = from };
}

/* There is room. */
static void put_in_order(uint32_t *order, size_t n, size_t at)
{
	memmove(order + at + 1, order + at, (n - at) * sizeof(*order));
	order[at] = (uint32_t)n;
}

int fact_set_find_task(struct fact_set *s, const char *name, struct fact_task **ret)
{
	struct place p = find_place(s, s->task_order, s->n_tasks, compare_task, name);
	struct fact_task *t;
	int r;

	if (p.found) {
		*ret = &s->tasks[s->task_order[p.at]];
		return 0;
	}
	if (strlen(name) >= sizeof(t->name))
		return -E2BIG;
	r = array_grow(&s->tasks, s->n_tasks, &s->room_tasks, sizeof(*t), FACT_TASKS_MAX);
	if (r >= 0)
		r = array_grow(&s->task_order, s->n_tasks, &s->room_task_order,
			       sizeof(*s->task_order), FACT_TASKS_MAX);
	if (r < 0)
		return r;
	t = &s->tasks[s->n_tasks];
	memset(t, 0, sizeof(*t));
	memcpy(t->name, name, strlen(name));
	put_in_order(s->task_order, s->n_tasks++, p.at);
	*ret = t;
	return 0;
}

int fact_set_find_object(struct fact_set *s, const struct fact_object *like,
			 struct fact_object **ret)
{
	struct place p = find_place(s, s->object_order, s->n_objects, compare_object, like);
	struct fact_object *o;
	int r;

	if (p.found) {
		*ret = &s->objects[s->object_order[p.at]];
		return 0;
	}
	if (like->build_id_len > FACT_BUILD_ID_MAX || strlen(like->name) > FACT_OBJECT_NAME_MAX)
		return -E2BIG;
	r = array_grow(&s->objects, s->n_objects, &s->room_objects, sizeof(*o), FACT_OBJECTS_MAX);
	if (r >= 0)
		r = array_grow(&s->object_order, s->n_objects, &s->room_object_order,
			       sizeof(*s->object_order), FACT_OBJECTS_MAX);
	if (r < 0)
		return r;
	o = &s->objects[s->n_objects];
	*o = *like;
	o->samples = 0;
	o->name = strdup(like->name);
	if (!o->name)
		return -ENOMEM;
	put_in_order(s->object_order, s->n_objects++, p.at);
	*ret = o;
	return 0;
}

/* --- sums --- */

static int add_tasks(struct fact_set *to, const struct fact_set *from)
{
	const struct fact_task *f;
	struct fact_task *t;
	size_t i;
	int r = 0;

	for (i = 0; r >= 0 && i < from->n_tasks; i++) {
		f = &from->tasks[i];
		r = fact_set_find_task(to, f->name, &t);
		if (r < 0)
			return r;
		t->cpu_ns += f->cpu_ns;
		t->switches += f->switches;
		t->preemptions += f->preemptions;
		t->wakeups += f->wakeups;
		r = histogram_merge(&t->waits, &f->waits);
		if (r >= 0)
			r = histogram_merge(&t->preempted, &f->preempted);
	}
	return r;
}

static int add_objects(struct fact_set *to, const struct fact_set *from)
{
	struct fact_object *o;
	size_t i;
	int r;

	for (i = 0; i < from->n_objects; i++) {
		r = fact_set_find_object(to, &from->objects[i], &o);
		if (r < 0)
			return r;
		o->samples += from->objects[i].samples;
	}
	return 0;
}

static int add_tree(struct fact_set *to, const struct fact_set *from)
{
	int r = 0;

	if (!from->tree)
		return 0;
	if (!to->tree)
		r = profile_tree_new(&to->tree, FACT_VALUES);
	return r < 0 ? r : fact_set_add_tree(to, &from->functions, from->tree);
}

int fact_set_add(struct fact_set *to, const struct fact_set *from)
{
	int r = add_tree(to, from);

	if (r >= 0)
		r = add_tasks(to, from);
	if (r >= 0)
		r = add_objects(to, from);
	if (r < 0)
		return r;
	to->version += from->version;
	to->covered_ns += from->covered_ns;
	to->events += from->events;
	to->lost += from->lost;
	to->lost_places += from->lost_places;
	return 0;
}
