/* SPDX-License-Identifier: MIT */
/*
 * object_id: the build-id in a file of code, for kernels that do not tell it with the mapping.
 *
 * The file is an ELF of this machine's byte order, or it is none. All offsets in it are bounded before they are
 * believed: whoever runs a program has made the file. What was read is remembered for its file, in a table of fixed size.
 */
#ifndef KISEKI_DEVICE_PROFILE_OBJECT_ID_H
#define KISEKI_DEVICE_PROFILE_OBJECT_ID_H

#include <stddef.h>
#include <stdint.h>

#include "wire/sample_meta.h"

#define OBJECT_IDS 512U /* remembered */

struct object_id {
	uint64_t device, inode; /* 0, 0: the place is free */
	uint8_t len;
	uint8_t bytes[SAMPLE_BUILD_ID_MAX];
};

struct object_ids {
	struct object_id known[OBJECT_IDS];
};

/* The build-id of the ELF file; its length, 0: it has none. */
uint8_t object_id_read(int fd, uint8_t ret[SAMPLE_BUILD_ID_MAX]);

/* Fills in that of a mapping, whose file is this one, if it is still there. */
void object_ids_get(struct object_ids *o, struct sample_mapping *m, uint64_t device,
		    uint64_t inode);

#endif
