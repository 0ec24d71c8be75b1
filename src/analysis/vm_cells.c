/* SPDX-License-Identifier: MIT */
/* vm_cells: see vm_cells.h. */
#include "analysis/vm_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/vm_exit.h"
#include "base/saturate.h"
#include "store/array.h"
#include "store/hashtable.h"

/* What waits to be charged: a segment, or (its stack is not 0) a sample in the VMM. */
struct pending {
	struct vm_cell like;
	uint64_t from_ns, to_ns;
};

struct vcpu {
	struct pending *pending;
	size_t n, room;
	bool is_fresh; /* the last one is of the segment that was put last */
	bool has_last;
	struct vm_place last; /* of its last sample */
};

struct vm_cells {
	struct vm_cells_options o;
	struct profile_tree *stacks;
	struct hashtable table;
	struct vm_cell **cells;
	size_t n, room;
	struct vcpu *vcpus;
	size_t n_vcpus, room_vcpus;
	struct vm_cell_span *spans;
	size_t n_spans, room_spans;
};

int vm_cells_new(struct vm_cells **ret, const struct vm_cells_options *o)
{
	CLEANUP(vm_cells) struct vm_cells *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	c->o = *o;
	hashtable_init(&c->table, VM_CELLS_MAX);
	if (profile_tree_new(&c->stacks, 1) < 0)
		return -ENOMEM;
	*ret = take_ptr(c);
	return 0;
}

void vm_cells_free(struct vm_cells *c)
{
	size_t i;

	if (!c)
		return;
	for (i = 0; i < c->n_vcpus; i++)
		free(c->vcpus[i].pending);
	for (i = 0; i < c->n; i++)
		free(c->cells[i]);
	free(c->vcpus);
	free(c->cells);
	free(c->spans);
	hashtable_done(&c->table);
	profile_tree_free(c->stacks);
	free(c);
}

/* --- cells --- */

/* The same work of the VMM, whoever it was for. */
static bool is_same_work(const struct vm_cell *a, const struct vm_cell *b)
{
	return a->vcpu == b->vcpu && a->kind == b->kind && a->has_reason == b->has_reason &&
	       a->reason == b->reason && a->is_halt == b->is_halt;
}

static bool is_cell(const void *entry, const void *key)
{
	const struct vm_cell *a = entry, *b = key;

	return is_same_work(a, b) && a->ours == b->ours && a->level == b->level &&
	       a->place.process == b->place.process && a->place.thread == b->place.thread &&
	       a->place.function == b->place.function && a->culprit.tid == b->culprit.tid &&
	       a->culprit.pid == b->culprit.pid && a->stack == b->stack;
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return hashtable_hash_number(hash + value);
}

static uint64_t hash_of(const struct vm_cell *c)
{
	uint64_t h = mix(c->vcpu, (uint64_t)c->kind << 32);

	h = mix(h, c->place.process + ((uint64_t)c->place.thread << 32));
	h = mix(h, c->place.function + ((uint64_t)c->stack << 32));
	return mix(h, c->reason + (uint32_t)c->culprit.tid);
}

/* The cell that is like this one, with nothing in it if it is new. */
static int get_cell(struct vm_cells *c, const struct vm_cell *like, struct vm_cell **ret)
{
	uint64_t hash = hash_of(like);
	struct vm_cell *cell = hashtable_get(&c->table, hash, is_cell, like);
	int r;

	if (cell) {
		*ret = cell;
		return 0;
	}
	r = array_grow(&c->cells, c->n, &c->room, sizeof(*c->cells), VM_CELLS_MAX);
	cell = r < 0 ? NULL : malloc(sizeof(*cell));
	if (!cell)
		return r < 0 ? r : -ENOMEM;
	*cell = *like;
	cell->number = (uint32_t)c->n;
	cell->ns = cell->samples = cell->weight = 0;
	r = hashtable_add(&c->table, hash, cell);
	if (r < 0) {
		free(cell);
		return r;
	}
	c->cells[c->n++] = cell;
	*ret = cell;
	return 0;
}

/* Of a segment; only what matters in its class. */
static struct vm_cell like_of(const struct vm_cells *c, const struct vm_segment *s)
{
	struct vm_cell like = {
		.vcpu = s->vcpu, .kind = s->kind, .level = -1, .culprit = { .tid = -1 }
	};

