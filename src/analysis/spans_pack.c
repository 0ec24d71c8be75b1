/* SPDX-License-Identifier: MIT */
/*
 * spans_pack: see spans_pack.h. The room for all of it is made at once, from the most bytes that
 * each part can take: nothing is checked while writing but that, by an assertion, at the end.
 */
#include "analysis/spans_pack.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/varint.h"

#define NUMBERS(n) ((size_t)(n)*VARINT_MAX)

struct packer {
	const struct spans *s;
	uint32_t *place; /* by task: its number in the answer */
	uint32_t n_shown;
	uint8_t *at;
};

static size_t most_bytes(const struct spans *s, uint32_t n_shown)
{
	size_t most = 4 + NUMBERS(8) + (size_t)n_shown * (NUMBERS(5) + SCHED_COMM_LEN);
	uint32_t i;

	for (i = 0; i < s->n_cpus; i++)
		most += NUMBERS(1) + s->cpus[i].n * (5 + VARINT_MAX);
	most += s->n_spans * (1 + 5 + VARINT_MAX);
	most += s->n_wakeups * (3 * 5 + NUMBERS(2));
	return most + s->n_losses * (5 + 1 + NUMBERS(3));
}

static void put(struct packer *p, uint64_t v)
{
	p->at = varint_put(p->at, v);
}

static void put_tasks(struct packer *p)
{
	const struct span_task *t;
	uint32_t i;
	size_t len;

	put(p, p->n_shown);
	for (i = 0; i < p->s->n_tasks; i++) {
		t = &p->s->tasks[i];
		if (!t->shown)
			continue;
		p->at = varint_put_signed(p->at, t->pid);
		p->at = varint_put_signed(p->at, t->tgid);
		put(p, t->parent != TRACKER_NONE && p->s->tasks[t->parent].shown
			       ? p->place[t->parent] + 1
			       : 0);
		len = strnlen(t->comm, SCHED_COMM_LEN);
		put(p, len);
		memcpy(p->at, t->comm, len);
		p->at += len;
	}
}

static void put_slices(struct packer *p)
{
	const struct span_slice *one;
	uint32_t i;
	size_t j;

	for (i = 0; i < p->s->n_cpus; i++) {
		put(p, p->s->cpus[i].n);
		for (j = 0; j < p->s->cpus[i].n; j++) {
			one = &p->s->cpus[i].slices[j];
			put(p, (uint64_t)(one->type == SLICE_TASK ? p->place[one->task] : 0) * 8 +
				       one->type + (one->inferred ? 4 : 0));
			put(p, one->length_ns);
		}
	}
}

static void put_spans(struct packer *p)
{
	const struct span_task *t;
	const struct span *one;
	uint32_t i;
	size_t j;

	for (i = 0; i < p->s->n_tasks; i++) {
		t = &p->s->tasks[i];
		if (!t->shown)
			continue;
		put(p, t->n_spans);
		for (j = 0; j < t->n_spans; j++) {
			one = &p->s->spans[t->first_span + j];
			put(p, one->state);
			if (one->state == SPAN_RUNNING)
				put(p, one->cpu);
			put(p, one->length_ns);
		}
	}
}

static void put_wakeups(struct packer *p)
{
	uint64_t before_ns = p->s->from_ns;
	const struct span_wakeup *w;
	size_t i;

	put(p, p->s->n_wakeups);
	for (i = 0; i < p->s->n_wakeups; i++) {
		w = &p->s->wakeups[i];
		put(p, w->ns - before_ns);
		put(p, w->waker == TRACKER_NONE ? 0 : p->place[w->waker] + 1);
		put(p, p->place[w->task]);
		put(p, w->cpu);
		put(p, w->ran_ns ? w->ran_ns - w->ns + 1 : 0);
		before_ns = w->ns;
	}
}

static void put_losses(struct packer *p)
{
	const struct span_loss *l;
	size_t i;

	put(p, p->s->n_losses);
	for (i = 0; i < p->s->n_losses; i++) {
		l = &p->s->losses[i];
		put(p, l->cpu);
		put(p, l->from_ns - p->s->from_ns);
		put(p, l->to_ns - l->from_ns);
		put(p, l->count == LOSS_UNKNOWN ? 0 : l->count);
		put(p, l->cause);
	}
}

int spans_encode(const struct spans *s, uint32_t flags, uint8_t **ret, size_t *ret_len)
{
	_cleanup_free_ uint32_t *place = malloc(((size_t)s->n_tasks + 1) * sizeof(*place));
	struct packer p = { .s = s, .place = place };
	uint8_t *bytes;
	size_t most;
	uint32_t i;

	if (!place)
		return -ENOMEM;
	for (i = 0; i < s->n_tasks; i++)
		place[i] = s->tasks[i].shown ? p.n_shown++ : 0;
	most = most_bytes(s, p.n_shown);
	bytes = p.at = malloc(most);
	if (!bytes)
		return -ENOMEM;
	memcpy(p.at, SPANS_PACK_MAGIC, 4);
	p.at += 4;
	put(&p, s->from_ns);
	put(&p, s->to_ns);
	put(&p, flags);
	put(&p, s->n_cpus);
	put_tasks(&p);
	put_slices(&p);
	put_spans(&p);
	put_wakeups(&p);
	put_losses(&p);
	*ret_len = (size_t)(p.at - bytes);
	assert(*ret_len <= most);
	*ret = bytes;
	return 0;
}
