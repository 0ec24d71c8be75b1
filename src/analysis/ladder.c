/* SPDX-License-Identifier: MIT */
/* ladder: see ladder.h. */
#include "analysis/ladder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct level {
	struct chunk_writer open;
	uint64_t chunk; /* its number, while it has any bucket */
	uint64_t next;	/* bucket behind the last that is in `sum` */
	struct bucket sum;
};

struct ladder {
	ladder_fn put;
	void *context;
	struct chunk_reader reader; /* for ladder_load(), too large for the stack */
	struct bucket loaded;
	struct level levels[LADDER_LEVELS];
};

int ladder_new(struct ladder **ret, ladder_fn put, void *context)
{
	struct ladder *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->put = put;
	l->context = context;
	*ret = l;
	return 0;
}

void ladder_free(struct ladder *l)
{
	uint32_t i;

	if (!l)
		return;
	for (i = 0; i < LADDER_LEVELS; i++)
		chunk_writer_done(&l->levels[i].open);
	free(l);
}

void ladder_reset(struct ladder *l)
{
	uint32_t i;

	for (i = 0; i < LADDER_LEVELS; i++)
		chunk_writer_reset(&l->levels[i].open);
}

/* From where the sum ends to this bucket the CPU was `h`'s. */
static void fill(struct level *v, uint32_t level, uint64_t index, const struct holder *h)
{
	bucket_add_time(&v->sum, h, (index - v->next) * ladder_width_ns(level));
	v->next = index;
}

/* A bucket joins the sum of its chunk. */
static void sum_up(struct level *v, uint32_t level, const struct bucket *b)
{
	if (!v->open.len) {
		v->chunk = b->index / LADDER_STEP;
		v->next = v->chunk * LADDER_STEP;
		bucket_init(&v->sum, v->chunk, &b->before);
	}
	fill(v, level, b->index, &b->before);
	bucket_add(&v->sum, b);
	v->next = b->index + 1;
}

int ladder_push(struct ladder *l, struct bucket *b)
{
	struct bucket *up = b;
	uint32_t level;
	int r;

	/* What is complete goes up first, from the bottom: so each level gets at most one bucket. */
	for (level = 0; level < LADDER_LEVELS; level++) {
		struct level *v = &l->levels[level];

		if (!v->open.len || v->chunk == up->index / LADDER_STEP)
			break;
		fill(v, level, (v->chunk + 1) * LADDER_STEP, &up->before);
		bucket_trim(&v->sum);
		r = l->put ? l->put(l->context, level, v->chunk, v->open.data, v->open.len) : 0;
		if (r < 0)
			return r;
		chunk_writer_reset(&v->open);
		up = &v->sum;
	}
	/* Then each joins the level above, from the top: `sum` is free to be used again after. */
	if (level == LADDER_LEVELS)
		level--;
	for (level++; level-- > 0;) {
		const struct bucket *in = level ? &l->levels[level - 1].sum : b;

		sum_up(&l->levels[level], level, in);
		r = chunk_writer_push(&l->levels[level].open, in);
		if (r < 0)
			return r;
	}
	return 0;
}

const uint8_t *ladder_get_open(const struct ladder *l, uint32_t level, size_t *ret_len)
{
	*ret_len = l->levels[level].open.len;
	return l->levels[level].open.data;
}

int ladder_load(struct ladder *l, uint32_t level, const uint8_t *data, size_t len)
{
	struct level *v = &l->levels[level];
	enum wire_status status;

	chunk_reader_init(&l->reader, data, len);
	chunk_writer_reset(&v->open);
	while ((status = chunk_reader_next(&l->reader, &l->loaded)) == WIRE_OK) {
		if (v->open.len && l->loaded.index / LADDER_STEP != v->chunk)
			return -EBADMSG;
		sum_up(v, level, &l->loaded);
		v->open.len = 1; /* not empty: sum_up() looks at no more */
	}
	if (status == WIRE_CORRUPT)
		return -EBADMSG;
	return chunk_writer_resume(&v->open, &l->reader, data, len);
}
