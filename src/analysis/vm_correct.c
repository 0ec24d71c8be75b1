/* SPDX-License-Identifier: MIT */
/*
 * vm_correct: see vm_correct.h.
 *
 * Of each virtual CPU is kept where its last sample was, and what came since: time in the guest and steal whose place no
 * event told. The next sample shares that out.
 */
#include "analysis/vm_correct.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "store/hashtable.h"

const char *const vm_level_words[VM_LEVELS + 1] = { "process", "thread", "function", NULL };

struct amount {
	uint64_t guest_ns, steal1_ns, steal2_ns;
};

struct vcpu {
	bool has_place;
	struct vm_place place; /* of the last sample */
	struct amount since;   /* then */
	bool has_struck;       /* an exit or a switch told where the guest was left: */
	struct vm_place struck;
	uint64_t struck_tick;
	uint64_t left_tick; /* where its last segment in the guest ended */
};

struct vm_correct {
	struct vm_correct_options o;
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

/* Steal whose place only the samples around it tell. */
static int share_steal(struct vm_correct *c, const struct vcpu *v, const struct vm_place *next)
{
	struct amount a = { 0, v->since.steal1_ns, v->since.steal2_ns };
	int level = VM_BY_FUNCTION;

	if (!a.steal1_ns && !a.steal2_ns)
		return 0;
	while (level >= 0 &&
	       !(v->has_place && next && is_same(&v->place, next, (enum vm_level)level))) {
		c->rest[level].steal1_ns += a.steal1_ns;
		c->rest[level].steal2_ns += a.steal2_ns;
		level--;
	}
	return level < 0 ? 0 : charge(c, next, &a, (enum vm_level)level);
}

static int share_guest(struct vm_correct *c, const struct vcpu *v, const struct vm_place *next)
{
	struct amount before = { v->since.guest_ns / 2, 0, 0 };
	struct amount after = { v->since.guest_ns - before.guest_ns, 0, 0 };
	int r = 0, level;

	/* At either end there is one sample only. */
	if (!next) {
		before.guest_ns = v->since.guest_ns;
		after.guest_ns = 0;
	} else if (!v->has_place) {
		after.guest_ns = v->since.guest_ns;
		before.guest_ns = 0;
	}
	if (!next && !v->has_place) {
		for (level = 0; level < VM_LEVELS; level++)
			c->rest[level].true_ns += v->since.guest_ns;
		return 0;
	}
	if (before.guest_ns)
		r = charge(c, &v->place, &before, VM_BY_FUNCTION);
	if (r == 0 && after.guest_ns)
		r = charge(c, next, &after, VM_BY_FUNCTION);
	return r;
}

static int share(struct vm_correct *c, struct vcpu *v, const struct vm_place *next)
{
	int r = share_guest(c, v, next);

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
	if (v->has_struck && v->struck_tick >= v->left_tick)
		return ns ? charge(c, &v->struck, &a, VM_BY_FUNCTION) : 0;
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

int vm_correct_put_sample(struct vm_correct *c, uint32_t vcpu, const struct sample_item *item)
{
	uint64_t ns = clock_ns(c->o.clock, item->event.tick);
	struct vm_place p;
	struct vcpu *v;
	int r = get_vcpu(c, vcpu, &v);

	if (r < 0 || !item->event.guest)
		return r;
	r = c->o.place(c->o.data, vcpu, item, &p);
	if (r < 0)
		return r;
	if (item->event.kind != SAMPLE_TAKEN) {
		v->has_struck = true;
		v->struck = p;
		v->struck_tick = item->event.tick;
		return 0;
	}
	r = share(c, v, &p);
	v->has_place = true;
	v->place = p;
	if (r == 0 && ns >= c->o.from_ns && ns < c->o.to_ns)
		r = count_sample(c, &p);
	return r;
}

int vm_correct_end(struct vm_correct *c)
{
	size_t i;
	int r = 0;

	for (i = 0; i < c->n && r == 0; i++)
		r = share(c, &c->vcpus[i], NULL);
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
	return (uint64_t)((double)s->true_ns / sqrt((double)s->samples));
}
