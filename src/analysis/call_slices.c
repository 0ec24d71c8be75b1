/* SPDX-License-Identifier: MIT */
/* call_slices: see call_slices.h. */
#include "analysis/call_slices.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"
#include "wire/varint.h"

#define TEXT_MAX 4096U /* bytes of a name */
#define NOT_USED UINT32_MAX

struct span {
	uint32_t function, depth;
	uint64_t begin_ns, length_ns;
	uint8_t flags;
};

struct lane {
	struct span *spans;
	size_t n, room;
};

struct call_slices {
	const struct func_source *source;
	const struct call_names *names;
	struct call_window window;
	struct call_slices_options o;
	struct lane *lanes; /* one for each thread of the source */
	uint64_t kept;	    /* spans that have ended */
	uint64_t left_out;
	struct call_totals totals;
};

/* --- the walk --- */

static int begin(void *data, const struct call_at *at)
{
	struct call_slices *s = data;
	struct lane *l = &s->lanes[at->thread];
	int r = array_grow(&l->spans, l->n, &l->room, sizeof(*l->spans),
			   CALL_SLICES_MAX + CALL_DEPTH_MAX);

	if (r < 0)
		return r;
	at->call->mark = (uint32_t)l->n;
	l->spans[l->n++] = (struct span){ .function = at->call->function,
					  .depth = at->depth,
					  .begin_ns = at->call->begin_ns };
	return 0;
}

static uint8_t flags_of(const struct call_at *at)
{
	uint32_t flags = at->call->carried ? CALL_SLICE_BEGAN_BEFORE : 0;

	if (at->end == CALL_CUT || at->end == CALL_OPEN)
		flags |= CALL_SLICE_ENDS_LATER;
	if (at->end == CALL_UNWOUND)
		flags |= CALL_SLICE_UNWOUND;
	return (uint8_t)flags;
}

static int end(void *data, const struct call_at *at)
{
	struct call_slices *s = data;
	struct lane *l = &s->lanes[at->thread];
	struct span *span = &l->spans[at->call->mark];

	span->length_ns = at->ns - at->call->begin_ns;
	span->flags = flags_of(at);
	if (span->length_ns < s->o.min_ns) {
		l->n--;
		s->left_out++;
		return 0;
	}
	return ++s->kept > s->o.limit ? -E2BIG : 0;
}

static const struct call_listener listener = { .begin = begin, .end = end };

int call_slices_new(struct call_slices **ret, const struct call_walk *w,
		    const struct call_slices_options *o, struct error *e)
{
	CLEANUP(call_slices) struct call_slices *s = calloc(1, sizeof(*s));
	struct call_walk mine = *w;
	int r;

	if (s)
		s->lanes = calloc(w->source->n_threads + 1, sizeof(*s->lanes));
	if (!s || !s->lanes)
		return error_set(e, ENOMEM, "cannot collect the calls: out of memory");
	s->source = w->source;
	s->names = w->names;
	s->window = *w->window;
	s->o = *o;
	if (s->o.limit > CALL_SLICES_MAX)
		s->o.limit = CALL_SLICES_MAX;
	mine.listener = &listener;
	mine.data = s;
	r = call_walk_run(&mine, &s->totals, e);
	if (r == -E2BIG && s->kept > s->o.limit)
		return error_set(e, E2BIG,
				 "there are more than %" PRIu64 " calls of %" PRIu64
				 " ns and more; ask for a shorter time, a greater min_ns, or limit",
				 s->o.limit, s->o.min_ns);
	if (r < 0)
		return r;
	*ret = take_ptr(s);
	return 0;
}

void call_slices_free(struct call_slices *s)
{
	size_t i;

	if (!s)
		return;
	for (i = 0; s->lanes && i < s->source->n_threads; i++)
		free(s->lanes[i].spans);
	free(s->lanes);
	free(s);
}

/* --- the document --- */

struct sheet {
	uint8_t *bytes;
	size_t len, room;
	int result; /* -ENOMEM once it failed; nothing is put from then on */
};

static void reserve(struct sheet *h, size_t more)
{
	size_t wanted = h->len + more;
	uint8_t *grown;

	if (h->result < 0 || wanted <= h->room)
		return;
	wanted = wanted < 4096 ? 4096 : 2 * wanted;
	grown = realloc(h->bytes, wanted);
	if (!grown) {
		h->result = -ENOMEM;
		return;
	}
	h->bytes = grown;
	h->room = wanted;
}

