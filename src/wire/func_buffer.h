/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_buffer: the layout of the file that a traced process records into
 * (docs/format/func-buffer.md).
 *
 *	header (one FUNC_BUFFER_HEADER) | slots, one for each thread that runs | chunks
 *
 * The process maps it shared and writes; whoever drains it (the agent) maps it too, reads chunks and
 * gives them back; a reader of a file that nobody drained finds in it what the process recorded up to
 * its last moment. All numbers are little-endian and of fixed size, so that a file moves between
 * machines; only `state`, `used`, `on` and the counters change under a reader's eyes, each by one
 * aligned store. A chunk's bytes up to `used` never change until it is FREE again.
 *
 * These are offsets and not structs, because the bytes come from outside: a reader bounds each of
 * them before it believes it.
 */
#ifndef KISEKI_WIRE_FUNC_BUFFER_H
#define KISEKI_WIRE_FUNC_BUFFER_H

#include "wire/types.h"

#define FUNC_BUFFER_MAGIC "KSKFUNC\n" /* 8 bytes, without a NUL */
#define FUNC_BUFFER_VERSION 1U
#define FUNC_BUFFER_HEADER 4096U
#define FUNC_BUFFER_SLOTS_MAX 4096U
#define FUNC_BUFFER_CHUNKS_MAX (1U << 20)
#define FUNC_BUFFER_CHUNK_MAX (1U << 20)

/* Offsets in the header. */
enum func_buffer_header {
	FUNC_BUFFER_AT_MAGIC = 0,
	FUNC_BUFFER_AT_VERSION = 8,	     /* le32 */
	FUNC_BUFFER_AT_HEADER_BYTES = 12,    /* le32 */
	FUNC_BUFFER_AT_SLOTS = 16,	     /* le32: how many */
	FUNC_BUFFER_AT_SLOT_BYTES = 20,	     /* le32 */
	FUNC_BUFFER_AT_CHUNKS = 24,	     /* le32: how many */
	FUNC_BUFFER_AT_CHUNK_BYTES = 28,     /* le32: head and bytes */
	FUNC_BUFFER_AT_SLOTS_AT = 32,	     /* le64: where the first one is */
	FUNC_BUFFER_AT_CHUNKS_AT = 40,	     /* le64 */
	FUNC_BUFFER_AT_PID = 48,	     /* le32 */
	FUNC_BUFFER_AT_PARENT = 52,	     /* le32: pid of the process that made it */
	FUNC_BUFFER_AT_START_TICK = 56,	     /* le64 */
	FUNC_BUFFER_AT_START_MONOTONIC = 64, /* le64: ns */
	FUNC_BUFFER_AT_START_REALTIME = 72,  /* le64: ns */
	FUNC_BUFFER_AT_TICK_HZ = 80, /* le64: ticks a second, as far as it was known at the start */
	FUNC_BUFFER_AT_TICK_SHIFT = 88,	   /* le32: ticks are the counter >> this */
	FUNC_BUFFER_AT_CLOCK = 92,	   /* le32: enum func_buffer_clock */
	FUNC_BUFFER_AT_COMM = 96,	   /* 16 bytes, NUL-padded */
	FUNC_BUFFER_AT_EXE = 112,	   /* 272 bytes, NUL-padded: path of the program */
	FUNC_BUFFER_AT_ON = 384,	   /* le32: 1 records, 0 does not; anybody may change it */
	FUNC_BUFFER_AT_DRAINED = 388,	   /* le32: pid of who drains it, 0 nobody */
	FUNC_BUFFER_AT_POLICY = 392,	   /* le32: enum func_buffer_policy */
	FUNC_BUFFER_AT_ENDED = 396,	   /* le32: 1 when the process ended in order */
	FUNC_BUFFER_AT_MAPS = 400,	   /* le32: generation of the maps file */
	FUNC_BUFFER_AT_STREAMS = 404,	   /* le32: threads that had a slot so far */
	FUNC_BUFFER_AT_LOST_THREADS = 408, /* le64: calls of threads without a slot */
	FUNC_BUFFER_AT_FILTERED = 416,	/* le64: calls left out on purpose, as far as summed up */
	FUNC_BUFFER_AT_SYNC_NEXT = 424, /* le32: pairs written so far; they go around */
	FUNC_BUFFER_AT_FREED = 428,	/* le32: chunks given back so far, by whoever drains */
	FUNC_BUFFER_AT_SYNC = 512, /* FUNC_BUFFER_SYNCS pairs of le64 tick, le64 monotonic ns */
	FUNC_BUFFER_AT_SETTINGS = 2048, /* NUL-terminated text: what it was told to record */
};
#define FUNC_BUFFER_SYNCS 64U
#define FUNC_BUFFER_EXE_LEN 272U

