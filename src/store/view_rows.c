/* SPDX-License-Identifier: MIT */
/*
 * view_rows: see view_rows.h.
 *
 * Differences are taken as unsigned numbers that wrap and written as signed ones, so any tick of any
 * device comes back as it was; an honest one's take two to four bytes.
 */
#include "store/view_rows.h"

#define ROW_MAX 5U /* bytes */
#define KEY_MAX (5U + VARINT_MAX)
#define LOSS_MAX (5U + 1 + 3 * VARINT_MAX)

int view_rows_reserve(struct view_rows *l)
{
	return chain_reserve(&l->chain, ROW_MAX);
}

int view_keys_reserve(struct view_keys *l)
{
	return chain_reserve(&l->chain, KEY_MAX);
}

int view_losses_reserve(struct view_losses *l, size_t n)
{
	return n ? chain_reserve(&l->chain, n * LOSS_MAX) : 0;
}

void view_rows_push(struct view_rows *l, uint32_t offset)
{
	chain_push(&l->chain, varint_put(chain_end(&l->chain), offset - l->last));
	l->last = offset;
	l->n++;
}

void view_keys_push(struct view_keys *l, const struct view_key *key)
{
	uint8_t *p = varint_put(chain_end(&l->chain), key->row - l->last.row);

	chain_push(&l->chain, varint_put_signed(p, (int64_t)(key->tick - l->last.tick)));
	if (!l->n)
		l->first_tick = key->tick;
	l->last = *key;
	l->n++;
}

/* One more than the count, so that LOSS_UNKNOWN is a byte and not ten. */
void view_losses_push(struct view_losses *l, const struct store_loss *row)
{
	uint8_t *p = varint_put(chain_end(&l->chain), row->stream);

	*p++ = row->cause;
	p = varint_put_signed(p, (int64_t)(row->from_tick - l->last_tick));
	p = varint_put_signed(p, (int64_t)(row->to_tick - row->from_tick));
	chain_push(&l->chain, varint_put(p, row->count + 1));
	l->last_tick = row->to_tick;
	l->n++;
}

bool view_rows_next(const struct view_rows *l, struct rows_walk *w, uint32_t *ret)
{
	struct byte_reader r;

	if (!chain_next(&l->chain, &w->place, &r))
		return false;
	*ret = w->last += (uint32_t)reader_varint(&r);
	chain_pass(&w->place, &r);
	return true;
}

bool view_keys_next(const struct view_keys *l, struct keys_walk *w, struct view_key *ret)
{
	struct byte_reader r;

	if (!chain_next(&l->chain, &w->place, &r))
		return false;
	w->last.row += (uint32_t)reader_varint(&r);
	w->last.tick += (uint64_t)reader_signed(&r);
	chain_pass(&w->place, &r);
	*ret = w->last;
	return true;
}

bool view_losses_next(const struct view_losses *l, struct losses_walk *w, struct store_loss *ret)
{
	struct byte_reader r;

	if (!chain_next(&l->chain, &w->place, &r))
		return false;
	*ret = (struct store_loss){ .stream = (uint32_t)reader_varint(&r) };
	ret->cause = *reader_bytes(&r, 1);
	ret->from_tick = w->last_tick + (uint64_t)reader_signed(&r);
	ret->to_tick = w->last_tick = ret->from_tick + (uint64_t)reader_signed(&r);
	ret->count = reader_varint(&r) - 1;
	chain_pass(&w->place, &r);
	return true;
}