static void put(struct sheet *h, uint64_t v)
{
	reserve(h, VARINT_MAX);
	if (h->result >= 0)
		h->len = (size_t)(varint_put(h->bytes + h->len, v) - h->bytes);
}

static void put_signed(struct sheet *h, int64_t v)
{
	reserve(h, VARINT_MAX);
	if (h->result >= 0)
		h->len = (size_t)(varint_put_signed(h->bytes + h->len, v) - h->bytes);
}

static void put_text(struct sheet *h, const char *text, size_t most)
{
	size_t len = strnlen(text, most);

	put(h, len);
	reserve(h, len);
	if (h->result < 0)
		return;
	memcpy(h->bytes + h->len, text, len);
	h->len += len;
}

static void put_head(struct sheet *h, const struct call_slices *s)
{
	reserve(h, sizeof(CALL_SLICES_MAGIC));
	if (h->result < 0)
		return;
	memcpy(h->bytes, CALL_SLICES_MAGIC, 4);
	h->len = 4;
	put(h, s->window.from_ns);
	put(h, s->window.to_ns);
	put(h, s->o.final);
	put(h, s->o.join.run);
	put_signed(h, s->o.join.offset_ns);
	put(h, s->o.min_ns);
	put(h, s->left_out);
}

/* Those that are there, numbered in the order of their first spans. */
static void put_functions(struct sheet *h, const struct call_slices *s, uint32_t *numbers)
{
	_cleanup_free_ uint32_t *order = calloc(call_names_count(s->names) + 1, sizeof(*order));
	uint32_t n = 0, k;
	size_t i, j;

	if (!order) {
		h->result = -ENOMEM;
		return;
	}
	for (i = 0; i < s->source->n_threads; i++)
		for (j = 0; j < s->lanes[i].n; j++) {
			uint32_t function = s->lanes[i].spans[j].function;

			if (numbers[function] != NOT_USED)
				continue;
			numbers[function] = n;
			order[n++] = function;
		}
	put(h, n);
	for (k = 0; k < n; k++) {
		const struct function *f = call_names_get(s->names, order[k]);

		put_text(h, f->name, TEXT_MAX);
		put_text(h, f->object, TEXT_MAX);
	}
}

static void put_lane(struct sheet *h, const struct call_slices *s, size_t thread,
		     const uint32_t *numbers)
{
	const struct func_thread *t = &s->source->threads[thread];
	const struct func_process *p = &s->source->processes[t->process];
	const struct lane *l = &s->lanes[thread];
	uint64_t at = s->window.from_ns;
	size_t i;

	put_signed(h, p->pid);
	put_signed(h, t->cpu >= 0 ? -1 : t->tid);
	put_signed(h, t->cpu);
	put(h, p->kernel);
	put_text(h, t->comm, sizeof(t->comm));
	put(h, l->n);
	for (i = 0; i < l->n; i++) {
		const struct span *x = &l->spans[i];

		put(h, numbers[x->function]);
		put(h, x->begin_ns - at);
		put(h, x->length_ns);
		put(h, (uint64_t)x->depth * CALL_SLICE_FLAGS + x->flags);
		at = x->begin_ns;
	}
}

static void put_lanes(struct sheet *h, const struct call_slices *s, const uint32_t *numbers)
{
	size_t i, n = 0;

	for (i = 0; i < s->source->n_threads; i++)
		n += s->lanes[i].n > 0;
	put(h, n);
	for (i = 0; i < s->source->n_threads; i++)
		if (s->lanes[i].n)
			put_lane(h, s, i, numbers);
}

int call_slices_encode(const struct call_slices *s, uint8_t **ret, size_t *ret_len, struct error *e)
{
	size_t n = call_names_count(s->names) + 1;
	_cleanup_free_ uint32_t *numbers = malloc(n * sizeof(*numbers));
	struct sheet h = { .bytes = NULL };

	if (!numbers)
		return error_set(e, ENOMEM, "cannot encode the calls: out of memory");
	memset(numbers, 0xff, n * sizeof(*numbers));
	put_head(&h, s);
	put_functions(&h, s, numbers);
	put_lanes(&h, s, numbers);
	if (h.result < 0) {
		free(h.bytes);
		return error_set(e, ENOMEM, "cannot encode the calls: out of memory");
	}
	*ret = h.bytes;
	*ret_len = h.len;
	return 0;
}
