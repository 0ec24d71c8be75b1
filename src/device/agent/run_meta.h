/* SPDX-License-Identifier: MIT */
/*
 * run_meta: blocks of a run's description (docs/format/wire.md, section 7), and what every run says
 * about the machine.
 *
 * The description is stream 0. Items are written into the room of a struct run_meta, from
 * run_meta_begin() on, and put as one block. With it goes the stream's checkpoint, so a sequence is
 * never used twice.
 */
#ifndef KISEKI_DEVICE_AGENT_RUN_META_H
#define KISEKI_DEVICE_AGENT_RUN_META_H

#include "device/agent/spool.h"
#include "wire/block.h"
#include "wire/meta_encode.h"

struct run_meta {
	struct spool *spool; /* borrowed */
	const char *device;  /* its name, may be empty */
	uint8_t kind;	     /* enum spool_kind */
	uint32_t run;	     /* number */
	uint64_t position;   /* kept in the checkpoint; of use to whoever describes */
	uint8_t room[BLOCK_HEADER_MAX + SPOOL_META_MOST];
};

/* A new identity. */
int run_meta_draw(struct message_id *ret, struct error *e);

/* Where the first item goes. There is room for SPOOL_META_MOST bytes. */
uint8_t *run_meta_begin(struct run_meta *m);

/* Puts the items up to `end`. must_stay: nothing else will say it, so a full spool may not drop it. */
int run_meta_put(struct run_meta *m, const uint8_t *end, bool must_stay);

/* Device, kernel, machine, origin, CPUs; and which program records. */
uint8_t *run_meta_put_machine(const struct run_meta *m, uint8_t *p, const char *origin,
			      uint32_t cpus);
uint8_t *run_meta_put_agent(uint8_t *p);

/* The clock of the agent's events, CLOCK_MONOTONIC in ticks of 1 << shift ns, and what the real time is now. */
struct meta_clock run_meta_get_clock(uint32_t shift);
uint8_t *run_meta_put_clock(uint8_t *p, uint32_t shift);

/* Where the real time is, seen from CLOCK_MONOTONIC. */
void run_meta_measure(struct meta_clock *c);

#endif
