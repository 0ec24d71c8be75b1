/* SPDX-License-Identifier: MIT */
/*
 * func_record: the file that a traced process wrote, taken apart (docs/format/func-buffer.md).
 *
 * It is opened when the process has ended, was killed, or still runs and writes: so nothing in it is
 * believed before it is bounded, and what counts is what it said at one moment. Slots are read
 * before chunks: what a slot counts is then never newer than the chunks. Bytes of a chunk are read
 * when they are decoded; a chunk that was given to somebody else meanwhile is a missing one.
 */
#ifndef KISEKI_TRACE_FUNC_RECORD_H
#define KISEKI_TRACE_FUNC_RECORD_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "trace/func_source.h"
#include "wire/func_buffer.h"

/* A thread that had a slot when the file was read. */
struct func_record_slot {
	uint32_t stream;
	int32_t tid;
	uint64_t lost;	 /* and not yet told by a chunk */
	uint64_t events; /* recorded so far, and lost as far as chunks told it */
	char comm[SCHED_COMM_LEN];
};

struct func_record_chunk {
	uint32_t stream;
	int32_t tid;
	uint32_t number; /* in the file */
	uint32_t flags;
	uint64_t sequence;
	uint64_t tick;
	uint64_t before;
	uint64_t lost;
	uint32_t used;
	bool torn; /* `used` cannot be, or the file ends within the bytes that count */
};

struct func_record {
	char *path;	     /* opened for each chunk: a folder has more records than a process
			      * may have descriptors; or */
	const uint8_t *data; /* the caller's */
	uint64_t len;

	uint32_t slot_bytes, chunk_bytes;
	uint64_t slots_at, chunks_at;
	uint32_t slots_made, chunks_made; /* as many as the file has room for, at most */
	bool cut;			  /* it ends before its last chunk does */

	int32_t pid, parent;
	uint64_t start_tick, start_mono_ns, start_real_ns;
	uint64_t tick_hz;
	uint32_t clock;	  /* enum func_buffer_clock */
	uint32_t shift;	  /* of the counter */
	uint32_t drained; /* pid of who drained it */
	uint32_t policy;  /* enum func_buffer_policy */
	bool ended;	  /* in order */
	uint32_t streams; /* threads that had a slot */
	uint64_t lost_threads;
	uint64_t filtered;
	char comm[SCHED_COMM_LEN + 1];
	char exe[FUNC_BUFFER_EXE_LEN + 1];
	struct func_sync syncs[FUNC_BUFFER_SYNCS + 1]; /* the start first, then as they were made */
	uint32_t n_syncs;

	struct func_record_slot *slots; /* in use; by stream */
	size_t n_slots, room_slots;
	struct func_record_chunk *chunks; /* not free; by stream, then by sequence */
	size_t n_chunks, room_chunks;
};

/* 0; -EBADMSG: it is no such file, or another version; else a negative errno. */
int func_record_open(struct func_record **ret, const char *path, struct error *e);
int func_record_open_memory(struct func_record **ret, const uint8_t *data, size_t len,
			    struct error *e);
void func_record_free(struct func_record *r);
DEFINE_CLEANUP(func_record, func_record_free)

/* The bytes of a chunk into out, which has room for chunk_bytes: how many; -ESTALE: it is another
 * chunk by now; or a negative errno. */
int func_record_read(const struct func_record *r, const struct func_record_chunk *c, uint8_t *out);

/* The slot of the stream's thread, NULL: it has none any more. */
const struct func_record_slot *func_record_get_slot(const struct func_record *r, uint32_t stream);

#endif
