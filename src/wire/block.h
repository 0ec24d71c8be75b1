/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * block: the unit that is encoded, sent, acknowledged and stored (docs/format/wire.md, section 3).
 *
 *	0  magic b5 6b   2  version << 4 | codec   3  flags   4  CRC-32C of all the rest
 *	8  varints: stream, sequence, [KEY: first tick, events before], ticks, events,
 *	   [LOST: bits of causes, a count for each], payload length, then the payload
 *
 * Small, because a quiet CPU sends one every 100 ms with a hundred bytes in it. The sequence counts
 * a stream's blocks. A KEY block starts a segment; it says the absolute tick of its first event,
 * and how many events of the stream there were before it: in earlier blocks, and counted as lost,
 * its own counts included. So what a damaged segment held is known exactly. `ticks` leads from that
 * first tick, or from where the block before it in the stream ended, to the end of this one; time
 * in the header never runs backwards.
 */
#ifndef KISEKI_WIRE_BLOCK_H
#define KISEKI_WIRE_BLOCK_H

#include "wire/loss.h"
#include "wire/types.h"

#define BLOCK_MAGIC0 0xb5
#define BLOCK_MAGIC1 0x6b
#define BLOCK_VERSION 1
#define BLOCK_HEADER_MAX 112U
#define BLOCK_PAYLOAD_MAX (1U << 20)
#define BLOCK_EVENTS_MAX (1U << 24)

enum block_codec {
	CODEC_META = 0,
	CODEC_SCHED = 1,
	CODEC_BSF = 2,
	CODEC_FUNC = 3,
	CODEC_RTC = 4,
	CODEC_BOOT = 5,
	CODEC_SAMPLE = 6,
	CODEC_INDEX = 15,
};

enum block_flag {
	BLOCK_KEY = 1,
	BLOCK_LOST = 2,
	BLOCK_FLAGS = 3,
};

/* Stream numbers: the trace's description, then one scheduler stream per CPU; the records of a boot
 * chart; one stream of samples per CPU; from 65536 on two for each thread that has calls, in the life of a run: these, and what the
 * machine did to it. */
#define STREAM_META 0U
#define STREAM_CPU(cpu) (1U + (cpu))
#define STREAM_BOOT 32768U
#define STREAM_SAMPLE_FIRST 36864U
#define STREAM_SAMPLE(cpu) (STREAM_SAMPLE_FIRST + (cpu))
#define STREAM_SAMPLE_CPUS 4096U
#define STREAM_FUNC_FIRST 65536U
#define STREAM_FUNC(thread) (STREAM_FUNC_FIRST + 2U * (thread))
#define STREAM_FUNC_OS(thread) (STREAM_FUNC(thread) + 1U)
#define STREAM_FUNC_THREADS (1U << 20) /* threads that a run can have */

static inline bool stream_is_boot(uint32_t stream)
{
	return stream == STREAM_BOOT;
}

static inline bool stream_is_sample(uint32_t stream)
{
	return stream >= STREAM_SAMPLE_FIRST && stream < STREAM_SAMPLE(STREAM_SAMPLE_CPUS);
}

static inline bool stream_is_func(uint32_t stream)
{
	return stream >= STREAM_FUNC_FIRST && stream < STREAM_FUNC(STREAM_FUNC_THREADS);
}

/* The number of the thread that such a stream is of. */
static inline uint32_t stream_func_thread(uint32_t stream)
{
	return (stream - STREAM_FUNC_FIRST) / 2;
}

struct block {
	uint8_t codec;
	uint8_t flags;
	uint32_t stream;
	uint64_t sequence;
	uint64_t first_tick; /* KEY only */
	uint64_t before;     /* KEY only */
	uint64_t ticks;
	uint32_t events;
	uint64_t lost[LOSS_CAUSES]; /* before its first event; LOSS_UNKNOWN: some */
	const uint8_t *payload;
	uint32_t payload_len;
	uint32_t len; /* of the whole block, by the decoder */
};

/* The events that a block's header counts as lost, as far as they are counted. */
static inline uint64_t block_told(const struct block *b)
{
	uint64_t told = 0;
	uint32_t i;

	for (i = 0; i < LOSS_CAUSES; i++)
		if (b->lost[i] != LOSS_UNKNOWN)
			told += b->lost[i];
	return told;
}

/* Writes the header right before b->payload, which must have BLOCK_HEADER_MAX bytes of room in
 * front of it, and returns the block's first byte; *ret_len is its whole length. */
uint8_t *block_encode(const struct block *b, uint8_t *payload, uint32_t *ret_len);

/* The same without the checksum, for who has no time for it: block_seal() puts it in later, any
 * number of times. */
uint8_t *block_encode_open(const struct block *b, uint8_t *payload, uint32_t *ret_len);
void block_seal(uint8_t *block, uint32_t len);

/* WIRE_MORE: `len` bytes do not hold all of it. The payload is borrowed from `in`. */
enum wire_status block_decode(const uint8_t *in, size_t len, struct block *ret);

/* The header alone, its checksum not looked at: for stepping over blocks. With WIRE_MORE, ret->len
 * is what the block should have, or 0 if even the header is cut. */
enum wire_status block_peek(const uint8_t *in, size_t len, struct block *ret);

#endif
