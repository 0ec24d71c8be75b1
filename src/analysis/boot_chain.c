/* SPDX-License-Identifier: MIT */
/*
 * boot_chain: see boot_chain.h.
 *
 * Children are taken by their start. The best chain that ends with one is its own time and the best of those that had
 * ended shortly before it: these move through a window, as starts and ends both go forward, so it takes no more than
 * sorting.
 */
#include "analysis/boot_chain.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/boot_load.h"

struct link {
	uint32_t process;
	uint32_t before; /* place in the list of the one before it, or BOOT_NONE */
	uint64_t from_ns, to_ns;
	uint64_t slack_ns; /* by which its start may be off */
	uint64_t best_ns;  /* of the chain that ends with it */
	bool is_used;
};

struct chain_build {
	const struct boot *boot;
	const struct boot_load *load;
	struct boot_chains *chains;
	uint64_t min_ns, to_ns;
	size_t room;
	uint32_t *after;    /* of each process: the first that is not below it */
	struct link *links; /* children of one parent */
	uint32_t *by_end, *window;
	size_t n;
};

static int compare_links(const void *pa, const void *pb)
{
	const struct link *a = pa, *b = pb;

	if (a->from_ns != b->from_ns)
		return a->from_ns < b->from_ns ? -1 : 1;
	return (a->process > b->process) - (a->process < b->process);
}

static int compare_ends(const void *pa, const void *pb, void *data)
{
	const struct link *list = data;
	uint32_t i = *(const uint32_t *)pa, k = *(const uint32_t *)pb;

	if (list[i].to_ns != list[k].to_ns)
		return list[i].to_ns < list[k].to_ns ? -1 : 1;
	return (i > k) - (i < k);
}

/* When what can be in a chain ended: a zombie did nothing any more. */
static uint64_t end_of(const struct boot_process *p)
{
	size_t i = p->n_spans;

	while (i && p->spans[i - 1].state == BOOT_ZOMBIE)
		i--;
	return i ? p->spans[i - 1].to_ns : p->from_ns;
}

static void find_links(struct chain_build *b, uint32_t parent)
{
	const struct boot_process *list = b->boot->processes, *p;
	uint32_t i;

	b->n = 0;
	for (i = parent + 1; i < b->after[parent]; i = b->after[i]) {
		p = &list[i];
		if (p->is_self || p->is_kernel || p->was_there || p->from_ns >= b->to_ns)
			continue;
		b->links[b->n] = (struct link){ .process = i,
						.from_ns = p->from_ns,
						.to_ns = end_of(p),
						.slack_ns = p->from_error_ns };
		if (b->links[b->n].to_ns > b->to_ns)
			b->links[b->n].to_ns = b->to_ns;
		b->n++;
	}
	qsort(b->links, b->n, sizeof(*b->links), compare_links);
	for (i = 0; i < b->n; i++)
		b->by_end[i] = i;
	qsort_r(b->by_end, b->n, sizeof(*b->by_end), compare_ends, b->links);
}

/* Ends up to the start move in, keeping only those that are better than all that came after; ends too long ago move
 * out. */
static void find_best(struct chain_build *b)
{
	struct link *l = b->links;
	size_t i, at = 0, first = 0, n = 0;
	uint32_t end;

	for (i = 0; i < b->n; i++) {
		for (; at < b->n && l[b->by_end[at]].to_ns <= l[i].from_ns + l[i].slack_ns; at++) {
			end = b->by_end[at];
			if (end >= i) /* by /proc's rounding alone: its chain is not known yet */
				break;
			if (l[end].is_used)
				continue;
			while (n > first && l[b->window[n - 1]].best_ns <= l[end].best_ns)
				n--;
			b->window[n++] = end;
		}
		while (first < n && l[b->window[first]].to_ns + BOOT_CHAIN_PAUSE_NS < l[i].from_ns)
			first++;
		l[i].before = first < n ? b->window[first] : BOOT_NONE;
		l[i].best_ns =
			l[i].to_ns - l[i].from_ns + (first < n ? l[b->window[first]].best_ns : 0);
	}
}

