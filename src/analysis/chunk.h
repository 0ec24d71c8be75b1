/* SPDX-License-Identifier: MIT */
/*
 * chunk: some buckets of one CPU as bytes (docs/format/summary.md).
 *
 * A version, then buckets by rising index. A task is written out once; where it comes again it is a
 * small number, so a bucket of thirty tasks takes about 200 bytes. Bytes that are no chunk are
 * found, bounded and refused: a database may be damaged like any file.
 */
#ifndef KISEKI_ANALYSIS_CHUNK_H
#define KISEKI_ANALYSIS_CHUNK_H

#include <stddef.h>

#include "analysis/bucket.h"
#include "wire/varint.h"

#define CHUNK_VERSION 1
#define CHUNK_NAMES_MAX 2048U		   /* tasks that are numbered */
#define CHUNK_BYTES_MAX (4U * 1024 * 1024) /* more than any that is written */

struct chunk_name {
	int32_t pid;
	char comm[SCHED_COMM_LEN];
};

/* What both ends know after the same buckets. */
struct chunk_names {
	uint64_t next_index; /* the smallest that the next bucket may have */
	uint32_t n;
	struct chunk_name names[CHUNK_NAMES_MAX];
};

struct chunk_writer {
	uint8_t *data;
	size_t len, room;
	struct chunk_names known;
};

/* A zeroed writer is empty. */
void chunk_writer_reset(struct chunk_writer *w); /* keeps its memory */
void chunk_writer_done(struct chunk_writer *w);
/* Its index is larger than that of the one before. 0 or -ENOMEM. */
int chunk_writer_push(struct chunk_writer *w, const struct bucket *b);

struct chunk_reader {
	struct byte_reader bytes;
	struct chunk_names known;
};

/* Data is borrowed. About 40 KB: not for the stack. */
void chunk_reader_init(struct chunk_reader *r, const uint8_t *data, size_t len);
/* WIRE_OK: *ret is the next bucket, to be read; who adds to it calls bucket_index() first. WIRE_MORE:
 * there is none; WIRE_CORRUPT. */
enum wire_status chunk_reader_next(struct chunk_reader *r, struct bucket *ret);

/* Goes on where a reader came to the end of `data`. 0 or -ENOMEM. */
int chunk_writer_resume(struct chunk_writer *w, const struct chunk_reader *at_end,
			const uint8_t *data, size_t len);

#endif
