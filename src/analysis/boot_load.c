/* SPDX-License-Identifier: MIT */
/* boot_load: see boot_load.h. */
#include "analysis/boot_load.h"

#include <errno.h>
#include <stdlib.h>

#include "base/saturate.h"

/* A process begins or ends to use a share of a CPU. */
struct edge {
	uint64_t ns;
	int32_t share;
};

static int compare_edges(const void *pa, const void *pb)
{
	const struct edge *a = pa, *b = pb;

	return (a->ns > b->ns) - (a->ns < b->ns);
}

static size_t count_spans(const struct boot *b)
{
	size_t i, n = 0;

	for (i = 0; i < b->n_processes; i++)
		n += b->processes[i].n_spans;
	return n;
}

static struct edge *list_edges(const struct boot *b, size_t *ret_n)
{
	struct edge *list = calloc(count_spans(b) + 1, 2 * sizeof(*list));
	const struct boot_span *s;
	size_t i, k, n = 0;

	for (i = 0; list && i < b->n_processes; i++) {
		for (k = 0; k < b->processes[i].n_spans; k++) {
			s = &b->processes[i].spans[k];
			if (!s->share)
				continue;
			list[n++] = (struct edge){ .ns = s->from_ns, .share = s->share };
			list[n++] = (struct edge){ .ns = s->to_ns, .share = -s->share };
		}
	}
	if (list)
		qsort(list, n, sizeof(*list), compare_edges);
	*ret_n = n;
	return list;
}

static void push(struct boot_load *l, uint64_t from_ns, uint64_t to_ns, uint64_t busy_ns)
{
	if (to_ns > from_ns)
		l->list[l->n++] = (struct boot_load_piece){ .from_ns = from_ns,
							    .to_ns = to_ns,
							    .busy_ns = busy_ns };
}

static int load_from_spans(struct boot_load *l, const struct boot *b)
{
	_cleanup_free_ struct edge *edges = NULL;
	uint64_t at = b->from_ns;
	int64_t share = 0;
	size_t i, n = 0;

	edges = list_edges(b, &n);
	l->list = calloc(n + 1, sizeof(*l->list));
	if (!edges || !l->list)
		return -ENOMEM;
	for (i = 0; i < n; i++) {
		if (edges[i].ns > at) {
			push(l, at, edges[i].ns,
			     saturate_u64((double)(edges[i].ns - at) * (double)share / 1000));
			at = edges[i].ns;
		}
		share += edges[i].share;
	}
	push(l, at, b->to_ns, 0);
	return 0;
}

/* A slow machine may miss ticks, by which kernels count: then all counters together are less than the time, and only
 * their proportion says anything. Where none of them moved, the next piece says it. */
static int load_from_points(struct boot_load *l, const struct boot *b)
{
	const struct boot_point *p = b->points;
	uint64_t busy, all, from = b->n_points ? p[0].ns : 0;
	size_t i;

	l->list = calloc(b->n_points + 1, sizeof(*l->list));
	if (!l->list)
		return -ENOMEM;
	for (i = 1; i < b->n_points; i++) {
		busy = p[i].user_ns + p[i].system_ns + p[i].irq_ns;
		all = busy + p[i].idle_ns + p[i].iowait_ns + p[i].steal_ns;
		if (!all)
			continue;
		push(l, from, p[i].ns,
		     saturate_u64((double)busy / (double)all * (double)(p[i].ns - from) * l->cpus));
		from = p[i].ns;
	}
	return 0;
}

int boot_load_new(struct boot_load **ret, const struct boot *b)
{
	CLEANUP(boot_load) struct boot_load *l = calloc(1, sizeof(*l));
	int r;

	if (!l)
		return -ENOMEM;
	l->cpus = b->cpus ? b->cpus : 1;
	r = b->is_exact ? load_from_spans(l, b) : load_from_points(l, b);
	if (r < 0)
		return r;
	*ret = take_ptr(l);
	return 0;
}

void boot_load_free(struct boot_load *l)
{
	if (!l)
		return;
	free(l->list);
	free(l);
}

uint32_t boot_load_permille(const struct boot_load *l, uint64_t from_ns, uint64_t to_ns)
{
	const struct boot_load_piece *p;
	size_t low = 0, high = l->n, i;
	uint64_t from, to;
	double busy = 0, known = 0;

	while (low < high) { /* the first that ends behind from_ns */
		i = low + (high - low) / 2;
		if (l->list[i].to_ns <= from_ns)
			low = i + 1;
		else
			high = i;
	}
	for (i = low; i < l->n && l->list[i].from_ns < to_ns; i++) {
		p = &l->list[i];
		from = p->from_ns > from_ns ? p->from_ns : from_ns;
		to = p->to_ns < to_ns ? p->to_ns : to_ns;
		busy += (double)p->busy_ns * (double)(to - from) / (double)(p->to_ns - p->from_ns);
		known += (double)(to - from) * l->cpus;
	}
	busy = known > 0 ? busy * 1000 / known : 0;
	return busy > 1000 ? 1000 : (uint32_t)(busy + 0.5);
}
