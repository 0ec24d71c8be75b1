/* SPDX-License-Identifier: MIT */
/*
 * os_block: a block of a thread's OS stream on its way into the run. One encoder serves all threads:
 * every block stands for itself.
 *
 *	os_block_begin(b, row)
 *	os_block_push(b, &event) …    WIRE_FULL: put it, begin again
 *	os_block_put(b)               -ENOSPC: it was not put, and is as if it had not begun
 */
#ifndef KISEKI_DEVICE_FEED_OS_BLOCK_H
#define KISEKI_DEVICE_FEED_OS_BLOCK_H

#include "base/error.h"
#include "device/feed/func_run.h"
#include "wire/func_encode.h"

#define OS_BLOCK_BYTES (64U << 10) /* the most of a block */

struct os_block {
	struct func_run *run; /* borrowed */
	struct func_encoder *encoder;
	uint8_t *room; /* BLOCK_HEADER_MAX and OS_BLOCK_BYTES */
	uint32_t row;
	uint32_t events;
	uint64_t first, until; /* ticks */
	uint64_t lost;	       /* before its first event; LOSS_UNKNOWN: some */
};

int os_block_init(struct os_block *b, struct func_run *run, struct error *e);
void os_block_done(struct os_block *b);

void os_block_begin(struct os_block *b, uint32_t row);
void os_block_lose(struct os_block *b, uint64_t count); /* before its first event */
enum wire_status os_block_push(struct os_block *b, const struct func_event *ev);
int os_block_put(struct os_block *b);

#endif
