/* SPDX-License-Identifier: MIT */
/*
 * profile_file: the blocks of a profile in a .ksk file (docs/format/ksk.md).
 *
 * Each block is appended as it comes, so a recorder that is killed leaves a file that every reader takes; it only lacks
 * the index, which comes at the end. Some room is reserved ahead, where the file system can do that, so
 * that one that is full is noticed while there is room to say what is missing, and for the index.
 */
#ifndef KISEKI_DEVICE_PROFILE_PROFILE_FILE_H
#define KISEKI_DEVICE_PROFILE_PROFILE_FILE_H

#include "base/error.h"
#include "wire/block_out.h"

struct profile_file {
	struct block_out out; /* first: this is what others put into */
	const char *path;     /* borrowed */
	int fd;
	uint64_t len, reserved;
	bool can_reserve;
	int failed; /* the first error, negative */
};

/* Makes the file, or makes it empty. */
int profile_file_open(struct profile_file *f, const char *path, struct error *e);

/* Why it takes no more blocks, if it does not. */
int profile_file_check(const struct profile_file *f, struct error *e);

/* The index; then the file is complete. */
int profile_file_finish(struct profile_file *f, struct error *e);
void profile_file_close(struct profile_file *f);

#endif
