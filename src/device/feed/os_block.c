/* SPDX-License-Identifier: MIT */
/* os_block: see os_block.h. */
#include "device/feed/os_block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int os_block_init(struct os_block *b, struct func_run *run, struct error *e)
{
	memset(b, 0, sizeof(*b));
	b->run = run;
	b->encoder = malloc(sizeof(*b->encoder));
	b->room = malloc(BLOCK_HEADER_MAX + OS_BLOCK_BYTES);
	if (b->encoder && b->room)
		return 0;
	os_block_done(b);
	return error_set(e, ENOMEM, "cannot watch threads: out of memory");
}

void os_block_done(struct os_block *b)
{
	free(b->encoder);
	free(b->room);
	b->encoder = NULL;
	b->room = NULL;
}

void os_block_begin(struct os_block *b, uint32_t row)
{
	b->row = row;
	b->events = 0;
	b->lost = 0;
	b->until = 0;
}

void os_block_lose(struct os_block *b, uint64_t count)
{
	if (count == LOSS_UNKNOWN || b->lost == LOSS_UNKNOWN)
		b->lost = LOSS_UNKNOWN;
	else
		b->lost += count;
}

enum wire_status os_block_push(struct os_block *b, const struct func_event *ev)
{
	enum wire_status status;

	/* Not before there is something: an encoder's start is the dearest part of a small block. */
	if (!b->events) {
		func_encoder_init(b->encoder, NULL);
		func_encoder_begin(b->encoder, b->room + BLOCK_HEADER_MAX, OS_BLOCK_BYTES,
				   ev->tick);
		b->first = b->until = ev->tick;
	}
	status = func_encode(b->encoder, ev);
	if (status != WIRE_OK)
		return status;
	b->events++;
	if (ev->tick > b->until)
		b->until = ev->tick;
	return WIRE_OK;
}

int os_block_put(struct os_block *b)
{
	struct func_run_block out = { .row = b->row,
				      .lane = FUNC_LANE_OS,
				      .payload = b->room + BLOCK_HEADER_MAX,
				      .until = b->until };
	int r;

	if (!b->events)
		return 0;
	out.block.codec = CODEC_FUNC;
	out.block.events = b->events;
	out.block.lost[LOSS_RING] = b->lost;
	out.block.first_tick = b->first;
	out.block.payload = out.payload;
	out.block.payload_len = func_encoder_end(b->encoder);
	r = func_run_put(b->run, &out);
	os_block_begin(b, b->row);
	return r;
}
