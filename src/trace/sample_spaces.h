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

#include "base/error.h"
#include "wire/sample_meta.h"

#define SAMPLE_MAPPINGS_MAX (1U << 22)
#define SAMPLE_LIVES_MAX (1U << 22)
#define SAMPLE_KERNEL_NAMES_MAX (1U << 20)

struct sample_spaces; /* opaque tables are inside; the struct is in sample_spaces.c's care */

int sample_spaces_new(struct sample_spaces **ret);
void sample_spaces_free(struct sample_spaces *s);

/* Adds what a payload of metadata says; other items are passed over. -EBADMSG for what no encoder wrote, -ENOMEM,
 * -E2BIG at a ceiling. */
int sample_spaces_decode(struct sample_spaces *s, struct sample_sampling *sampling,
			 const uint8_t *in, size_t len);

/* Everything was read. -ENOMEM. */
int sample_spaces_settle(struct sample_spaces *s);

/* The mapping at an address then; NULL: not known. Its path is terminated. */
const struct sample_mapping *sample_spaces_get(const struct sample_spaces *s, int32_t pid,
					       uint64_t tick, uint64_t address);

/* The kernel's function at an address; NULL: not known. Its name is terminated. */
const struct sample_kernel_name *sample_spaces_get_kernel(const struct sample_spaces *s,
							  uint64_t address);

/* Which of the lives of this number it is, from 0: processes that had the same number one after the other. */
uint32_t sample_spaces_life(const struct sample_spaces *s, int32_t pid, uint64_t tick);

#endif
