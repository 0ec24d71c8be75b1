/* SPDX-License-Identifier: MIT */
/*
 * block_out: where the blocks of a profile go: a file (profile_file.h) or a spool for the collector
 * (profile_spool.h). Who makes blocks does not know which.
 */
#ifndef KISEKI_DEVICE_PROFILE_BLOCK_OUT_H
#define KISEKI_DEVICE_PROFILE_BLOCK_OUT_H

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
