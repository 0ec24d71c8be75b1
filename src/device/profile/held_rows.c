/* SPDX-License-Identifier: MIT */
/* held_rows: see held_rows.h. */
#include "device/profile/held_rows.h"

#define LENGTH 2U /* bytes before a row */

void held_rows_init(struct held_rows *h)
{
	uint16_t i;

	for (i = 0; i < HELD_ROWS_SLOTS; i++)
		h->slot[i].next = i;
	h->free = HELD_ROWS_SLOTS;
}

uint16_t held_rows_take(struct held_rows *h)
{
	uint16_t slot = h->free;

	if (slot == HELD_ROWS_NONE)
		return slot;
	h->free = h->slot[slot - 1].next;
	h->slot[slot - 1].len = 0;
	return slot;
}

bool held_rows_push(struct held_rows *h, uint16_t slot, const struct sample_mapping *row)
{
	struct held_slot *s = &h->slot[slot - 1];
	uint8_t *at = s->rows + s->len, *end;
	uint16_t len;

	if (row->path_len + SAMPLE_META_ROW_ROOM + LENGTH > HELD_ROWS_BYTES - s->len)
		return false;
	end = sample_meta_put_mapping(at + LENGTH, row);
	len = (uint16_t)(end - at - LENGTH);
	memcpy(at, &len, LENGTH);
	s->len = (uint16_t)(end - s->rows);
	return true;
}

void held_rows_pop(struct held_rows *h, uint16_t slot, struct profile_meta *m)
{
	struct held_slot *s = &h->slot[slot - 1];
	uint16_t at, len;

	for (at = 0; m && at < s->len; at = (uint16_t)(at + LENGTH + len)) {
		memcpy(&len, s->rows + at, LENGTH);
		profile_meta_put_encoded(m, s->rows + at + LENGTH, len);
	}
	s->len = 0;
	s->next = h->free;
	h->free = slot;
}