enum func_buffer_clock {
	FUNC_CLOCK_COUNTER = 0,
	FUNC_CLOCK_MONOTONIC = 1, /* ticks are ns >> shift */
};

enum func_buffer_policy {
	FUNC_KEEP_OLDEST = 0, /* full: calls are counted, not recorded */
	FUNC_FLIGHT = 1,      /* full: the oldest segments make room */
	FUNC_WAIT = 2,	      /* full: the program waits for the drain; nothing is lost */
};

/* Offsets in a slot; the rest of it belongs to the hook. */
enum func_buffer_slot {
	FUNC_SLOT_AT_TID = 0,	    /* le32, 0: free */
	FUNC_SLOT_AT_STREAM = 4,    /* le32: number of the thread in this process, from 0 */
	FUNC_SLOT_AT_CHUNK = 8,	    /* le32: that it writes, FUNC_NO_CHUNK if none */
	FUNC_SLOT_AT_DEPTH = 12,    /* le32: open calls; may be more than the stack below holds */
	FUNC_SLOT_AT_LOST = 16,	    /* le64: calls and returns lost and not yet told by a chunk */
	FUNC_SLOT_AT_EVENTS = 24,   /* le64: recorded so far, and lost as far as told by chunks */
	FUNC_SLOT_AT_COMM = 32,	    /* 16 bytes */
	FUNC_SLOT_AT_FILTERED = 48, /* le64: left out on purpose and not yet in the header */
	FUNC_SLOT_HEAD = 64,
};
#define FUNC_NO_CHUNK UINT32_MAX

/* Offsets in a chunk. */
enum func_buffer_chunk {
	FUNC_CHUNK_AT_STATE = 0,     /* le32: enum func_chunk_state */
	FUNC_CHUNK_AT_STREAM = 4,    /* le32 */
	FUNC_CHUNK_AT_TID = 8,	     /* le32 */
	FUNC_CHUNK_AT_FLAGS = 12,    /* le32: FUNC_CHUNK_KEY */
	FUNC_CHUNK_AT_SEQUENCE = 16, /* le64: of the chunks of this stream, from 0 */
	FUNC_CHUNK_AT_TICK = 24,     /* le64: where the chunk's clock starts */
	FUNC_CHUNK_AT_BEFORE =
		32, /* le64: events of the stream before this chunk, lost ones included */
	FUNC_CHUNK_AT_LOST = 40, /* le64: of these, lost right before it */
	FUNC_CHUNK_AT_USED = 48, /* le32: bytes that count, behind the head */
	FUNC_CHUNK_HEAD = 64,
};

#define FUNC_CHUNK_KEY                                                                             \
	1U /* a segment starts: the bytes begin with the stack (func.md, section 3) */

enum func_chunk_state {
	FUNC_CHUNK_FREE = 0,
	FUNC_CHUNK_WRITING = 1,
	FUNC_CHUNK_FULL = 2,
	FUNC_CHUNK_TAKEN = 3, /* between two of them: its head means nothing */
};

#endif
