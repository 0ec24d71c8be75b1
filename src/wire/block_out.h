/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * block_out: where blocks go: a file, a collector, or both. Who makes them does not know.
 */
#ifndef KISEKI_WIRE_BLOCK_OUT_H
#define KISEKI_WIRE_BLOCK_OUT_H

#include "wire/block.h"

struct block_out {
	/* Takes a block; its payload has BLOCK_HEADER_MAX bytes of room before it. must: it may use what is kept for the
	 * end. 0, or a negative errno: nothing of it was taken. */
	int (*put)(struct block_out *o, const struct block *b, uint8_t *payload, bool must);

	/* What has no room is lost by this cause. */
	enum loss_cause cause;

	uint64_t bytes; /* taken so far */
};

#endif
