/* SPDX-License-Identifier: MIT */
/* fake_func_run: see fake_func_run.h. */
#include "tools/fake_func_run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "wire/func_decode.h"

struct func_run *fake_func_run_new(void)
{
	struct func_run *r = calloc(1, sizeof(*r));
	uint32_t i;

	for (i = 0; r && i < FAKE_FUNC_ROWS; i++)
		r->rows[i].events = calloc(FAKE_FUNC_EVENTS, sizeof(struct func_event));
	return r;
}

void fake_func_run_free(struct func_run *r)
{
	uint32_t i;

	for (i = 0; i < FAKE_FUNC_ROWS; i++)
		free(r->rows[i].events);
	free(r);
}

void func_run_get_place(const struct func_run *r, uint32_t row, enum func_run_lane lane,
			struct func_run_place *ret)
{
	(void)lane;
	*ret = r->rows[row].place;
}

static void decode(struct func_run *r, struct fake_func_row *row, const struct func_run_block *b)
{
	static struct func_decoder d;
	uint32_t i;

	func_decoder_init(&d);
	r->is_bad |= func_decoder_begin(&d, b->payload, b->block.payload_len,
					b->block.first_tick) != WIRE_OK;
	for (i = 0; i < b->block.events && row->n < FAKE_FUNC_EVENTS && !r->is_bad; i++)
		r->is_bad |= func_decode(&d, &row->events[row->n++]) != WIRE_OK;
	r->is_bad |= i < b->block.events || func_decoder_end(&d) != WIRE_OK;
}

int func_run_put(struct func_run *r, struct func_run_block *b)
{
	struct fake_func_row *row;
	uint64_t lost = b->block.lost[LOSS_RING];

	if (r->is_full)
		return -ENOSPC;
	r->is_bad |= b->row >= FAKE_FUNC_ROWS || b->lane != FUNC_LANE_OS || !b->block.events;
	if (r->is_bad)
		return -EINVAL;
	row = &r->rows[b->row];
	if (lost)
		row->lost_at = row->n;
	if (lost == LOSS_UNKNOWN)
		row->lost_unknown = true;
	else
		row->lost += lost;
	decode(r, row, b);
	row->blocks++;
	row->place.next_sequence++;
	row->place.until = b->until;
	return 0;
}