static int push_chain(struct chain_build *b, uint32_t parent, uint32_t last)
{
	struct boot_chains *c = b->chains;
	struct boot_chain chain = { .parent = parent };
	struct link *l = b->links;
	size_t at;
	uint32_t i;
	void *grown;

	for (i = last; i != BOOT_NONE; i = l[i].before)
		chain.n++;
	if (c->n == b->room) {
		grown = reallocarray(c->list, b->room + 64, sizeof(*c->list));
		if (!grown)
			return -ENOMEM;
		c->list = grown;
		b->room += 64;
	}
	chain.members = calloc(chain.n, sizeof(*chain.members));
	if (!chain.members)
		return -ENOMEM;
	chain.to_ns = l[last].to_ns;
	chain.sum_ns = l[last].best_ns;
	for (i = last, at = chain.n; i != BOOT_NONE; i = l[i].before) {
		l[i].is_used = true;
		chain.from_ns = l[i].from_ns;
		if (l[i].to_ns - l[i].from_ns > chain.longest_ns)
			chain.longest_ns = l[i].to_ns - l[i].from_ns;
		chain.members[--at] = l[i].process;
	}
	chain.busy_permille = boot_load_permille(b->load, chain.from_ns, chain.to_ns);
	c->list[c->n++] = chain;
	return 0;
}

/* The longest of what is left of this parent's; 0: there is none. */
static int find_chain(struct chain_build *b, uint32_t parent)
{
	uint32_t best = BOOT_NONE, i;
	int r;

	find_best(b);
	for (i = 0; i < b->n; i++)
		if (!b->links[i].is_used && b->links[i].before != BOOT_NONE &&
		    b->links[i].best_ns >= b->min_ns &&
		    (best == BOOT_NONE || b->links[i].best_ns > b->links[best].best_ns))
			best = i;
	if (best == BOOT_NONE)
		return 0;
	r = push_chain(b, parent, best);
	return r < 0 ? r : 1;
}

static int compare_chains(const void *pa, const void *pb)
{
	const struct boot_chain *a = pa, *b = pb;

	if (a->sum_ns != b->sum_ns)
		return a->sum_ns < b->sum_ns ? 1 : -1;
	return (a->from_ns > b->from_ns) - (a->from_ns < b->from_ns);
}

static void cut_list(struct boot_chains *c)
{
	if (c->n)
		qsort(c->list, c->n, sizeof(*c->list), compare_chains);
	while (c->n > BOOT_CHAINS_MAX)
		free(c->list[--c->n].members);
}

static void find_after(struct chain_build *b)
{
	const struct boot_process *list = b->boot->processes;
	uint32_t i, at, n = (uint32_t)b->boot->n_processes;

	for (i = n; i-- > 0;) {
		for (at = i + 1; at < n && list[at].depth > list[i].depth;)
			at = b->after[at];
		b->after[i] = at;
	}
}

static int find_all(struct chain_build *b)
{
	uint32_t i, k;
	int r = 0;

	find_after(b);
	for (i = 0; i < b->boot->n_processes && r >= 0; i++) {
		if (b->boot->processes[i].is_self)
			continue;
		find_links(b, i);
		for (k = 0, r = 1; k < BOOT_CHAINS_EACH && r > 0; k++)
			r = find_chain(b, i);
		if (b->chains->n > 2 * BOOT_CHAINS_MAX)
			cut_list(b->chains);
	}
	return r;
}

static void done(struct chain_build *b)
{
	free(b->after);
	free(b->links);
	free(b->by_end);
	free(b->window);
	boot_chains_free(b->chains);
}

int boot_chains_new(struct boot_chains **ret, const struct boot *b, uint64_t min_ns, uint64_t to_ns)
{
	__attribute__((cleanup(done))) struct chain_build build = { .boot = b,
								    .min_ns = min_ns,
								    .to_ns = to_ns };
	CLEANUP(boot_load) struct boot_load *load = NULL;
	int r = boot_load_new(&load, b);

	if (r < 0)
		return r;
	build.load = load;
	build.chains = calloc(1, sizeof(*build.chains));
	build.after = calloc(b->n_processes + 1, sizeof(*build.after));
	build.links = calloc(b->n_processes + 1, sizeof(*build.links));
	build.by_end = calloc(b->n_processes + 1, sizeof(*build.by_end));
	build.window = calloc(b->n_processes + 1, sizeof(*build.window));
	if (!build.chains || !build.after || !build.links || !build.by_end || !build.window)
		return -ENOMEM;
	r = find_all(&build);
	if (r < 0)
		return r;
	cut_list(build.chains);
	*ret = take_ptr(build.chains);
	return 0;
}

void boot_chains_free(struct boot_chains *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->n; i++)
		free(c->list[i].members);
	free(c->list);
	free(c);
}
