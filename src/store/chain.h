/* SPDX-License-Identifier: MIT */
/*
 * chain: bytes that are only added behind the last and read from the first on, in pieces that never
 * move.
 *
 * What is added at once lies in one piece, so that it can be decoded in place. A piece is twice as
 * large as the one before it, up to PIECE_MOST: little is wasted on the many that stay short, and
 * nothing is copied when one gets long. Whoever reads keeps a place, which stays good while more is
 * added behind it.
 */
#ifndef KISEKI_STORE_CHAIN_H
#define KISEKI_STORE_CHAIN_H

#include <stddef.h>
#include <stdint.h>

#include "wire/varint.h"

struct chain_piece {
	struct chain_piece *next;
	uint32_t len, room;
	uint8_t bytes[];
};

struct chain {
	struct chain_piece *first, *last;
	uint32_t pieces_bytes; /* that all of them take */
};

/* Before the first byte, if all is zero. */
struct chain_place {
	const struct chain_piece *piece;
	uint32_t at;
};

void chain_done(struct chain *c);

/* Makes room for so many bytes in one piece: 0, -ENOMEM, or -E2BIG at the chain's ceiling. */
int chain_reserve(struct chain *c, size_t len);
/* Where the next byte goes: there is as much room as was reserved and not used up. */
uint8_t *chain_end(struct chain *c);
/* What was written there is part of the chain: up to `end`. */
void chain_push(struct chain *c, const uint8_t *end);

/* The bytes from the place on, up to the end of their piece: false if there are none. */
bool chain_next(const struct chain *c, struct chain_place *place, struct byte_reader *ret);
/* So far they were read. */
void chain_pass(struct chain_place *place, const struct byte_reader *r);

#endif
