/* SPDX-License-Identifier: MIT */
/*
 * wheel: the deadlines of many connections behind one timer.
 *
 * Entries lie in slots by their time, in steps of WHEEL_STEP_MS; to set one is to link it, and each
 * step looks at one slot. A deadline is never early, and at most a step late. An entry belongs to
 * whoever embeds it, and is in the wheel at most once.
 */
#ifndef KISEKI_COLLECTOR_WHEEL_H
#define KISEKI_COLLECTOR_WHEEL_H

#include <stdint.h>

#define WHEEL_STEP_MS 100U
#define WHEEL_SLOTS 256U

struct wheel_entry {
	struct wheel_entry *next, *prev; /* NULL: in no wheel */
	uint64_t step;
};

struct wheel {
	struct wheel_entry slots[WHEEL_SLOTS]; /* heads */
	uint64_t step;			       /* the last that was looked at */
};

void wheel_init(struct wheel *w, uint64_t now_ms);
void wheel_set(struct wheel *w, struct wheel_entry *e, uint64_t at_ms);
void wheel_unset(struct wheel_entry *e); /* also if it is in none */

/* An entry whose time has come, taken out; NULL: no more now. */
struct wheel_entry *wheel_pop(struct wheel *w, uint64_t now_ms);

#endif
