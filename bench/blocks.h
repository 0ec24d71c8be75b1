/* SPDX-License-Identifier: MIT */
/*
 * blocks: the encoded blocks of a trace in memory, as a device would send them or a file hold them.
 *
 * A block's header is written right before its payload, at a length known only then, so blocks lie
 * with small gaps between them; `bytes` counts the blocks alone.
 */
#ifndef KISEKI_BENCH_BLOCKS_H
#define KISEKI_BENCH_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "wire/block.h"

#define BLOCKS_PAYLOAD_ROOM (64U * 1024) /* of one block, as in a .ksk file */
#define BLOCKS_MAX (8U << 20)

struct block_place {
	const uint8_t *start;
	uint32_t len;
	uint32_t cpu;
};

struct blocks {
	uint8_t *data;
	size_t room;
	size_t used;
	struct block_place *place;
	uint32_t n;
	uint32_t room_places;
	uint64_t bytes;
	uint64_t events; /* in all blocks */
};

/* `payload` is a guess of the payloads' sum, `n` of their number; both memories are touched now. */
int blocks_init(struct blocks *b, size_t payload, uint32_t n, struct error *e);
void blocks_done(struct blocks *b);
void blocks_clear(struct blocks *b);

/* Where the next payload goes: BLOCKS_PAYLOAD_ROOM bytes. NULL: there is no room left. */
uint8_t *blocks_next(struct blocks *b);

/* Puts the header before the payload that blocks_next() gave. */
void blocks_push(struct blocks *b, const struct block *header, uint32_t cpu);

#endif
