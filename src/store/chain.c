/* SPDX-License-Identifier: MIT */
/* chain: see chain.h. */
#include "store/chain.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#define PIECE_LEAST 40U /* with its head, and what malloc() puts before it, 48 bytes */
#define PIECE_MOST 2040U
#define CHAIN_MOST (1U << 31)

void chain_done(struct chain *c)
{
	struct chain_piece *p, *next;

	for (p = c->first; p; p = next) {
		next = p->next;
		free(p);
	}
	*c = (struct chain){ 0 };
}

int chain_reserve(struct chain *c, size_t len)
{
	struct chain_piece *last = c->last, *p;
	size_t size = last ? 2 * (sizeof(*last) + last->room) + 8 : PIECE_LEAST;

	if (last && len <= last->room - last->len)
		return 0;
	if (size > PIECE_MOST)
		size = PIECE_MOST;
	if (len > size - sizeof(*p))
		size = sizeof(*p) + len;
	if (size > CHAIN_MOST - c->pieces_bytes)
		return -E2BIG;
	p = malloc(size);
	if (!p)
		return -ENOMEM;
	p->next = NULL;
	p->len = 0;
	p->room = (uint32_t)(size - sizeof(*p));
	if (last)
		last->next = p;
	else
		c->first = p;
	c->last = p;
	c->pieces_bytes += (uint32_t)size;
	return 0;
}

uint8_t *chain_end(struct chain *c)
{
	return c->last->bytes + c->last->len;
}

void chain_push(struct chain *c, const uint8_t *end)
{
	assert(end <= c->last->bytes + c->last->room);
	c->last->len = (uint32_t)(end - c->last->bytes);
}

bool chain_next(const struct chain *c, struct chain_place *place, struct byte_reader *ret)
{
	if (!place->piece)
		place->piece = c->first;
	/* A piece may be empty: what was reserved is not always used. */
	while (place->piece && place->at == place->piece->len && place->piece->next) {
		place->piece = place->piece->next;
		place->at = 0;
	}
	if (!place->piece || place->at == place->piece->len)
		return false;
	reader_init(ret, place->piece->bytes + place->at, place->piece->len - place->at);
	return true;
}

void chain_pass(struct chain_place *place, const struct byte_reader *r)
{
	place->at = (uint32_t)(r->at - place->piece->bytes);
}
