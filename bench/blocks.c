/* SPDX-License-Identifier: MIT */
/* blocks: see blocks.h. */
#include "blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int blocks_init(struct blocks *b, size_t payload, uint32_t n, struct error *e)
{
	memset(b, 0, sizeof(*b));
	b->room_places = n < BLOCKS_MAX ? n : BLOCKS_MAX;
	b->room = payload + (size_t)n * BLOCK_HEADER_MAX + BLOCK_HEADER_MAX + BLOCKS_PAYLOAD_ROOM;
	b->data = malloc(b->room);
	b->place = calloc(b->room_places, sizeof(*b->place));
	if (!b->data || !b->place) {
		blocks_done(b);
		return error_set(e, ENOMEM, "out of memory");
	}
	memset(b->data, 0xff, b->room);
	return 0;
}

void blocks_done(struct blocks *b)
{
	free(b->data);
	free(b->place);
	memset(b, 0, sizeof(*b));
}

void blocks_clear(struct blocks *b)
{
	b->used = 0;
	b->n = 0;
	b->bytes = 0;
	b->events = 0;
}

uint8_t *blocks_next(struct blocks *b)
{
	if (b->n == b->room_places || b->room - b->used < BLOCK_HEADER_MAX + BLOCKS_PAYLOAD_ROOM)
		return NULL;
	return b->data + b->used + BLOCK_HEADER_MAX;
}

void blocks_push(struct blocks *b, const struct block *header, uint32_t cpu)
{
	struct block_place *p = &b->place[b->n++];

	p->start = block_encode(header, b->data + b->used + BLOCK_HEADER_MAX, &p->len);
	p->cpu = cpu;
	b->used += BLOCK_HEADER_MAX + header->payload_len;
	b->bytes += p->len;
	b->events += header->events;
}
