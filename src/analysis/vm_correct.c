/* SPDX-License-Identifier: MIT */
/*
 * vm_correct: see vm_correct.h.
 *
 * Of each virtual CPU is kept where its last sample was, and what came since: time in the guest and steal whose place no
 * event told. The next sample shares that out. Names cost more than all the rest, so only what is in the window or next to it gets some.
 */
#include "analysis/vm_correct.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/saturate.h"
#include "store/array.h"
#include "store/hashtable.h"

const char *const vm_level_words[VM_LEVELS + 1] = { "process", "thread", "function", NULL };

struct amount {
	uint64_t guest_ns, steal1_ns, steal2_ns;
};

/* What an event told of where a guest was. */
struct told {
	bool is_there;
	struct sample_event event; /* without its chain */
	bool is_named;		   /* this is the place: */
	struct vm_place place;
};

struct vcpu {
	struct told last;    /* by a sample */
	struct amount since; /* then */
	struct told struck;  /* by an exit or a switch: where the guest was left */
	uint64_t left_tick;  /* where its last segment in the guest ended */
};

struct vm_correct {
	struct vm_correct_options o;
	bool has_begun; /* the window has */
	struct vcpu *vcpus;
	size_t n, room;
	struct hashtable stats[VM_LEVELS];
	struct vm_rest rest[VM_LEVELS];
};

int vm_correct_new(struct vm_correct **ret, const struct vm_correct_options *o)
{
	struct vm_correct *c = calloc(1, sizeof(*c));
	size_t i;

	if (!c)
		return -ENOMEM;
	c->o = *o;
	for (i = 0; i < VM_LEVELS; i++)
		hashtable_init(&c->stats[i], VM_PLACES_MAX);
	*ret = c;
	return 0;
}

void vm_correct_free(struct vm_correct *c)
{
	size_t i, at;
	void *entry;

	if (!c)
		return;
	for (i = 0; i < VM_LEVELS; i++) {
		at = 0;
		while ((entry = hashtable_next(&c->stats[i], &at)))
			free(entry);
		hashtable_done(&c->stats[i]);
	}
	free(c->vcpus);
	free(c);
}

int vm_correct_dup_state(struct vm_correct **ret, const struct vm_correct *c,
			 const struct vm_correct_options *o)
{
	static const struct vm_correct_options none;
	CLEANUP(vm_correct) struct vm_correct *to = NULL;
	int r = vm_correct_new(&to, o ? o : &none);

	if (r < 0)
		return r;
	to->vcpus = calloc(c->n + 1, sizeof(*to->vcpus));
	if (!to->vcpus)
		return -ENOMEM;
	to->room = c->n + 1;
	for (; to->n < c->n; to->n++) {
		to->vcpus[to->n] = c->vcpus[to->n];
		to->vcpus[to->n].last.is_named = false; /* by others */
		to->vcpus[to->n].struck.is_named = false;
		memset(&to->vcpus[to->n].since, 0, sizeof(to->vcpus[to->n].since));
	}
	*ret = take_ptr(to);
	return 0;
}

/* --- rows --- */

/* As far as a level looks at it. */
static struct vm_place place_at(const struct vm_place *p, enum vm_level level)
{
	struct vm_place cut = { .process = p->process };

	if (level >= VM_BY_THREAD)
		cut.thread = p->thread;
	if (level >= VM_BY_FUNCTION)
		cut.function = p->function;
	return cut;
}

static bool is_same(const struct vm_place *a, const struct vm_place *b, enum vm_level level)
{
	return a->process == b->process && (level < VM_BY_THREAD || a->thread == b->thread) &&
	       (level < VM_BY_FUNCTION || a->function == b->function);
}

static bool is_stat(const void *entry, const void *key)
{
	return is_same(&((const struct vm_stat *)entry)->place, key, VM_BY_FUNCTION);
}

static int get_stat(struct vm_correct *c, const struct vm_place *p, enum vm_level level,
		    struct vm_stat **ret)
{
	struct vm_place cut = place_at(p, level);
	uint64_t hash = hashtable_hash_number(
		cut.process + hashtable_hash_number(cut.thread + ((uint64_t)cut.function << 32)));
	struct vm_stat *s = hashtable_get(&c->stats[level], hash, is_stat, &cut);
	int r;

	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->place = cut;
		r = hashtable_add(&c->stats[level], hash, s);
		if (r < 0) {
			free(s);
			return r;
		}
	}
	*ret = s;
	return 0;
}

/* To a place, on all levels up to the last on which it is certain. */
static int charge(struct vm_correct *c, const struct vm_place *p, const struct amount *a,
		  enum vm_level last)
{
	enum vm_level level;
	struct vm_stat *s;
	int r;

