/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * retry: when to try a connection again (docs/format/protocol.md, section 3).
 *
 * At once; then after 0.1 s, twice as long each time, up to 30 s; each time by a random factor of
 * 0.5 to 1, so that a thousand devices do not come back in step. After a BYE that another attempt
 * will hardly change, no sooner than the longest of these times, and spread over half as much.
 */
#ifndef KISEKI_WIRE_RETRY_H
#define KISEKI_WIRE_RETRY_H

#include "wire/types.h"

#define RETRY_FIRST_MS 100U
#define RETRY_LONGEST_MS 30000U

struct retry {
	uint64_t at_ms; /* of the next attempt */
	uint64_t random;
	uint32_t wait_ms;
	bool punished;
};

static inline void retry_init(struct retry *r, uint64_t seed)
{
	*r = (struct retry){ .random = seed | 1, .wait_ms = RETRY_FIRST_MS };
}

/* The next wait is the longest. */
static inline void retry_punish(struct retry *r)
{
	r->punished = true;
}

/* 0 to below `range`, which is small: by Marsaglia's xorshift. */
static inline uint32_t retry_random(struct retry *r, uint32_t range)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return (uint32_t)(r->random >> 32) % range;
}

/* There is no connection now; it had lived for a while if it did. */
static inline void retry_failed(struct retry *r, uint64_t now_ms, bool lived)
{
	uint32_t wait;

	if (lived)
		r->wait_ms = RETRY_FIRST_MS;
	wait = r->wait_ms / 2 + retry_random(r, r->wait_ms / 2 + 1);
	if (r->punished)
		wait = RETRY_LONGEST_MS + retry_random(r, RETRY_LONGEST_MS / 2);
	r->punished = false;
	r->at_ms = now_ms + wait;
	r->wait_ms = r->wait_ms < RETRY_LONGEST_MS / 2 ? 2 * r->wait_ms : RETRY_LONGEST_MS;
}

#endif
