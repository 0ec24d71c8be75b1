/* SPDX-License-Identifier: MIT */
/*
 * ksk: the frame of a .ksk file (docs/format/ksk.md).
 *
 *	8 bytes of magic, one of version, seven of zeros; blocks; index blocks; a trailer of 16 bytes:
 *	where the index starts, and its magic
 *
 * Everything between the head and the trailer is blocks as they came from the device, so a file can
 * be written as it grows and read when it is cut. The index says where segments start and how many
 * events each stream had; whoever finds none steps through the blocks.
 *
 * Index blocks are numbered from 0. Those of stream INDEX_SEGMENTS have a row for each key block, in
 * the order of the file: its offset (less the row's before), its stream, and, signed, its time less
 * that of the row before. That time is the latest tick of the stream so far, the block's first
 * included: no event before the segment is later. Those of stream INDEX_TOTALS have a row for each
 * stream, by rising number: its number less the row's before, what block.before was where the file
 * starts, how much it grew until the file's end, and the sequence number that would come next.
 */
#ifndef KISEKI_STORE_KSK_H
#define KISEKI_STORE_KSK_H

#include "wire/block.h"

#define KSK_MAGIC "KISEKI\r\n"
#define KSK_VERSION 1
#define KSK_HEAD_LEN 16U
#define KSK_TRAILER_MAGIC "KSKINDEX"
#define KSK_TRAILER_LEN 16U
#define KSK_STREAMS_MAX (1U << 16) /* of one file */

#define INDEX_SEGMENTS 0U
#define INDEX_TOTALS 1U

/* The header's time behind this block, if it was `until` before. Garbage does not make it wrap. */
static inline uint64_t ksk_until(uint64_t until, const struct block *b)
{
	uint64_t from = b->flags & BLOCK_KEY ? b->first_tick : until;
	uint64_t to = b->ticks > UINT64_MAX - from ? UINT64_MAX : from + b->ticks;

	return to > until ? to : until;
}

#endif
