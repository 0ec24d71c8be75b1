/* SPDX-License-Identifier: MIT */
/*
 * func_meta_shift: what one run says about its function streams, for a file that has those of another
 * run already.
 *
 * Processes and threads are numbered from 0 in each run (wire.md, section 7). Where several runs come
 * into one file, the numbers of each are moved behind those of the runs before it; its streams are
 * moved alike by whoever writes them. Only items about function streams stay: what else a
 * description says, the file has from elsewhere.
 */
#ifndef KISEKI_TRACE_FUNC_META_SHIFT_H
#define KISEKI_TRACE_FUNC_META_SHIFT_H

#include <sys/types.h>

#include "wire/types.h"

struct func_meta_shift {
	uint32_t processes, threads;	    /* what is added to a number */
	uint32_t next_process, next_thread; /* behind all that were seen; only ever raised */
};

/* Whether a description has such items at all. */
bool func_meta_shift_wants(const uint8_t *in, size_t len);

/* Room that is always enough. */
#define FUNC_META_SHIFT_ROOM(len) (3 * (size_t)(len) + 16)

/* The length of what it wrote; -EBADMSG: it is damaged, or the numbers are used up. */
ssize_t func_meta_shift_encode(struct func_meta_shift *s, const uint8_t *in, size_t len,
			       uint8_t *out);

#endif
