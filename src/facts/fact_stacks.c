/* SPDX-License-Identifier: MIT */
/* fact_stacks: see fact_stacks.h. What holds no longer stays for what it counted, and is found no more. */
#include "facts/fact_stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "store/hashtable.h"

struct stack {
	uint64_t hash;
	uint32_t thread;
	uint8_t mode;
	uint16_t n_kernel, n_user;
	uint64_t age;
	struct sample_span span;
	struct fact_stack shown;
	uint64_t *chain; /* behind it, and behind that its places */
};

struct fact_stacks {
	struct hashtable table;
	struct stack **list;
	size_t n, room;
};

/* What is looked for. */
struct key {
	const struct sample_event *event;
	uint32_t thread;
};

int fact_stacks_new(struct fact_stacks **ret)
{
	struct fact_stacks *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	hashtable_init(&s->table, FACT_STACKS_MAX);
	*ret = s;
	return 0;
}

void fact_stacks_free(struct fact_stacks *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; i < s->n; i++)
		free(s->list[i]);
	free(s->list);
	hashtable_done(&s->table);
	free(s);
}

/* Of the callers. */
static size_t length(const struct sample_event *ev)
{
	return (size_t)ev->n_kernel + ev->n_user - 1;
}

static uint64_t hash_of(const struct key *k)
{
	const struct sample_event *ev = k->event;
	uint64_t h = (uint64_t)k->thread << 32 | (uint64_t)ev->mode << 16 | ev->n_kernel;
	size_t n = length(ev), i;

	for (i = 1; i <= n; i++)
		h = (h ^ ev->chain[i]) * 0x9e3779b97f4a7c15ULL;
	return hashtable_hash_number(h ^ n);
}

static bool is_stack(const void *entry, const void *key)
{
	const struct stack *a = entry;
	const struct key *b = key;
	const struct sample_event *ev = b->event;

	return a->thread == b->thread && a->mode == ev->mode && a->n_kernel == ev->n_kernel &&
	       a->n_user == ev->n_user &&
	       !memcmp(a->chain, ev->chain + 1, length(ev) * sizeof(*a->chain));
}

struct fact_stack *fact_stacks_get(struct fact_stacks *s, const struct sample_event *ev,
				   uint32_t thread, uint64_t age)
{
	const struct key key = { ev, thread };
	struct stack *found = hashtable_get(&s->table, hash_of(&key), is_stack, &key);

	if (!found)
		return NULL;
	if (found->age == age && ev->tick >= found->span.since && ev->tick < found->span.until)
		return &found->shown;
	hashtable_remove(&s->table, found->hash, found);
	return NULL;
}

static struct stack *make(const struct fact_stacks_new_one *o)
{
	const struct profile_sample *sample = o->sample;
	const struct sample_event *ev = sample->event;
	const struct key key = { ev, sample->thread };
	size_t n = length(ev), places = o->callers * sizeof(*sample->places);
	struct stack *new = malloc(sizeof(*new) + n * sizeof(*ev->chain) + places);
	uint32_t *to;

	if (!new)
		return NULL;
	*new = (struct stack){ .hash = hash_of(&key),
			       .thread = sample->thread,
			       .mode = ev->mode,
			       .n_kernel = ev->n_kernel,
			       .n_user = ev->n_user,
			       .age = o->age,
			       .span = sample->span,
			       .shown = { .node = o->node, .n = o->callers },
			       .chain = (uint64_t *)(new + 1) };
	to = (uint32_t *)(new->chain + n);
	memcpy(new->chain, ev->chain + 1, n * sizeof(*ev->chain));
	memcpy(to, sample->places + sample->n - o->callers, places);
	new->shown.places = to;
	return new;
}

void fact_stacks_keep(struct fact_stacks *s, const struct fact_stacks_new_one *new_one)
{
	struct stack *new;

	if (array_grow(&s->list, s->n, &s->room, sizeof(*s->list), FACT_STACKS_MAX) < 0)
		return;
	new = make(new_one);
	if (!new)
		return;
	s->list[s->n++] = new;
	hashtable_add(&s->table, new->hash,
		      new); /* without memory nobody finds it, and nothing is lost */
}

const struct fact_stack *fact_stacks_next(const struct fact_stacks *s, size_t *at)
{
	return *at < s->n ? &s->list[(*at)++]->shown : NULL;
}
