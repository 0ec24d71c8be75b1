/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * block_ring: see block_ring.h.
 *
 * In memory an entry is its head and then a frame. A head whose `len` is 0 has only its first 8
 * bytes and says that the next entry is at the start of the memory. Head and frame are written
 * before the release of `head`, by the producer alone. The consumer reads a frame, or writes into it,
 * only while it has pinned it, and the producer never looks at a frame again, only at heads. So the
 * only thing to prove is that the producer does not write where the consumer reads or writes.
 *
 * The consumer reads at P between block_ring_pin() and the next one or block_ring_unpin():
 *
 *	C1  pin = P            (release)        R1  tail = T beyond P   (cmpxchg; only in
 *	C2  full barrier                                                reserve, overwriting)
 *	C3  read tail; go on only if it is      R2  full barrier
 *	    not beyond P                        R3  read pin            (acquire)
 *	C4  read the entry, write its frame     R4  write, but nothing from a pin on
 *	C5  pin = something else (release)
 *
 * 1. The producer writes at P or behind only after it has seen a tail beyond P, by R1 or because the
 *    consumer freed it.
 * 2. Suppose it was R1. If C3 has not seen it, then by the two barriers R3, and every later read of
 *    pin, sees C1 or what the consumer wrote after it. If it sees P, R4 leaves the entry alone. If it
 *    sees C5 or later, C4 was before that (release, acquire). If C3 has seen it, C4 does not happen.
 * 3. Suppose the consumer freed it, which it does with release: C1 came before that in its own
 *    order, and the producer read the tail with acquire before R3. So R3 sees C1 or later, as above;
 *    or the tail was moved before C1, and C3 has seen it.
 * 4. A pin that was not confirmed by C3 yet can be anywhere. One further behind the head than the
 *    memory is large was confirmed by nobody, since by 1 to 3 no head gets there: it is ignored. Any
 *    other is respected, which may cost room for a moment and nothing else.
 *
 * `head` is read after `tail`, so it is never before it; it may be further ahead than the memory is
 * large if the tail has moved meanwhile, which positions can express.
 */
#include "device/driver/core/block_ring.h"

#include "device/driver/core/atomics.h"

struct entry_head {
	uint32_t position; /* its own */
	uint32_t len;	   /* of the frame; 0: skip to the start of the memory */
	uint32_t run;
	uint32_t start_key; /* where the frame starts behind this head, times 2; 1 more for a KEY */
	uint64_t sequence;
};

#define SKIP_LEN 8U /* position and len */
#define HEAD_LEN 24U
#define SIZE_MOST (1U << 30)
_Static_assert(sizeof(struct entry_head) == HEAD_LEN, "entries start at multiples of 8");
_Static_assert(offsetof(struct entry_head, run) == SKIP_LEN, "a skip fits any unit");

static uint32_t distance(const struct block_ring *r, uint32_t from, uint32_t to)
{
	return to >= from ? to - from : r->span - from + to;
}

static uint32_t advance(const struct block_ring *r, uint32_t position, uint32_t units)
{
	return units < r->span - position ? position + units : units - (r->span - position);
}

static uint8_t *at(const struct block_ring *r, uint32_t position)
{
	return r->memory + (size_t)(position % r->units) * BLOCK_RING_UNIT;
}

static uint32_t units_of(uint32_t bytes)
{
	return (bytes + BLOCK_RING_UNIT - 1) / BLOCK_RING_UNIT;
}

/* Is the position one of tail … head? */
static bool is_held(const struct block_ring *r, uint32_t tail, uint32_t position, uint32_t head)
{
	return distance(r, tail, position) <= distance(r, tail, head);
}

void block_ring_init(struct block_ring *r, uint8_t *memory, uint32_t size)
{
	memset(r, 0, sizeof(*r));
	r->memory = memory;
	r->units = (size < SIZE_MOST ? size : SIZE_MOST) / BLOCK_RING_UNIT;
	r->size = r->units * BLOCK_RING_UNIT;
	r->span = r->units ? UINT32_MAX / r->units * r->units : 1;
	r->pin = BLOCK_RING_NO_PIN;
}

static uint32_t entry_units(const struct entry_head *h)
{
	return units_of(HEAD_LEN + (h->start_key >> 1) + h->len);
}

/* The entry at *position, which a skip moves to the next round. False: there is none, so this was
 * never the position of one. */
static bool get_head(const struct block_ring *r, uint32_t *position, struct entry_head *ret)
{
	uint32_t left = r->units - *position % r->units;

	memcpy(ret, at(r, *position), SKIP_LEN);
	if (ret->position != *position)
		return false;
	if (!ret->len) {
		*position = advance(r, *position, left);
		left = r->units;
		memcpy(ret, at(r, *position), SKIP_LEN);
	}
	if (ret->position != *position || !ret->len || left < HEAD_LEN / BLOCK_RING_UNIT)
		return false;
	memcpy(ret, at(r, *position), HEAD_LEN);
	return ret->len <= r->size && ret->start_key >> 1 <= r->size && entry_units(ret) <= left;
}

/* Where the segment behind that of `tail` starts, or the head. */
static uint32_t next_segment(const struct block_ring *r, uint32_t tail)
{
	uint32_t position = tail, entry = tail;
	struct entry_head h;

	while (get_head(r, &entry, &h)) {
		if (h.start_key & 1 && position != tail)
			return position;
		position = entry = advance(r, entry, entry_units(&h));
		if (distance(r, tail, position) >= distance(r, tail, r->head))
			break;
	}
	return r->head;
}

