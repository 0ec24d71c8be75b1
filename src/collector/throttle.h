/* SPDX-License-Identifier: MIT */
/*
 * throttle: who tries passwords waits longer and longer. What is tried is a name or an address; each has some tries
 * that cost nothing, then every further one has to wait twice as long as the one before it, up to a ceiling.
 *
 * A table of fixed size: among a few places that a key can have, the one that was tried longest ago goes. Which
 * places these are depends on a secret, so nobody can push a certain key out but by trying with a great many. From any thread.
 */
#ifndef KISEKI_COLLECTOR_THROTTLE_H
#define KISEKI_COLLECTOR_THROTTLE_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"

#define THROTTLE_FREE 5U		 /* tries */
#define THROTTLE_FORGET_MS (15U * 60000) /* without a try, all is forgotten */

struct throttle;

int throttle_new(struct throttle **ret, uint32_t longest_s, struct error *e);
void throttle_free(struct throttle *t);
DEFINE_CLEANUP(throttle, throttle_free)

/* 0, and the try is counted, before it is known how it ends: many at once count, too. Else how many seconds are left to
 * wait. */
uint32_t throttle_try(struct throttle *t, const char *key, uint64_t now_ms);

/* It was the right one. */
void throttle_clear(struct throttle *t, const char *key);

#endif
