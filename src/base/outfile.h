/* SPDX-License-Identifier: MIT */
/*
 * outfile: a buffered output file that appears whole or not at all.
 *
 * Bytes go to "<path>.partial.<pid>"; outfile_commit() flushes, syncs nothing (an export can be made
 * again) and renames. outfile_free() without commit removes the temporary. "-" is standard output,
 * which is written as it comes. A write that fails (disk full) is remembered and reported by the
 * next call that returns an error code, so formatters need not check every byte.
 */
#ifndef KISEKI_BASE_OUTFILE_H
#define KISEKI_BASE_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

struct outfile;

int outfile_open(struct outfile **ret, const char *path, struct error *e);
void outfile_free(struct outfile *f);
DEFINE_CLEANUP(outfile, outfile_free)

void outfile_write(struct outfile *f, const void *data, size_t len);
__attribute__((format(printf, 2, 3))) void outfile_printf(struct outfile *f, const char *fmt, ...);

/* At least `need` writable bytes of the buffer (need <= 64 KiB); outfile_advance() says how many
 * were used. For formatters that write byte by byte. */
char *outfile_reserve(struct outfile *f, size_t need);
void outfile_advance(struct outfile *f, size_t used);

uint64_t outfile_offset(const struct outfile *f);
int outfile_error(const struct outfile *f); /* 0, or the remembered negative errno */
int outfile_check(const struct outfile *f, struct error *e); /* the same, with its text in e */

/* Overwrites earlier bytes; not possible on a pipe (-ESPIPE). */
int outfile_patch(struct outfile *f, uint64_t offset, const void *data, size_t len,
		  struct error *e);

/* Replaces `old_len` earlier bytes by a text and moves what follows them, which costs a copy of it
 * when the lengths differ; not possible on a pipe (-ESPIPE). */
int outfile_replace(struct outfile *f, uint64_t offset, size_t old_len, const char *text,
		    struct error *e);

bool outfile_is_file(const struct outfile *f); /* else it is a pipe and cannot be patched */
int outfile_commit(struct outfile *f, struct error *e);

#endif