	if (s->kind == VM_STEAL || s->kind == VM_WAITING)
		like.culprit = s->culprit;
	if (s->kind != VM_KERNEL && s->kind != VM_OUTSIDE)
		return like;
	like.ours = s->ours;
	like.has_reason = s->has_reason;
	if (s->has_reason) {
		like.reason = s->reason;
		like.detail = s->detail;
		like.is_halt = vm_exit_is_halt(c->o.exits, s->reason, s->detail);
	}
	return like;
}

static void set_place(struct vm_cell *like, const struct vm_place *p, int level)
{
	like->level = (int8_t)(p ? level : -1);
	memset(&like->place, 0, sizeof(like->place));
	if (like->level >= VM_BY_PROCESS)
		like->place.process = p->process;
	if (like->level >= VM_BY_THREAD)
		like->place.thread = p->thread;
	if (like->level >= VM_BY_FUNCTION)
		like->place.function = p->function;
}

/* --- spans --- */

static int add_span(struct vm_cells *c, const struct vm_cell *cell, uint64_t from_ns,
		    uint64_t to_ns)
{
	struct vm_cell_span *last = c->n_spans ? &c->spans[c->n_spans - 1] : NULL;
	int r;

	if (!c->o.with_spans)
		return 0;
	/* Mostly one follows the other: what need not be kept is not. */
	if (last && last->cell == cell->number && last->to_ns == from_ns) {
		last->to_ns = to_ns;
		return 0;
	}
	r = array_grow(&c->spans, c->n_spans, &c->room_spans, sizeof(*c->spans), VM_SPANS_MAX);
	if (r < 0)
		return r;
	c->spans[c->n_spans++] = (struct vm_cell_span){ from_ns, to_ns, cell->vcpu, cell->number };
	return 0;
}

static int put_time(struct vm_cells *c, const struct vm_cell *like, uint64_t from_ns,
		    uint64_t to_ns)
{
	struct vm_cell *cell;
	int r;

	if (from_ns == to_ns)
		return 0;
	r = get_cell(c, like, &cell);
	if (r < 0)
		return r;
	cell->ns += to_ns - from_ns;
	return add_span(c, cell, from_ns, to_ns);
}

/* --- what waits --- */

static int get_vcpu(struct vm_cells *c, uint32_t vcpu, struct vcpu **ret)
{
	int r = 0;

	while (r == 0 && c->n_vcpus <= vcpu) {
		r = array_grow(&c->vcpus, c->n_vcpus, &c->room_vcpus, sizeof(*c->vcpus),
			       VM_VCPUS_MAX);
		if (r == 0)
			memset(&c->vcpus[c->n_vcpus++], 0, sizeof(*c->vcpus));
	}
	if (r == 0)
		*ret = &c->vcpus[vcpu];
	return r;
}

static int put_sample(struct vm_cells *c, const struct vm_cell *like, uint64_t weight)
{
	struct vm_cell *cell;
	int r = get_cell(c, like, &cell);

	if (r < 0)
		return r;
	cell->samples++;
	cell->weight += weight;
	return 0;
}

/* Time in the guest: the first part of it is that of the sample before. */
static int charge_guest(struct vm_cells *c, struct pending *p, const struct vm_charge *charge,
			uint64_t *before_ns)
{
	uint64_t all = p->to_ns - p->from_ns, part = all < *before_ns ? all : *before_ns;
	uint64_t middle = p->from_ns + part;
	int r;

	*before_ns -= part;
	set_place(&p->like, charge->before, VM_BY_FUNCTION);
	r = put_time(c, &p->like, p->from_ns, middle);
	set_place(&p->like, charge->next, VM_BY_FUNCTION);
	return r < 0 ? r : put_time(c, &p->like, middle, p->to_ns);
}

static int charge_other(struct vm_cells *c, struct pending *p, const struct vm_charge *charge)
{
	set_place(&p->like, charge->next, charge->level);
	return p->like.stack ? put_sample(c, &p->like, p->like.weight)
			     : put_time(c, &p->like, p->from_ns, p->to_ns);
}

static int charge_all(struct vm_cells *c, struct vcpu *v, const struct vm_charge *charge)
{
	uint64_t before_ns = charge->before_ns;
	size_t i;
	int r = 0;

	for (i = 0; i < v->n && r >= 0; i++)
		r = v->pending[i].like.kind == VM_GUEST
			    ? charge_guest(c, &v->pending[i], charge, &before_ns)
			    : charge_other(c, &v->pending[i], charge);
	v->n = 0;
	v->is_fresh = false;
	return r;
}

