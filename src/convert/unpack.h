/* SPDX-License-Identifier: MIT */
/*
 * unpack: files that were compressed as a whole, by gzip, xz or zstd, and what `atrace -z` prints.
 *
 * unpack_bytes() decodes them in pieces, and bounds what the decoders hold. unpack_file() does that in a process of
 * its own, in a sandbox, into a file without a name, and bounds how much comes out: a file that was made to
 * fill a disk ends as an error.
 */
#ifndef KISEKI_CONVERT_UNPACK_H
#define KISEKI_CONVERT_UNPACK_H

#include <stdbool.h>

#include "base/error.h"
#include "convert/import.h"
#include "convert/recognise.h"

/* Traces become at most a hundred times as long, by xz. */
#define UNPACK_LEAST (64ULL << 20)
#define UNPACK_FACTOR 300U

/* Takes what came out, 64 KiB at most; < 0 ends it. */
typedef int (*unpack_put)(void *context, const uint8_t *data, size_t len);

bool unpack_can(enum recognised format);

/* 0, -EBADMSG (damaged, or cut short), -ENOMEM, or what put gave. */
int unpack_bytes(enum recognised format, struct import_bytes in, unpack_put put, void *context,
		 struct error *e);

/* *ret_fd is the file, to be closed by the caller. The error does not name the packed file. */
int unpack_file(enum recognised format, struct import_bytes in, int *ret_fd, struct error *e);

/* A new file without a name in $TMPDIR or /tmp, open to write and read; its folder in an error. */
int unpack_temporary(int *ret_fd, struct error *e);

#endif
