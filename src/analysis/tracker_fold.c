/* SPDX-License-Identifier: MIT */
/*
 * tracker_fold: the ceiling of a tracker. A machine starts millions of tasks in a day, of which few are
 * alive at any time; those that ended, and matter least to whoever listens, become one sum there.
 */
#include <errno.h>
#include <stdlib.h>

#include "analysis/tracker_parts.h"

struct weighed {
	uint64_t weight;
	uint32_t task;
};

static int by_weight(const void *pa, const void *pb)
{
	const struct weighed *a = pa, *b = pb;

	if (a->weight != b->weight)
		return a->weight < b->weight ? -1 : 1;
	return (a->task > b->task) - (a->task < b->task);
}

/* Those that ended and that nothing waits for; a CPU may not know yet that its task has ended. */
static uint32_t weigh_ended(const struct tracker *t, const bool *has_cpu, struct weighed *all)
{
	uint32_t n = 0, i;

	for (i = 0; i < lives_count(t->lives); i++) {
		if (!lives_has(t->lives, i) || !lives_get(t->lives, i)->ended ||
		    t->tasks[i].n_held || has_cpu[i])
			continue;
		all[n].task = i;
		all[n++].weight = t->ops->weight ? t->ops->weight(t->context, i) : 0;
	}
	qsort(all, n, sizeof(*all), by_weight);
	return n;
}

static void forget_wakers(struct tracker *t)
{
	uint32_t i, cpu;

	for (i = 0; i < lives_count(t->lives); i++) {
		if (!lives_has(t->lives, i))
			continue;
		if (!lives_has(t->lives, t->tasks[i].waker))
			t->tasks[i].waker = TRACKER_NONE;
	}
	for (cpu = 0; cpu < t->n_cpus; cpu++)
		for (i = t->cpus[cpu].held; i != TRACKER_NONE; i = t->held[i].next)
			if (!lives_has(t->lives, t->held[i].wait.waker))
				t->held[i].wait.waker = TRACKER_NONE;
}

/* Room for more: folds the lighter half of those that ended. Where these are few, more are allowed,
 * up to as many as there can be pids. */
int tracker_fold(struct tracker *t)
{
	uint32_t most = lives_most(t->lives), n, i;
	_cleanup_free_ bool *has_cpu = calloc((size_t)most + 1, sizeof(*has_cpu));
	_cleanup_free_ struct weighed *all = calloc((size_t)most + 1, sizeof(*all));
	_cleanup_free_ uint32_t *folded = NULL;
	int r;

	if (!t->ops->fold)
		return -E2BIG;
	if (!all || !has_cpu)
		return -ENOMEM;
	for (i = 0; i < t->n_cpus; i++)
		if (t->cpus[i].task < most)
			has_cpu[t->cpus[i].task] = true;
	n = weigh_ended(t, has_cpu, all);
	if (n < most / 4 && most < TRACE_TASKS_MAX)
		lives_allow(t->lives, most > TRACE_TASKS_MAX / 2 ? TRACE_TASKS_MAX : most * 2);
	else if (!n)
		return -E2BIG;
	n = t->ops->weight ? (n + 1) / 2 : n;
	folded = calloc((size_t)n + 1, sizeof(*folded));
	if (!folded)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		folded[i] = all[i].task;
	r = n ? t->ops->fold(t->context, folded, n) : 0;
	if (r >= 0 && n)
		r = lives_fold(t->lives, folded, n);
	if (r >= 0)
		forget_wakers(t);
	return r;
}
