/* SPDX-License-Identifier: MIT */
/*
 * ksk_file: a .ksk file for reading: where its segments start, and its blocks one after the other.
 *
 * The file is mapped. Where it has a sound index that is believed, else all blocks are stepped
 * through once. Bytes that are no block are damage: they are noted once, and reading goes on at
 * the next sound block.
 */
#ifndef KISEKI_STORE_KSK_FILE_H
#define KISEKI_STORE_KSK_FILE_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/block.h"

struct ksk_segment {
	uint64_t offset;
	uint64_t first_tick;
};

struct ksk_stream {
	uint32_t stream;
	struct ksk_segment *segments; /* by rising offset */
	size_t n, room;
};

/* Bytes that could not be read. */
struct ksk_damage {
	uint64_t offset;
	uint64_t len; /* 0: something is missing here */
	const char *what;
};

struct ksk_file {
	const uint8_t *data;
	size_t len;
	size_t end;	/* of the blocks: where the index starts */
	uint8_t *owned; /* what a pipe gave */
	bool mapped;
	bool indexed;
	struct ksk_stream *streams; /* by rising number */
	size_t n_streams, room_streams;
	struct ksk_damage *damage; /* by rising offset */
	size_t n_damage, room_damage;
};

/* "-" reads standard input to its end. -EBADMSG if it is no .ksk file. */
int ksk_file_open(struct ksk_file **ret, const char *path, struct error *e);
int ksk_file_open_memory(struct ksk_file **ret, const uint8_t *data, size_t len, struct error *e);
void ksk_file_free(struct ksk_file *f);
DEFINE_CLEANUP(ksk_file, ksk_file_free)

/*
 * The block of this stream at or after *offset; *offset moves behind it. 1, or 0 at the end.
 * ret->payload is NULL where a cut file ends within the block: then only its header is there.
 */
int ksk_file_next(struct ksk_file *f, uint32_t stream, uint64_t *offset, struct block *ret);

const struct ksk_stream *ksk_file_stream(const struct ksk_file *f, uint32_t stream);

/* Steps through every block and checks it, whatever the index says: damage is complete then. */
int ksk_file_verify(struct ksk_file *f, struct error *e);

#endif
