/* SPDX-License-Identifier: MIT */
/*
 * graph_source: see graph_source.h. Threads are merged through a binary heap by the tick of each
 * one's next record, and at the same tick by their number.
 */
#include "convert/graph_source.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "wire/loss.h"

struct source {
	struct func_source base;
	struct graph_calls calls;
	size_t *next; /* of each thread */
	uint32_t *heap;
	uint32_t n_heap;
	uint64_t done, total;
};

static uint64_t thread_tick(const struct source *s, uint32_t thread)
{
	return s->calls.threads[thread].records[s->next[thread]].tick;
}

static bool goes_before(const struct source *s, uint32_t a, uint32_t b)
{
	uint64_t x = thread_tick(s, a), y = thread_tick(s, b);

	return x != y ? x < y : a < b;
}

/* Lets the thread at i sink to its place. */
static void sift_down(struct source *s, uint32_t i)
{
	uint32_t thread = s->heap[i], child;

	while ((child = 2 * i + 1) < s->n_heap) {
		if (child + 1 < s->n_heap && goes_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!goes_before(s, s->heap[child], thread))
			break;
		s->heap[i] = s->heap[child];
		i = child;
	}
	s->heap[i] = thread;
}

/* From the record before a gap to the one behind it. */
static void give_loss(const struct graph_thread *t, size_t at, struct trace_loss *ret)
{
	ret->from_tick = at ? t->records[at - 1].tick : 0;
	ret->to_tick = at + 1 < t->n ? t->records[at + 1].tick : ret->from_tick;
	ret->count = t->records[at].value;
	ret->cause = LOSS_RING;
}

static int next(struct func_source *base, struct func_item *ret, struct error *e)
{
	struct source *s = (struct source *)base;
	const struct graph_record *r;
	const struct graph_thread *t;
	uint32_t thread;

	(void)e;
	if (!s->n_heap)
		return 0;
	thread = s->heap[0];
	t = &s->calls.threads[thread];
	r = &t->records[s->next[thread]];
	memset(ret, 0, sizeof(*ret));
	ret->thread = thread;
	if (r->kind == GRAPH_LOSS) {
		ret->type = FUNC_ITEM_LOSS;
		give_loss(t, s->next[thread], &ret->loss);
	} else {
		ret->event = (struct func_event){ r->tick, r->value, r->kind, r->os };
	}
	s->done++;
	if (++s->next[thread] == t->n)
		s->heap[0] = s->heap[--s->n_heap];
	if (s->n_heap)
		sift_down(s, 0);
	return 1;
}

static int rewind_source(struct func_source *base, struct error *e)
{
	struct source *s = (struct source *)base;
	uint32_t i;

	(void)e;
	s->done = 0;
	s->n_heap = 0;
	for (i = 0; i < s->calls.n; i++) {
		assert(s->calls.threads[i].n); /* those without calls were dropped */
		s->next[i] = 0;
		s->heap[s->n_heap++] = i;
	}
	for (i = s->n_heap / 2; i-- > 0;)
		sift_down(s, i);
	return 0;
}

static void progress(const struct func_source *base, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct source *s = (const struct source *)base;

	*ret_done = s->done;
	*ret_total = s->total;
}

static void free_source(struct func_source *base)
{
	struct source *s = (struct source *)base;
	size_t i;

	for (i = 0; base->processes && i < base->processes->n_names; i++)
		free(base->processes->names[i]);
	if (base->processes) {
		free(base->processes->names);
		free(base->processes->command);
		free(base->processes->exe);
	}
	free(base->processes);
	free(base->threads);
	free(base->origin);
	free(s->next);
	free(s->heap);
	graph_calls_done(&s->calls);
	free(s);
}

static const struct func_source_ops ops = {
	.next = next,
	.rewind = rewind_source,
	.progress = progress,
	.free = free_source,
};

static int make_process(struct source *s, struct graph_source_parts *parts)
{
	struct func_process *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	s->base.processes = p;
	s->base.n_processes = 1;
	p->kernel = true;
	p->names = take_ptr(parts->names);
	p->n_names = parts->n_names;
	parts->n_names = 0;
	p->command = strdup("kernel");
	p->exe = strdup("");
	return p->command && p->exe ? 0 : -ENOMEM;
}

static int make_threads(struct source *s)
{
	const struct graph_thread *t;
	struct func_thread *to;
	size_t n = s->calls.n, i;

	s->base.threads = calloc(n, sizeof(*s->base.threads));
	s->next = calloc(n, sizeof(*s->next));
	s->heap = calloc(n, sizeof(*s->heap));
	if (!s->base.threads || !s->next || !s->heap)
		return -ENOMEM;
	s->base.n_threads = n;
	for (i = 0; i < n; i++) {
		t = &s->calls.threads[i];
		to = &s->base.threads[i];
		to->tid = t->pid > 0 ? t->pid : 0;
		to->cpu = t->cpu;
		memcpy(to->comm, t->comm, sizeof(to->comm));
		s->total += t->n;
	}
	return 0;
}

static void free_names(struct graph_source_parts *parts)
{
	size_t i;

	for (i = 0; parts->names && i < parts->n_names; i++)
		free(parts->names[i]);
	free(parts->names);
	parts->names = NULL;
}

int graph_source_new(struct graph_source_parts *parts, struct func_source **ret, struct error *e)
{
	struct source *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (!s || !parts->calls.n) {
		r = s ? -ENODATA : -ENOMEM;
		free(s);
		graph_calls_done(&parts->calls);
		free_names(parts);
		return error_set(e, -r, r == -ENODATA ? "it holds no calls" : "out of memory");
	}
	s->base.ops = &ops;
	s->base.clock = parts->clock;
	s->calls = parts->calls;
	s->base.origin = strdup(parts->origin);
	r = s->base.origin ? make_process(s, parts) : -ENOMEM;
	free_names(parts);
	if (r == 0)
		r = make_threads(s);
	if (r < 0) {
		free_source(&s->base);
		return error_set(e, -r, "out of memory");
	}
	rewind_source(&s->base, NULL);
	*ret = &s->base;
	return 0;
}
