/* SPDX-License-Identifier: MIT */
/*
 * tar: a folder of plain files as one archive, in the ustar form of POSIX: how a trace that is a
 * folder travels as one file.
 */
#ifndef KISEKI_COLLECTOR_TAR_H
#define KISEKI_COLLECTOR_TAR_H

#include <stdint.h>

#include "base/error.h"
#include "base/outfile.h"

struct tar_options {
	const char *folder;  /* where the files are; folders in it are left out */
	const char *name;    /* of the folder in the archive, at most 64 bytes */
	uint64_t modified_s; /* of every file: the archive of the same files has the same bytes */
};

/* Files come in the order of their names. */
int tar_write(struct outfile *out, const struct tar_options *o, struct error *e);

/* The 512 bytes in front of a file; one whose size is too large for twelve digits gets GNU's form. */
#define TAR_BLOCK 512U
void tar_encode_head(uint8_t out[TAR_BLOCK], const char *name, uint64_t size, uint64_t modified_s);

#endif
