/* SPDX-License-Identifier: MIT */
/*
 * boot_file: the blocks of the spool in one .ksk file (docs/format/ksk.md), as soon as its folder can be written.
 *
 * Each block is appended as it comes, and once a second what is there is brought to the disk, by a thread, because
 * a slow disk may take longer than a process lives. So a cut of the power costs at most that, and what is left is
 * a file that every reader takes. The index comes when the recording ends.
 *
 * Early in a boot, what a path means changes: the root is switched, a disk is mounted over a folder. So the path is
 * looked up again now and then; if it has become another place, the file is made there, with all
 * that it has, and goes on there.
 *
 * Some room is reserved ahead of what is written, where the file system can do that. So a file system that is full
 * is noticed while there is still room to say so.
 */
#ifndef KISEKI_DEVICE_BOOT_BOOT_FILE_H
#define KISEKI_DEVICE_BOOT_BOOT_FILE_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/agent/spool.h"
#include "device/boot/place.h"

#define BOOT_FILE_HEAD 16U		 /* bytes before the first block, and of the trailer */
#define BOOT_FILE_AHEAD (48U << 10)	 /* bytes reserved for the end */
#define BOOT_FILE_BLOCK_MOST (80U << 10) /* of a block, with its header */

struct boot_file;

struct boot_file_options {
	struct spool *spool;	   /* borrowed */
	const struct place *place; /* borrowed */
	const char *path;	   /* of the running system, borrowed */
	bool keep_old;		   /* what has that name is kept as <path>.old */
};

int boot_file_new(struct boot_file **ret, const struct boot_file_options *o, struct error *e);
void boot_file_free(struct boot_file *f);
DEFINE_CLEANUP(boot_file, boot_file_free)

/* Writes what the spool has and the file has not. -EAGAIN: it cannot be made yet; -ENOSPC: the file system is full;
 * other errors are as final as that. */
int boot_file_turn(struct boot_file *f, uint64_t now_ms, struct error *e);

/* The rest, from what was reserved, and the index; then all of it is on the disk. */
int boot_file_finish(struct boot_file *f, struct error *e);

bool boot_file_is_open(const struct boot_file *f);

/* Everything that the spool has is in the file. */
bool boot_file_has_all(const struct boot_file *f);

/* What the file has, nobody else wants: it leaves the spool. */
void boot_file_release(struct boot_file *f);

#endif
