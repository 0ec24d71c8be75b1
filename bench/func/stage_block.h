/* SPDX-License-Identifier: MIT */
/*
 * stage_block: puts a header before a payload, as it would be sent.
 */
#ifndef KISEKI_BENCH_FUNC_STAGE_BLOCK_H
#define KISEKI_BENCH_FUNC_STAGE_BLOCK_H

#include "stage.h"
#include "wire/block.h"

#define STAGE_BLOCK_ROOM (BLOCK_HEADER_MAX + BLOCK_PAYLOAD_MAX)

/* The payload of b->events events from `at` on lies BLOCK_HEADER_MAX bytes behind `out`; codec,
 * flags, sequence, events and the payload's length are set. The block is moved to `out`; returns its
 * length. */
size_t stage_block_put(struct block *b, const struct thread *t, size_t at, uint8_t *out);

#endif