	if (c->o.charges_only)
		return 0;
	for (level = VM_BY_PROCESS; level <= last; level++) {
		r = get_stat(c, p, level, &s);
		if (r < 0)
			return r;
		s->true_ns += a->guest_ns;
		s->steal1_ns += a->steal1_ns;
		s->steal2_ns += a->steal2_ns;
	}
	return 0;
}

/* --- between two samples --- */

static int get_vcpu(struct vm_correct *c, uint32_t vcpu, struct vcpu **ret)
{
	int r = 0;

	while (r == 0 && c->n <= vcpu) {
		r = array_grow(&c->vcpus, c->n, &c->room, sizeof(*c->vcpus), VM_VCPUS_MAX);
		if (r == 0)
			memset(&c->vcpus[c->n++], 0, sizeof(*c->vcpus));
	}
	if (r == 0)
		*ret = &c->vcpus[vcpu];
	return r;
}

/* Steal whose place only the samples around it tell: up to which level they are the same. */
static int level_of(const struct vcpu *v, const struct vm_place *next)
{
	int level = VM_BY_FUNCTION;

	while (level >= 0 &&
	       !(v->last.is_named && next && is_same(&v->last.place, next, (enum vm_level)level)))
		level--;
	return level;
}

static int share_steal(struct vm_correct *c, const struct vcpu *v, const struct vm_place *next)
{
	struct amount a = { 0, v->since.steal1_ns, v->since.steal2_ns };
	int last = level_of(v, next), level;

	if (!a.steal1_ns && !a.steal2_ns)
		return 0;
	for (level = VM_BY_FUNCTION; level > last; level--) {
		c->rest[level].steal1_ns += a.steal1_ns;
		c->rest[level].steal2_ns += a.steal2_ns;
	}
	return last < 0 ? 0 : charge(c, next, &a, (enum vm_level)last);
}

/* What of the time in the guest is the last sample's. At either end there is one sample only. */
static uint64_t part_before(const struct vcpu *v, const struct vm_place *next)
{
	if (!next)
		return v->since.guest_ns;
	return v->last.is_named ? v->since.guest_ns / 2 : 0;
}

static int share_guest(struct vm_correct *c, const struct vcpu *v, const struct vm_place *next)
{
	struct amount before = { part_before(v, next), 0, 0 };
	struct amount after = { v->since.guest_ns - before.guest_ns, 0, 0 };
	int r = 0, level;

	if (!next && !v->last.is_named) {
		for (level = 0; level < VM_LEVELS; level++)
			c->rest[level].true_ns += v->since.guest_ns;
		return 0;
	}
	if (before.guest_ns)
		r = charge(c, &v->last.place, &before, VM_BY_FUNCTION);
	if (r == 0 && after.guest_ns)
		r = charge(c, next, &after, VM_BY_FUNCTION);
	return r;
}

static int tell(const struct vm_correct *c, const struct vcpu *v, const struct vm_place *next,
		bool is_counted)
{
	struct vm_charge charge = { .vcpu = (uint32_t)(v - c->vcpus),
				    .is_counted = is_counted,
				    .before = v->last.is_named ? &v->last.place : NULL,
				    .next = next,
				    .before_ns = part_before(v, next),
				    .level = level_of(v, next) };

	return c->o.charge ? c->o.charge(c->o.data, &charge) : 0;
}

static int share(struct vm_correct *c, struct vcpu *v, const struct vm_place *next, bool is_counted)
{
	int r = tell(c, v, next, is_counted);

	if (r == 0)
		r = share_guest(c, v, next);
	if (r == 0)
		r = share_steal(c, v, next);
	memset(&v->since, 0, sizeof(v->since));
	return r;
}

/* --- what comes --- */

static uint64_t clip(const struct vm_correct *c, uint64_t tick)
{
	uint64_t ns = clock_ns(c->o.clock, tick);

	if (ns < c->o.from_ns)
		return c->o.from_ns;
	return ns > c->o.to_ns ? c->o.to_ns : ns;
}

static int name(struct vm_correct *c, uint32_t vcpu, struct told *t)
{
	int r = c->o.place(c->o.data, vcpu, &t->event, &t->place);

	t->is_named = r >= 0;
	return r;
}

/* An event told where the guest was when this struck. */
static int strike(struct vm_correct *c, struct vcpu *v, const struct amount *a)
{
	struct vm_charge told = { .vcpu = (uint32_t)(v - c->vcpus),
				  .is_struck = true,
				  .next = &v->struck.place,
				  .level = VM_BY_FUNCTION };
	int r = v->struck.is_named ? 0 : name(c, told.vcpu, &v->struck);

	if (r >= 0 && c->o.charge)
		r = c->o.charge(c->o.data, &told);
	return r < 0 ? r : charge(c, &v->struck.place, a, VM_BY_FUNCTION);
}