/* Steps R1 and R2, for one segment. */
static void drop_segment(struct block_ring *r, uint32_t tail)
{
	uint32_t next = next_segment(r, tail);

	if (cmpxchg(&r->tail, tail, next) != tail)
		return; /* the consumer has freed something meanwhile */
	if (next == r->head)
		r->is_cut = true;
	smp_mb();
}

/* Makes sure that nobody needs `total` units from the head on. */
static bool make_room(struct block_ring *r, uint32_t total, bool overwrite)
{
	uint32_t tail, pin, used, held;

	for (;;) {
		tail = smp_load_acquire(&r->tail);
		pin = smp_load_acquire(&r->pin);
		used = distance(r, tail, r->head);
		held = pin == BLOCK_RING_NO_PIN ? 0 : distance(r, pin, r->head);
		if (held > r->units)
			held = 0;
		if (r->units - held < total) /* dropping would gain nothing */
			return false;
		if (r->units - used >= total)
			return true;
		if (!overwrite)
			return false;
		drop_segment(r, tail);
	}
}

uint8_t *block_ring_reserve(struct block_ring *r, uint32_t room, bool overwrite)
{
	struct entry_head skip = { .position = r->head };
	uint32_t need, piece, before;

	if (room > r->size)
		return NULL;
	need = units_of(HEAD_LEN + room);
	if (need > r->units)
		return NULL;
	piece = r->units - r->head % r->units;
	before = need <= piece ? 0 : piece;
	if (before + need > r->units || !make_room(r, before + need, overwrite))
		return NULL;
	if (before)
		memcpy(at(r, r->head), &skip, SKIP_LEN);
	r->open = advance(r, r->head, before);
	r->open_room = need * BLOCK_RING_UNIT - HEAD_LEN;
	return at(r, r->open) + HEAD_LEN;
}

void block_ring_commit(struct block_ring *r, const uint8_t *bytes, const struct ring_entry *e)
{
	uint8_t *entry = at(r, r->open);
	struct entry_head h = { .position = r->open,
				.len = e->len,
				.run = e->run,
				.start_key = (uint32_t)(bytes - entry - HEAD_LEN) << 1 | e->key,
				.sequence = e->sequence };

	memcpy(entry, &h, HEAD_LEN);
	r->open_room = 0;
	smp_store_release(&r->head, advance(r, r->open, entry_units(&h)));
}

void block_ring_give_up(struct block_ring *r)
{
	r->open_room = 0;
}

uint32_t block_ring_piece(const struct block_ring *r)
{
	uint32_t piece = r->units ? (r->units - r->head % r->units) * BLOCK_RING_UNIT : 0;

	return piece < HEAD_LEN ? 0 : piece - HEAD_LEN;
}

/* Steps C1 to C3, for any position; returns where it is now. False: there is nothing to pin. */
static bool pin_position(struct block_ring *r, uint32_t *position)
{
	uint32_t tail = smp_load_acquire(&r->tail), head = smp_load_acquire(&r->head);

	for (;;) {
		if (!is_held(r, tail, *position, head))
			*position = tail;
		if (*position == head)
			return false;
		smp_store_release(&r->pin, *position);
		smp_mb();
		tail = smp_load_acquire(&r->tail);
		head = smp_load_acquire(&r->head);
		if (is_held(r, tail, *position, head))
			return true;
	}
}

bool block_ring_pin(struct block_ring *r, uint32_t *position, struct ring_entry *ret)
{
	struct entry_head h;
	uint32_t entry;

	if (!pin_position(r, position)) {
		block_ring_unpin(r);
		return false;
	}
	entry = *position;
	if (!get_head(r, &entry, &h)) {
		/* Nobody was ever given this position. */
		block_ring_unpin(r);
		*position = *position == block_ring_oldest(r) ? smp_load_acquire(&r->head)
							      : block_ring_oldest(r);
		return false;
	}
	ret->bytes = at(r, entry) + HEAD_LEN + (h.start_key >> 1);
	ret->len = h.len;
	ret->run = h.run;
	ret->sequence = h.sequence;
	ret->key = h.start_key & 1;
	ret->end = advance(r, entry, entry_units(&h));
	return true;
}

void block_ring_unpin(struct block_ring *r)
{
	smp_store_release(&r->pin, BLOCK_RING_NO_PIN);
}

uint32_t block_ring_oldest(const struct block_ring *r)
{
	return smp_load_acquire(&r->tail);
}

void block_ring_free(struct block_ring *r, uint32_t position)
{
	uint32_t tail = smp_load_acquire(&r->tail), found;

	while (tail != position && is_held(r, tail, position, smp_load_acquire(&r->head))) {
		found = cmpxchg(&r->tail, tail, position);
		if (found == tail)
			return;
		tail = found;
	}
}

uint32_t block_ring_used(const struct block_ring *r)
{
	uint32_t tail = smp_load_acquire(&r->tail), head = smp_load_acquire(&r->head);
	uint32_t used = distance(r, tail, head);

	/* The tail may be old by now. */
	return used < r->units ? used * BLOCK_RING_UNIT : r->size;
}