/* The segment that was put last, and the samples in it. */
static int charge_last(struct vm_cells *c, struct vcpu *v, const struct vm_charge *charge)
{
	struct pending last;
	int r = 0;

	if (!v->is_fresh)
		return 0;
	v->is_fresh = false;
	last = v->pending[--v->n];
	while (r >= 0 && v->n && v->pending[v->n - 1].like.stack &&
	       v->pending[v->n - 1].from_ns >= last.from_ns)
		r = charge_other(c, &v->pending[--v->n], charge);
	return r < 0 ? r : charge_other(c, &last, charge);
}

int vm_cells_charge(struct vm_cells *c, const struct vm_charge *charge)
{
	struct vm_cell like = { .vcpu = charge->vcpu, .kind = VM_GUEST, .culprit = { .tid = -1 } };
	struct vcpu *v;
	int r = get_vcpu(c, charge->vcpu, &v);

	if (r < 0)
		return r;
	if (charge->is_struck)
		return charge_last(c, v, charge);
	r = charge_all(c, v, charge);
	if (charge->next) {
		v->has_last = true;
		v->last = *charge->next;
	}
	if (r < 0 || !charge->is_counted)
		return r;
	set_place(&like, charge->next, VM_BY_FUNCTION);
	return put_sample(c, &like, 0);
}

static int add_pending(struct vm_cells *c, struct vcpu *v, const struct pending *p)
{
	struct vm_charge full = { .before = v->has_last ? &v->last : NULL,
				  .before_ns = UINT64_MAX,
				  .level = -1 };
	int r = array_grow(&v->pending, v->n, &v->room, sizeof(*v->pending), VM_PENDING_MAX);

	if (r == -E2BIG)
		r = charge_all(c, v, &full);
	if (r < 0)
		return r;
	v->pending[v->n++] = *p;
	return 0;
}

/* --- what comes --- */

static uint64_t clip(const struct vm_cells *c, uint64_t tick)
{
	uint64_t ns = clock_ns(c->o.clock, tick);

	if (ns < c->o.from_ns)
		return c->o.from_ns;
	return ns > c->o.to_ns ? c->o.to_ns : ns;
}

static bool is_charged(uint8_t kind)
{
	return kind == VM_GUEST || kind == VM_KERNEL || kind == VM_OUTSIDE || kind == VM_STEAL ||
	       kind == VM_WAITING;
}

int vm_cells_put_segment(struct vm_cells *c, const struct vm_segment *s)
{
	struct pending p = { .like = like_of(c, s),
			     .from_ns = clip(c, s->from_tick),
			     .to_ns = clip(c, s->to_tick) };
	struct vcpu *v;
	int r = get_vcpu(c, s->vcpu, &v);

	if (r < 0)
		return r;
	v->is_fresh = false;
	if (p.from_ns == p.to_ns)
		return 0;
	if (!is_charged(s->kind))
		return put_time(c, &p.like, p.from_ns, p.to_ns);
	r = add_pending(c, v, &p);
	v->is_fresh = r == 0 && s->kind != VM_GUEST;
	return r;
}

int vm_cells_put_host(struct vm_cells *c, const struct vm_segment *now,
		      const struct vm_host_stack *stack)
{
	uint64_t ns = clock_ns(c->o.clock, stack->tick);
	struct pending p = { .like = like_of(c, now), .from_ns = ns, .to_ns = ns };
	uint32_t node = 0;
	struct vcpu *v;
	size_t i;
	int r = get_vcpu(c, now->vcpu, &v);

	if (r < 0 || ns < c->o.from_ns || ns >= c->o.to_ns ||
	    (now->kind != VM_KERNEL && now->kind != VM_OUTSIDE))
		return r;
	for (i = 0; i < stack->n && r >= 0; i++)
		r = profile_tree_find(c->stacks, node, stack->functions[i], &node);
	if (r < 0 || !node)
		return r;
	p.like.stack = node;
	p.like.weight = stack->weight;
	return add_pending(c, v, &p);
}

/* --- the end --- */

