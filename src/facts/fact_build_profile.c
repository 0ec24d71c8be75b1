/* SPDX-License-Identifier: MIT */
/*
 * fact_build_profile: the samples of a minute as one tree: process ; functions, the outermost first.
 *
 * Processes have no numbers here, and functions no places: on another device, or in the next build, these are others and the names are
 * the same. Which builds were there is said beside the tree, object by object.
 */
#include <errno.h>

#include "analysis/profile_stacks.h"
#include "facts/fact_build.h"
#include "facts/fact_objects.h"
#include "facts/fact_tree.h"
#include "trace/sample_ksk.h"

struct reading {
	struct sample_source *source;
	struct profile_names *names;
	struct profile_tasks tasks;
	struct profile_tree *tree;
	struct profile_path path;
	struct fact_objects objects;
};

static const struct profile_shape shape = { .processes = true };

static int take(void *data, const struct profile_sample *s)
{
	struct reading *r = data;
	uint32_t node;
	int rc = profile_path_find(&r->path, s, &node);

	if (rc < 0)
		return rc;
	profile_tree_add(r->tree, node, s->values);
	return fact_objects_put(&r->objects, r->names, s);
}

static void count(struct fact_set *set, const struct profile_totals *t)
{
	set->events = t->values[PROFILE_SAMPLES] + t->idle[PROFILE_SAMPLES] + t->others;
	set->lost = t->lost;
	set->lost_places = t->lost_unknown;
	set->covered_ns = t->to_ns > t->from_ns ? (t->to_ns - t->from_ns) * t->cpus : 0;
}

static int walk(struct reading *r, const struct fact_build *b, struct fact_set *set,
		const struct fact_window *window, struct error *e)
{
	const struct profile_select select = { .from_ns = window->from_ns,
					       .to_ns = window->to_ns,
					       .is_part = true };
	const struct profile_walk w = { .source = r->source,
					.names = r->names,
					.tasks = &r->tasks,
					.select = &select,
					.sample = take,
					.data = r,
					.step = b->step,
					.step_data = b->step_data };
	struct profile_totals totals;
	int rc;

	r->path = (struct profile_path){ .walk = &w, .shape = &shape, .tree = r->tree };
	rc = profile_walk_run(&w, &totals, e);
	if (rc < 0)
		return rc;
	count(set, &totals);
	if (!set->events && !set->lost && !set->lost_places)
		return -ENODATA;
	rc = fact_set_add_tree(set, profile_names_functions(r->names), r->tree);
	if (rc >= 0)
		rc = fact_objects_give(&r->objects, set);
	return rc < 0 ? error_set(e, -rc, "cannot keep a minute of run %u", b->run) : 0;
}

int fact_build_profile(const struct fact_build *b, struct fact_set *set, struct error *e)
{
	struct reading r = { .source = NULL };
	struct fact_window window;
	int rc;

	if (!fact_build_window(b, &set->key, &window))
		return -ENODATA;
	rc = sample_ksk_open_part(b->store, b->run, &window.range, &r.source, e);
	if (rc < 0)
		return rc;
	if (r.source->sampling.method == SAMPLE_CYCLES)
		set->key.kind = FACT_CYCLES;
	profile_tasks_init(&r.tasks, r.source);
	rc = profile_names_new(&r.names, r.source, b->host, e);
	if (rc >= 0 && profile_tree_new(&r.tree, FACT_VALUES) < 0)
		rc = error_set(e, ENOMEM, "cannot work out a minute: out of memory");
	if (rc >= 0)
		rc = walk(&r, b, set, &window, e);
	fact_objects_done(&r.objects);
	profile_tree_free(r.tree);
	profile_names_free(r.names);
	profile_tasks_done(&r.tasks);
	sample_source_free(r.source);
	return rc;
}
