/* SPDX-License-Identifier: MIT */
/* fact_stacks: see fact_stacks.h. One that holds no longer stays for what it counted, and is found no more: its hash is nobody's. */
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
	struct stack *last; /* that did not hold: it is to be replaced */
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

static size_t length(const struct sample_event *ev)
{
	return (size_t)ev->n_kernel + ev->n_user;
}

static uint64_t hash_of(const struct key *k)
{
	const struct sample_event *ev = k->event;
	uint64_t h = (uint64_t)k->thread << 32 | (uint64_t)ev->mode << 16 | ev->n_kernel;
	size_t n = length(ev), i;

	for (i = 0; i < n; i++)
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
	       !memcmp(a->chain, ev->chain, length(ev) * sizeof(*a->chain));
}

bool fact_stacks_again(struct fact_stacks *s, const struct sample_event *ev, uint32_t thread,
		       uint64_t age)
{
	const struct key key = { ev, thread };
	struct stack *found = hashtable_get(&s->table, hash_of(&key), is_stack, &key);

	s->last = NULL;
	if (!found)
		return false;
	if (found->age != age || ev->tick < found->span.since || ev->tick >= found->span.until) {
		s->last = found;
		return false;
	}
	found->shown.values[0]++;
	found->shown.values[1] += ev->weight;
	return true;
}

static struct stack *make(const struct profile_sample *sample, const struct key *k, uint32_t node)
{
	const struct sample_event *ev = k->event;
	size_t n = length(ev), places = sample->n * sizeof(*sample->places);
	struct stack *new = malloc(sizeof(*new) + n * sizeof(*ev->chain) + places);
	uint32_t *to;

	if (!new)
		return NULL;
	*new = (struct stack){ .hash = hash_of(k),
			       .thread = k->thread,
			       .mode = ev->mode,
			       .n_kernel = ev->n_kernel,
			       .n_user = ev->n_user,
			       .span = sample->span,
			       .shown = { .node = node, .n = sample->n },
			       .chain = (uint64_t *)(new + 1) };
	to = (uint32_t *)(new->chain + n);
	if (n)
		memcpy(new->chain, ev->chain, n * sizeof(*ev->chain));
	memcpy(to, sample->places, places);
	new->shown.places = to;
	return new;
}

void fact_stacks_keep(struct fact_stacks *s, const struct profile_sample *sample, uint32_t node,
		      uint64_t age)
{
	const struct key key = { sample->event, sample->thread };
	struct stack *new;

	if (s->last)
		hashtable_remove(&s->table, s->last->hash, s->last);
	s->last = NULL;
	if (array_grow(&s->list, s->n, &s->room, sizeof(*s->list), FACT_STACKS_MAX) < 0)
		return;
	new = make(sample, &key, node);
	if (!new)
		return;
	new->age = age;
	s->list[s->n++] = new;
	hashtable_add(&s->table, new->hash, new); /* without memory it is found no more, and nothing is lost */
}

bool fact_stacks_next(const struct fact_stacks *s, size_t *at, struct fact_stack *ret)
{
	while (*at < s->n && !s->list[*at]->shown.values[0])
		(*at)++;
	if (*at == s->n)
		return false;
	*ret = s->list[(*at)++]->shown;
	return true;
}
