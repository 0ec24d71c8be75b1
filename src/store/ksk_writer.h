/* SPDX-License-Identifier: MIT */
/*
 * ksk_writer: blocks into a .ksk file. The file appears under its name when it is committed.
 */
#ifndef KISEKI_STORE_KSK_WRITER_H
#define KISEKI_STORE_KSK_WRITER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/block.h"

struct ksk_writer;

int ksk_writer_open(struct ksk_writer **ret, const char *path, struct error *e);
void ksk_writer_free(struct ksk_writer *w);
DEFINE_CLEANUP(ksk_writer, ksk_writer_free)

/* Appends an encoded block of `len` bytes; b is its header, for the index. */
int ksk_writer_put(struct ksk_writer *w, const struct block *b, const uint8_t *bytes, uint32_t len,
		   struct error *e);
int ksk_writer_commit(struct ksk_writer *w, struct error *e);

/* Without an index, as a file that a recorder did not complete: what it holds goes on, and who reads it sees that. */
int ksk_writer_commit_cut(struct ksk_writer *w, struct error *e);

#endif
