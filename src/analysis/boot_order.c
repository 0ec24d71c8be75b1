/* SPDX-License-Identifier: MIT */
/*
 * boot_order: see boot_order.h.
 *
 * The tree is walked without recursion, since how deep it is comes from outside. Whatever the records say, each
 * process comes out exactly once: one whose chain of parents does not end at a root is made one.
 */
#include "analysis/boot_order.h"

#include <errno.h>
#include <stdlib.h>

struct order {
	struct boot *boot;
	uint32_t *by_pid;   /* by pid, then start */
	uint32_t *by_start; /* by start, then pid */
	uint32_t *parent;
	uint32_t *first, *next; /* children, by start */
	uint32_t *depth;
	uint32_t *place; /* of the old number: the new one; BOOT_NONE: not yet out */
	struct boot_process *sorted;
	size_t n;
};

static uint64_t started(const struct boot_process *p)
{
	return p->from_ns - p->before_ns;
}

static int compare_starts(const struct boot_process *a, const struct boot_process *b)
{
	uint64_t x = started(a), y = started(b);

	return (x > y) - (x < y);
}

static int compare_by_pid(const void *pa, const void *pb, void *data)
{
	const struct boot_process *list = data;
	uint32_t i = *(const uint32_t *)pa, k = *(const uint32_t *)pb;
	const struct boot_process *a = &list[i], *b = &list[k];

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return (i > k) - (i < k);
}

static int compare_by_start(const void *pa, const void *pb, void *data)
{
	const struct boot_process *list = data;
	uint32_t i = *(const uint32_t *)pa, k = *(const uint32_t *)pb;
	const struct boot_process *a = &list[i], *b = &list[k];
	int c = compare_starts(a, b);

	if (c)
		return c;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (i > k) - (i < k);
}

/* The one with that pid that started last before the child did; a start that is known only to some
 * time may be off by that. */
static uint32_t find_parent(const struct order *o, uint32_t child)
{
	const struct boot_process *list = o->boot->processes, *c = &list[child], *p;
	uint64_t by = started(c) + c->from_error_ns;
	size_t low = 0, high = o->n, middle;

	if (c->parent_pid <= 0 || c->parent_pid == c->pid)
		return BOOT_NONE;
	while (low < high) {
		middle = low + (high - low) / 2;
		p = &list[o->by_pid[middle]];
		if (p->pid < c->parent_pid || (p->pid == c->parent_pid && started(p) <= by))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return BOOT_NONE;
	p = &list[o->by_pid[low - 1]];
	if (p->pid != c->parent_pid || p->to_ns + p->to_error_ns < started(c))
		return BOOT_NONE;
	return o->by_pid[low - 1];
}

/* Backwards, so that each list of children is by start. */
static void link_children(struct order *o)
{
	uint32_t child, parent;
	size_t i;

	for (i = o->n; i-- > 0;) {
		child = o->by_start[i];
		parent = o->parent[child];
		if (parent == BOOT_NONE)
			continue;
		o->next[child] = o->first[parent];
		o->first[parent] = child;
	}
}

/* The next one of a walk through the tree below root. */
static uint32_t step(const struct order *o, uint32_t at, uint32_t root)
{
	if (o->first[at] != BOOT_NONE && o->place[o->first[at]] == BOOT_NONE)
		return o->first[at];
	while (at != root) {
		if (o->next[at] != BOOT_NONE)
			return o->next[at];
		at = o->parent[at];
	}
	return BOOT_NONE;
}

static size_t walk(struct order *o, uint32_t root, size_t n)
{
	uint32_t at;

	o->parent[root] = BOOT_NONE;
	for (at = root; at != BOOT_NONE; at = step(o, at, root)) {
		if (o->place[at] != BOOT_NONE) /* the root again: a circle */
			continue;
		o->depth[at] = o->parent[at] == BOOT_NONE ? 0 : o->depth[o->parent[at]] + 1;
		o->place[at] = (uint32_t)n++;
	}
	return n;
}

static void place_all(struct order *o)
{
	size_t i, n = 0;

	for (i = 0; i < o->n; i++)
		if (o->parent[o->by_start[i]] == BOOT_NONE)
			n = walk(o, o->by_start[i], n);
	for (i = 0; i < o->n; i++)
		if (o->place[o->by_start[i]] == BOOT_NONE)
			n = walk(o, o->by_start[i], n);
}

static uint32_t moved(const struct order *o, uint32_t process)
{
	return process < o->n ? o->place[process] : BOOT_NONE;
}

static void move_all(struct order *o)
{
	struct boot_process *p;
	struct boot *b = o->boot;
	size_t i, k;

	for (i = 0; i < o->n; i++) {
		p = &o->sorted[o->place[i]];
		*p = b->processes[i];
		p->parent = moved(o, o->parent[i]);
		p->depth = o->depth[i];
		for (k = 0; k < p->n_spans; k++)
			if (p->spans[k].whom != BOOT_INTERRUPT)
				p->spans[k].whom = moved(o, p->spans[k].whom);
	}
	for (i = 0; i < b->n_marks; i++)
		b->marks[i].process = moved(o, b->marks[i].process);
	for (i = 0; i < o->n; i++)
		o->by_pid[i] = o->place[o->by_pid[i]];
	free(b->processes);
	free(b->by_pid);
	b->processes = take_ptr(o->sorted);
	b->by_pid = take_ptr(o->by_pid);
	b->n_by_pid = o->n;
}

static void done(struct order *o)
{
	free(o->by_pid);
	free(o->by_start);
	free(o->parent);
	free(o->first);
	free(o->next);
	free(o->depth);
	free(o->place);
	free(o->sorted);
}

static uint32_t *numbers(size_t n, uint32_t value)
{
	uint32_t *list = calloc(n + 1, sizeof(*list));
	size_t i;

	for (i = 0; list && i < n; i++)
		list[i] = value == BOOT_NONE ? BOOT_NONE : (uint32_t)i;
	return list;
}

int boot_order(struct boot *b)
{
	__attribute__((cleanup(done))) struct order o = { .boot = b, .n = b->n_processes };
	uint32_t i;

	o.by_pid = numbers(o.n, 0);
	o.by_start = numbers(o.n, 0);
	o.parent = numbers(o.n, BOOT_NONE);
	o.first = numbers(o.n, BOOT_NONE);
	o.next = numbers(o.n, BOOT_NONE);
	o.depth = numbers(o.n, 0);
	o.place = numbers(o.n, BOOT_NONE);
	o.sorted = calloc(o.n + 1, sizeof(*o.sorted));
	if (!o.by_pid || !o.by_start || !o.parent || !o.first || !o.next || !o.depth || !o.place ||
	    !o.sorted)
		return -ENOMEM;
	qsort_r(o.by_pid, o.n, sizeof(*o.by_pid), compare_by_pid, b->processes);
	qsort_r(o.by_start, o.n, sizeof(*o.by_start), compare_by_start, b->processes);
	for (i = 0; i < o.n; i++)
		o.parent[i] = find_parent(&o, i);
	link_children(&o);
	place_all(&o);
	move_all(&o);
	return 0;
}
