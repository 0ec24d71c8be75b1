/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * manifest: which frame of a connection was which block, so that an acknowledgement, which only
 * counts frames, can free them.
 *
 * A list of fixed size: when it is full, nothing is sent until something is acknowledged. It names a
 * block by run, stream and sequence, not by its place in an export buffer: that may have been taken
 * by another one since, when the buffer is a flight recorder's.
 */
#ifndef KISEKI_DEVICE_DRIVER_CORE_MANIFEST_H
#define KISEKI_DEVICE_DRIVER_CORE_MANIFEST_H

#include "wire/types.h"

#define MANIFEST_SIZE 1024U
#define MANIFEST_END UINT32_MAX /* as stream: the frame was an END */

struct manifest_entry {
	uint64_t sequence;
	uint32_t run, stream;
};

struct manifest {
	uint64_t acked; /* frames of this connection that are done with */
	uint32_t first, n;
	struct manifest_entry entries[MANIFEST_SIZE];
};

static inline void manifest_init(struct manifest *m)
{
	m->acked = 0;
	m->first = m->n = 0;
}

static inline bool manifest_is_full(const struct manifest *m)
{
	return m->n == MANIFEST_SIZE;
}

/* It is not full. */
static inline void manifest_push(struct manifest *m, const struct manifest_entry *e)
{
	m->entries[(m->first + m->n++) % MANIFEST_SIZE] = *e;
}

/* The oldest of the first `frames` of the connection; false: there is none any more. */
static inline bool manifest_pop(struct manifest *m, uint64_t frames, struct manifest_entry *ret)
{
	if (!m->n || m->acked >= frames)
		return false;
	*ret = m->entries[m->first];
	m->first = (m->first + 1) % MANIFEST_SIZE;
	m->n--;
	m->acked++;
	return true;
}

#endif