static int compare_work(const void *x, const void *y)
{
	const struct vm_cell *a = *(const struct vm_cell *const *)x;
	const struct vm_cell *b = *(const struct vm_cell *const *)y;

	if (a->vcpu != b->vcpu)
		return a->vcpu < b->vcpu ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->has_reason != b->has_reason)
		return a->has_reason ? 1 : -1;
	if (a->reason != b->reason)
		return a->reason < b->reason ? -1 : 1;
	if (a->is_halt != b->is_halt)
		return a->is_halt ? 1 : -1;
	return a->stack < b->stack ? -1 : a->stack > b->stack;
}

/* Which cells the samples in the VMM are in, those of the same work together. */
struct work {
	struct vm_cell **cells;
	size_t n;
};

static int find_work(const struct vm_cells *c, struct work *w)
{
	size_t i;

	w->n = 0;
	w->cells = calloc(c->n + 1, sizeof(struct vm_cell *));
	if (!w->cells)
		return -ENOMEM;
	for (i = 0; i < c->n; i++)
		if (c->cells[i]->stack && c->cells[i]->weight)
			w->cells[w->n++] = c->cells[i];
	qsort(w->cells, w->n, sizeof(struct vm_cell *), compare_work);
	return 0;
}

/* The first of the same work; w->n: there is none. */
static size_t first_work(const struct work *w, const struct vm_cell *like)
{
	struct vm_cell key = *like;
	const struct vm_cell *p = &key;
	size_t from = 0, to = w->n, middle;

	key.stack = 0;
	while (from < to) {
		middle = from + (to - from) / 2;
		if (compare_work(&w->cells[middle], &p) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from < w->n && is_same_work(w->cells[from], like) ? from : w->n;
}

/* The time of a cell to stacks by their weights; what rounding leaves is the last one's. */
static int share_cell(struct vm_cells *c, const struct work *w, struct vm_cell *cell)
{
	size_t first = first_work(w, cell), i;
	uint64_t weight = 0, part;
	struct vm_cell like = *cell, *to;
	int r = 0;

	for (i = first; i < w->n && is_same_work(w->cells[i], cell); i++)
		weight += w->cells[i]->weight;
	for (i = first; r >= 0 && i < w->n && is_same_work(w->cells[i], cell); i++) {
		part = saturate_u64((double)cell->ns * (double)w->cells[i]->weight /
				    (double)weight);
		part = part > cell->ns || weight == w->cells[i]->weight ? cell->ns : part;
		like.stack = w->cells[i]->stack;
		r = get_cell(c, &like, &to);
		if (r < 0)
			break;
		to->ns += part;
		cell->ns -= part;
		weight -= w->cells[i]->weight;
	}
	return r;
}

static int compare_spans(const void *x, const void *y)
{
	const struct vm_cell_span *a = x, *b = y;

	if (a->vcpu != b->vcpu)
		return a->vcpu < b->vcpu ? -1 : 1;
	return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

/* They were put as they were charged; in order, what is of one cell and side by side is one. */
static void order_spans(struct vm_cells *c)
{
	struct vm_cell_span *s = c->spans;
	size_t n = 0, i;

	if (c->n_spans)
		qsort(s, c->n_spans, sizeof(*s), compare_spans);
	for (i = 0; i < c->n_spans; i++) {
		if (n && s[n - 1].cell == s[i].cell && s[n - 1].to_ns == s[i].from_ns)
			s[n - 1].to_ns = s[i].to_ns;
		else
			s[n++] = s[i];
	}
	c->n_spans = n;
}

int vm_cells_end(struct vm_cells *c)
{
	struct work w = { 0 };
	size_t n = c->n, i;
	int r = find_work(c, &w);

	/* New cells come behind those that were there. */
	for (i = 0; i < n && r >= 0; i++)
		if (!c->cells[i]->stack && c->cells[i]->ns)
			r = share_cell(c, &w, c->cells[i]);
	free(w.cells);
	order_spans(c);
	return r;
}

size_t vm_cells_count(const struct vm_cells *c)
{
	return c->n;
}

const struct vm_cell *vm_cells_get(const struct vm_cells *c, size_t i)
{
	return c->cells[i];
}

const struct profile_tree *vm_cells_stacks(const struct vm_cells *c)
{
	return c->stacks;
}

const struct vm_cell_span *vm_cells_spans(const struct vm_cells *c, size_t *ret_n)
{
	*ret_n = c->n_spans;
	return c->spans;
}