int vm_correct_put_segment(struct vm_correct *c, const struct vm_segment *s)
{
	uint64_t ns = clip(c, s->to_tick) - clip(c, s->from_tick);
	struct amount a = { 0 };
	struct vcpu *v;
	int r = get_vcpu(c, s->vcpu, &v);

	if (r < 0)
		return r;
	if (s->kind == VM_GUEST) {
		v->since.guest_ns += ns;
		v->left_tick = s->to_tick;
		return 0;
	}
	if (s->kind == VM_STEAL || s->kind == VM_WAITING)
		a.steal1_ns = ns;
	if (s->kind == VM_KERNEL || s->kind == VM_OUTSIDE)
		a.steal2_ns = ns;
	if (v->struck.is_there && v->struck.event.tick >= v->left_tick)
		return ns ? strike(c, v, &a) : 0;
	v->since.steal1_ns += a.steal1_ns;
	v->since.steal2_ns += a.steal2_ns;
	return 0;
}

static int count_sample(struct vm_correct *c, const struct vm_place *p)
{
	enum vm_level level;
	struct vm_stat *s;
	int r;

	for (level = VM_BY_PROCESS; level < VM_LEVELS; level++) {
		r = get_stat(c, p, level, &s);
		if (r < 0)
			return r;
		s->samples++;
	}
	return 0;
}

int vm_correct_begin(struct vm_correct *c)
{
	uint32_t i;
	int r = 0;

	if (c->has_begun)
		return 0;
	c->has_begun = true;
	for (i = 0; i < c->n && r >= 0; i++) {
		struct told last = c->vcpus[i].last;

		if (!last.is_there)
			continue;
		r = name(c, i, &last);
		if (r >= 0)
			r = tell(c, &c->vcpus[i], &last.place, false);
		c->vcpus[i].last = last;
	}
	return r < 0 ? r : 0;
}

static bool has_amount(const struct amount *a)
{
	return a->guest_ns || a->steal1_ns || a->steal2_ns;
}

static int take_sample(struct vm_correct *c, uint32_t vcpu, struct told *next)
{
	uint64_t ns = clock_ns(c->o.clock, next->event.tick);
	bool is_counted = c->has_begun && ns >= c->o.from_ns && ns < c->o.to_ns;
	struct vcpu *v = &c->vcpus[vcpu];
	int r = 0;

	if (is_counted || has_amount(&v->since)) {
		r = name(c, vcpu, next);
		if (r >= 0)
			r = share(c, v, &next->place, is_counted);
	}
	v->last = *next;
	return r < 0 || !is_counted || c->o.charges_only ? r : count_sample(c, &next->place);
}

int vm_correct_put_sample(struct vm_correct *c, uint32_t vcpu, const struct sample_item *item)
{
	struct told told = { .is_there = true, .event = item->event };
	struct vcpu *v;
	int r = get_vcpu(c, vcpu, &v);

	if (r < 0 || !item->event.guest)
		return r;
	told.event.chain = NULL;
	told.event.n_kernel = told.event.n_user = 0;
	if (item->event.kind == SAMPLE_TAKEN)
		return take_sample(c, vcpu, &told);
	v->struck = told;
	return 0;
}

int vm_correct_end(struct vm_correct *c)
{
	size_t i;
	int r = 0;

	for (i = 0; i < c->n && r == 0; i++)
		r = share(c, &c->vcpus[i], NULL, false);
	return r;
}

/* --- what came out --- */

static int compare(const void *x, const void *y)
{
	const struct vm_stat *a = *(const struct vm_stat *const *)x;
	const struct vm_stat *b = *(const struct vm_stat *const *)y;

	if (a->true_ns != b->true_ns)
		return a->true_ns > b->true_ns ? -1 : 1;
	return memcmp(&a->place, &b->place, sizeof(a->place));
}

const struct vm_stat **vm_correct_dup(const struct vm_correct *c, enum vm_level level,
				      size_t *ret_n)
{
	const struct hashtable *t = &c->stats[level];
	const struct vm_stat **list = calloc(t->n + 1, sizeof(*list));
	size_t at = 0, n = 0;

	if (!list)
		return NULL;
	while (n < t->n && (list[n] = hashtable_next(t, &at)))
		n++;
	qsort(list, n, sizeof(*list), compare);
	*ret_n = n;
	return list;
}

const struct vm_rest *vm_correct_rest(const struct vm_correct *c, enum vm_level level)
{
	return &c->rest[level];
}

uint64_t vm_stat_error(const struct vm_stat *s)
{
	if (!s->samples)
		return s->true_ns;
	return saturate_u64((double)s->true_ns / sqrt((double)s->samples));
}
