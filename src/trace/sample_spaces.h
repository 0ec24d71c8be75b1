/* SPDX-License-Identifier: MIT */
/*
 * sample_spaces: what lay where in which process, and when: the address spaces of a profile.
 *
 * Gathered from metadata in any order, then settled: asked for a process, a moment and an address, it gives the
 * mapping that was there then. A process that began while it was sampled has its parent's mappings until it executes
 * something; a number that is used again is another process. What no row tells of is not known, never guessed.
 */
#ifndef KISEKI_TRACE_SAMPLE_SPACES_H
#define KISEKI_TRACE_SAMPLE_SPACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/sample_meta.h"

#define SAMPLE_MAPPINGS_MAX (1U << 22)
#define SAMPLE_LIVES_MAX (1U << 22)
#define SAMPLE_KERNEL_NAMES_MAX (1U << 20)

#define SAMPLE_PATH_MAX 4096U /* bytes of a path or name; a longer one is no such text */

struct sample_spaces; /* its tables are sample_spaces.c's */

int sample_spaces_new(struct sample_spaces **ret);
void sample_spaces_free(struct sample_spaces *s);
DEFINE_CLEANUP(sample_spaces, sample_spaces_free)

/* Adds what a payload of metadata says; other items are passed over. -EBADMSG for what no encoder wrote, -ENOMEM,
 * -E2BIG at a ceiling. */
int sample_spaces_decode(struct sample_spaces *s, struct sample_sampling *sampling,
			 const uint8_t *in, size_t len);

/* One row each, as the above does; texts are copied. -EBADMSG, -ENOMEM, -E2BIG. */
int sample_spaces_add_mapping(struct sample_spaces *s, const struct sample_mapping *m);
int sample_spaces_add_life(struct sample_spaces *s, const struct sample_life_row *l);
int sample_spaces_add_kernel(struct sample_spaces *s, const struct sample_kernel_name *k);

/* Everything was read. More may be added after it; then it is to be settled again. -ENOMEM. */
int sample_spaces_settle(struct sample_spaces *s);

/* Moments before `tick` are not asked for any more, and of a process that ended before `end_tick` nothing is. */
struct sample_horizon {
	uint64_t tick, end_tick; /* end_tick <= tick */
};

/* Forgets what no answer for a later moment depends on; it must be settled, and is so after it. What it answers stays the same,
 * but for processes of which an end was told before end_tick and nothing of a new one's start. -ENOMEM, -E2BIG: of no use any more. */
int sample_spaces_forget(struct sample_spaces *s, const struct sample_horizon *to);

/* Whether rows of lives came after something that they may need was forgotten: it has to be read anew. */
bool sample_spaces_is_torn(const struct sample_spaces *s);

uint64_t sample_spaces_latest(const struct sample_spaces *s); /* tick of the rows of lives */
size_t sample_spaces_rows(const struct sample_spaces *s);
size_t sample_spaces_bytes(const struct sample_spaces *s); /* of memory, about */

/* The ticks for which an answer holds: since <= tick < until. */
struct sample_span {
	uint64_t since, until;
};
#define SAMPLE_SPAN_ALL                                                                            \
	{                                                                                          \
		0, UINT64_MAX                                                                      \
	}

/* The mapping at an address then; NULL: not known. Its path is terminated. */
const struct sample_mapping *sample_spaces_get(const struct sample_spaces *s, int32_t pid,
					       uint64_t tick, uint64_t address);

/* The same, and how long that is so; for those who ask for one address many times. */
const struct sample_mapping *sample_spaces_find(const struct sample_spaces *s, int32_t pid,
						uint64_t tick, uint64_t address,
						struct sample_span *ret);

/* The kernel's function at an address; NULL: not known. Its name is terminated. */
const struct sample_kernel_name *sample_spaces_get_kernel(const struct sample_spaces *s,
							  uint64_t address);

/* Which of the lives of this number it is, from 0: processes that had the same number one after the other. */
uint32_t sample_spaces_life(const struct sample_spaces *s, int32_t pid, uint64_t tick);
/* The same; it cuts the span to ticks for which the answer holds. */
uint32_t sample_spaces_life_span(const struct sample_spaces *s, int32_t pid, uint64_t tick,
				 struct sample_span *span);
static inline void sample_span_cut(struct sample_span *span, uint64_t since, uint64_t until)
{
	span->since = since > span->since ? since : span->since;
	span->until = until < span->until ? until : span->until;
}

/* The last name that it had in that life, which is what people call it: a process begins with its parent's. NULL:
 * nothing was told. Terminated. */
const char *sample_spaces_last_comm(const struct sample_spaces *s, int32_t pid, uint64_t tick);

/* The name that the process had then by what was told of its lives; NULL: nothing was. Terminated. */
const char *sample_spaces_comm(const struct sample_spaces *s, int32_t pid, uint64_t tick);

#endif
