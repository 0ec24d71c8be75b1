/* SPDX-License-Identifier: MIT */
/*
 * ksk_scan: what the files of the .ksk reader share: the lists of struct ksk_file, and the search
 * for blocks.
 */
#ifndef KISEKI_STORE_KSK_SCAN_H
#define KISEKI_STORE_KSK_SCAN_H

#include "store/ksk_file.h"

/* The file as a block_reader: ksk_reader.c. */
extern const struct block_reader_ops ksk_reader_ops;

/* All of these: 0, -ENOMEM, or -E2BIG beyond the ceilings. */
int ksk_add_stream(struct ksk_file *f, uint32_t stream, struct ksk_stream **ret);
int ksk_add_segment(struct ksk_stream *s, uint64_t offset, uint64_t tick);
int ksk_add_chunk(struct ksk_file *f, uint64_t offset);
int ksk_end_chunks(struct ksk_file *f); /* the one behind the last */

/* Finds and checks the blocks of a chunk. */
int ksk_scan_chunk(struct ksk_file *f, size_t chunk);

/* This chunk if it is not scanned, else the next that is not; n_chunks if there is none. */
size_t ksk_unscanned(struct ksk_file *f, size_t chunk);

/* Where the stream's first known block at or behind this offset is, or NULL. */
const uint64_t *ksk_find_block(const struct ksk_stream *s, uint64_t offset);

void ksk_forget(struct ksk_file *f); /* streams and chunks */

/* Believes the index if it is whole: 0; else -ENODATA or -EBADMSG, and nothing is kept. */
int ksk_index_read(struct ksk_file *f);

/* The streams' totals of an index block are true wherever it lies. */
int ksk_index_totals(struct ksk_file *f, const struct block *b);

#endif
