/* SPDX-License-Identifier: MIT */
/* stage_block: see stage_block.h. */
#include "stage_block.h"

#include <string.h>

#define STREAM 65536U

size_t stage_block_put(struct block *b, const struct thread *t, size_t at, uint8_t *out)
{
	uint64_t end = t->events[at].tick;
	uint8_t *payload = out + BLOCK_HEADER_MAX, *start;
	uint32_t len;
	size_t i;

	for (i = 0; i < b->events; i++)
		if (t->events[at + i].tick > end)
			end = t->events[at + i].tick;
	b->stream = STREAM;
	b->first_tick = t->events[at].tick;
	b->before = at;
	b->ticks = end - b->first_tick;
	b->payload = payload;
	start = block_encode(b, payload, &len);
	memmove(out, start, len);
	return len;
}
