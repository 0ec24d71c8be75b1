/* SPDX-License-Identifier: MIT */
/*
 * sample_pace: how often a profile was sampled, from when on, and when not at all (docs/format/wire.md, section 7.21).
 *
 * Gathered from metadata in any order, then settled. Without rows nothing is known of it: then it went on from its first
 * record to its last, at the one period of its description.
 */
#ifndef KISEKI_TRACE_SAMPLE_PACE_H
#define KISEKI_TRACE_SAMPLE_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/sample_meta.h"

#define SAMPLE_PACE_ROWS_MAX (1U << 20)

struct sample_pace_part {
	struct sample_pace_row row;
	uint64_t paused_before; /* ticks */
};

struct sample_pace {
	struct sample_pace_part *parts; /* by rising tick, once it is settled */
	size_t n, room;
};

void sample_pace_done(struct sample_pace *p);

/* Adds the rows of a payload of metadata; other items are passed over. -EBADMSG for what no encoder wrote, -ENOMEM,
 * -E2BIG at the ceiling. */
int sample_pace_decode(struct sample_pace *p, const uint8_t *in, size_t len);

/* Everything was read. More may be added after it; then it is to be settled again. */
void sample_pace_settle(struct sample_pace *p);

/* Moments before this one are not asked for any more: the row that holds then stays, and those behind it. */
void sample_pace_forget(struct sample_pace *p, uint64_t tick);

/* From the first row to the last; false: there are none. */
bool sample_pace_span(const struct sample_pace *p, uint64_t *ret_from, uint64_t *ret_to);

/* For how many ticks of this time it paused, as was asked for. */
uint64_t sample_pace_paused(const struct sample_pace *p, uint64_t from, uint64_t to);

/* The shortest and the longest period of this time; false: none is known. */
bool sample_pace_periods(const struct sample_pace *p, uint64_t from, uint64_t to,
			 uint64_t *ret_least, uint64_t *ret_most);

/* Whether it has said that all that was asked for is recorded. */
bool sample_pace_is_complete(const struct sample_pace *p);

/* Goes through the pauses beside whoever goes through the records. A copy of it goes on from the same place. */
struct sample_pauses {
	const struct sample_pace *pace; /* borrowed; NULL: there are none */
	uint64_t next; /* the next one, once it is known; UINT64_MAX: there is none */
	uint64_t done; /* those up to this tick were given */
	bool is_known;
};

/* A pause that begins at this tick or before it, and was not given yet. */
bool sample_pauses_next(struct sample_pauses *p, uint64_t tick, uint64_t *ret_tick);

#endif
