/* SPDX-License-Identifier: MIT */
/*
 * chunk: which part of the file a thread writes next (docs/format/func-buffer.md, section 4).
 */
#ifndef KISEKI_DEVICE_FUNC_CHUNK_H
#define KISEKI_DEVICE_FUNC_CHUNK_H

#include "device/func/gate.h"

/* A chunk in state TAKEN, its pages there; FUNC_NO_CHUNK: none is to be had. Waits, if that is the
 * policy and the caller may. Signals are held back, or the chunk would be nobody's after a jump; while
 * it waits they come. */
uint32_t chunk_take(struct gate *g, bool may_wait, struct sys_signals *held);

static inline uint8_t *chunk_get(const struct gate *g, uint32_t number)
{
	return g->chunks + (size_t)number * g->chunk_bytes;
}

/* The whole pages that bytes lie in. The kernel is asked for pages of its own size, which may be larger than
 * a chunk or a slot. */
struct chunk_pages {
	uintptr_t start;
	size_t len;
};

static inline struct chunk_pages chunk_pages(uintptr_t start, size_t len, uint32_t page)
{
	uintptr_t from = start & ~((uintptr_t)page - 1);
	uintptr_t to = (start + len + page - 1) & ~((uintptr_t)page - 1);

	return (struct chunk_pages){ from, to - from };
}

/* Has the kernel give these pages now: false where reading or writing them would end the program, because
 * the file system is full. */
bool chunk_populate(struct gate *g, void *start, size_t len);

/* The same for the start of the mapping, before anything else; finds out what the kernel can be asked. */
bool chunk_populate_first(struct gate *g, void *start, size_t len);

#endif
