/* SPDX-License-Identifier: MIT */
/*
 * ksk_file: a .ksk file for reading: where its segments start, and the blocks of each stream one
 * after the other.
 *
 * The file is mapped. Each of its blocks is checked once, when somebody first asks for a block at
 * or behind it: the file is cut into chunks, a chunk from each key block that the index names to
 * the next, and a chunk is scanned as a whole. So a seek into a long file reads only what it needs,
 * damage in one chunk cannot hide the blocks of another, and nobody steps over unchecked bytes.
 * Without a sound index the whole file is one chunk and is scanned when it is opened.
 *
 * Bytes that are no block are damage: they are noted once, and reading goes on at the next sound
 * block. Who decodes sees the file as a block_reader; its places are offsets.
 */
#ifndef KISEKI_STORE_KSK_FILE_H
#define KISEKI_STORE_KSK_FILE_H

#include <stddef.h>

#include "base/error.h"
#include "base/mapping.h"
#include "store/block_reader.h"

struct ksk_segment {
	uint64_t offset;
	uint64_t tick; /* no event before the segment is later */
};

struct ksk_stream {
	uint32_t stream;
	struct ksk_segment *segments; /* by rising offset */
	size_t n, room;
	uint64_t *blocks;		   /* offsets of those in scanned chunks, rising, */
	size_t n_low, n_high, room_blocks; /* n_low at its start, n_high at its end */
	bool counted;			   /* the index knows: */
	uint64_t start, end;		   /* block.before at the file's start and end */
	uint64_t end_sequence;
	/* only while scanning a file without index */
	uint64_t until;
	uint64_t next_sequence;
};

/* Bytes that could not be read. */
struct ksk_damage {
	uint64_t offset;
	uint64_t len; /* 0: something is missing here */
	bool torn;    /* there may have been blocks of any stream in it */
	const char *what;
};

struct ksk_chunk {
	uint64_t offset;
	size_t unscanned; /* itself, or if it is scanned some later one, none unscanned between */
};

struct ksk_file {
	struct block_reader reader;
	int failure; /* of listing blocks: what was not listed would be missing without a word */
	const uint8_t *data;
	size_t len;
	size_t end;	      /* of the blocks: where the index starts */
	uint8_t *owned;	      /* what a pipe gave */
	struct mapping *file; /* or a file */
	bool indexed;
	struct ksk_stream **streams; /* by rising number */
	size_t n_streams, room_streams;
	struct ksk_chunk
		*chunks; /* by rising offset; one more than n_chunks, which stays unscanned */
	size_t n_chunks, room_chunks;
	struct ksk_damage *damage; /* by rising offset */
	size_t n_damage, room_damage;
	uint64_t search_left; /* bytes that may still be checked in the search for sound blocks */
};

/* "-" reads standard input to its end. -EBADMSG if it is no .ksk file. */
int ksk_file_open(struct ksk_file **ret, const char *path, struct error *e);
int ksk_file_open_memory(struct ksk_file **ret, const uint8_t *data, size_t len, struct error *e);
void ksk_file_free(struct ksk_file *f);
DEFINE_CLEANUP(ksk_file, ksk_file_free)

/*
 * The block of this stream at or after *offset; *offset moves behind it, *ret_at is where it was.
 * 1, 0 at the end, or -ENOMEM. ret->payload is NULL where a cut file ends within the block: then
 * only its header is there, and nothing vouches for it.
 */
int ksk_file_next(struct ksk_file *f, uint32_t stream, uint64_t *offset, struct block *ret,
		  uint64_t *ret_at);

const struct ksk_stream *ksk_file_stream(const struct ksk_file *f, uint32_t stream);

/* Checks every block that was not yet: damage is complete then. */
int ksk_file_verify(struct ksk_file *f, struct error *e);

/* Readers find damage, too: blocks that are sound and cannot be right. */
void ksk_file_note(struct ksk_file *f, uint64_t offset, uint64_t len, const char *what);

#endif
