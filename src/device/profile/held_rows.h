/* SPDX-License-Identifier: MIT */
/*
 * held_rows: mappings of processes that no sample has been in yet.
 *
 * A shell's command lives for a millisecond and maps six files; most are never sampled, and what they mapped would be
 * most of a recording. So rows wait, encoded, in a slot of their process, until a sample or a child
 * shows that they are needed, and go with its end. There is a fixed number of slots. Who finds none, or has more
 * rows than a slot holds, is described at once.
 */
#ifndef KISEKI_DEVICE_PROFILE_HELD_ROWS_H
#define KISEKI_DEVICE_PROFILE_HELD_ROWS_H

#include "device/profile/profile_meta.h"

#define HELD_ROWS_SLOTS 256U
#define HELD_ROWS_BYTES 4096U
#define HELD_ROWS_NONE 0U

struct held_slot {
	uint16_t next; /* free slot, + 1 */
	uint16_t len;  /* of rows, each behind its length */
	uint8_t rows[HELD_ROWS_BYTES];
};

struct held_rows {
	uint16_t free; /* the first, + 1; HELD_ROWS_NONE: there is none */
	struct held_slot slot[HELD_ROWS_SLOTS];
};

void held_rows_init(struct held_rows *h);

/* A slot for a process; HELD_ROWS_NONE: there is no more. */
uint16_t held_rows_take(struct held_rows *h);

/* False: it does not fit. */
bool held_rows_push(struct held_rows *h, uint16_t slot, const struct sample_mapping *row);

/* Puts what the slot has, unless m is NULL, and frees it. */
void held_rows_pop(struct held_rows *h, uint16_t slot, struct profile_meta *m);

#endif
