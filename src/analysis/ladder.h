/* SPDX-License-Identifier: MIT */
/*
 * ladder: one CPU's buckets, and from them those of coarser levels.
 *
 * Level 0 has buckets of one second; each level above, buckets of LADDER_STEP of the one below. The
 * buckets of a level go into chunks (chunk.h), a chunk for each bucket of the next level; when a
 * bucket of a later chunk comes, the chunk before it is complete: it is handed out, never to change,
 * and the sum over it goes up as a bucket of the next level. Sums are exact, but for tasks that do
 * not fit (bucket_trim()): those are in the rest.
 *
 * So of each level one chunk is open; the open ones are all that a ladder knows, and they can be
 * kept as bytes (ladder_get_open(), ladder_load()) while nobody works on the CPU. On every level the
 * buckets that were pushed or summed up are final.
 */
#ifndef KISEKI_ANALYSIS_LADDER_H
#define KISEKI_ANALYSIS_LADDER_H

#include "analysis/bucket.h"
#include "analysis/chunk.h"
#include "base/cleanup.h"

#define LADDER_LEVELS 4U
#define LADDER_STEP 16U
#define LADDER_BASE_NS 1000000000ULL

struct ladder;

/* Takes a complete chunk: the buckets of `level` from chunk * LADDER_STEP on. */
typedef int (*ladder_fn)(void *context, uint32_t level, uint64_t chunk, const uint8_t *data,
			 size_t len);

/* put may be NULL. About 400 KB. */
int ladder_new(struct ladder **ret, ladder_fn put, void *context);
void ladder_free(struct ladder *l);
DEFINE_CLEANUP(ladder, ladder_free)
void ladder_reset(struct ladder *l); /* empty again */

/* A bucket of level 0, later than all before. 0, -ENOMEM, or what put returned. */
int ladder_push(struct ladder *l, struct bucket *b);

/* The open chunk of a level, borrowed; *ret_len is 0 if there is none. */
const uint8_t *ladder_get_open(const struct ladder *l, uint32_t level, size_t *ret_len);
/* The same into an empty ladder, from level 0 up. -EBADMSG: it is none. */
int ladder_load(struct ladder *l, uint32_t level, const uint8_t *data, size_t len);

static inline uint64_t ladder_width_ns(uint32_t level)
{
	uint64_t width = LADDER_BASE_NS;

	for (; level; level--)
		width *= LADDER_STEP;
	return width;
}

#endif
