/* SPDX-License-Identifier: MIT */
/*
 * mapping: a file that is read as memory.
 *
 * Where a disk cannot give a page of it, or somebody has cut the file off meanwhile, the kernel has no return value to say so
 * with: it sends SIGBUS, and the program ends. One that has called mapping_guard() reads zeros there instead, and the mapping is
 * torn from then on. Who reads one must be content with any bytes, and asks mapping_is_torn() before he believes what he found.
 */
#ifndef KISEKI_BASE_MAPPING_H
#define KISEKI_BASE_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

struct mapping {
	const uint8_t *data; /* NULL if the file is empty */
	size_t len;
	struct mapping *next, *last; /* of all that there are */
	int torn;		     /* set by whoever touches a page that cannot be had */
};

/* All of the file, for reading; it may be closed afterwards. 0 or -errno; -EFBIG if it is longer than `most`. */
int mapping_open(struct mapping **ret, int fd, uint64_t most);
void mapping_close(struct mapping *m);
DEFINE_CLEANUP(mapping, mapping_close)

bool mapping_is_torn(const struct mapping *m);

/* For programs, before they map anything; a library leaves its program's signals alone. */
void mapping_guard(void);

#endif
