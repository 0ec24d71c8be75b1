/* SPDX-License-Identifier: MIT */
/*
 * tally: what all devices of a fleet did, counted to the last event, and how long an acknowledgement took.
 *
 * Times go into classes that grow by an eighth of a power of two, so a percentile is right to 9 %.
 */
#ifndef KISEKI_BENCH_FLEET_TALLY_H
#define KISEKI_BENCH_FLEET_TALLY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TALLY_CLASSES 512U

struct tally {
	uint64_t devices, connected, finished; /* now */
	uint64_t welcomed, cuts, broken, byes; /* connections */
	uint64_t blocks_sent, bytes_sent;      /* those that were sent again included */
	uint64_t blocks_acked, events_acked, lost_acked;
	uint64_t blocks_given_up, events_given_up; /* by devices whose memory was full */
	uint64_t blocks_made, events_made, lost_made;
	uint64_t broken_promises; /* blocks that were acknowledged and are asked for again */
	uint64_t
		latest_ms; /* that a block was sent behind its time, while its device was connected */
	double cpu_s;	   /* of the fleet itself */
	uint64_t waits[TALLY_CLASSES], n_waits, longest_ns;
};

void tally_add_wait(struct tally *t, uint64_t ns);
/* The time below which this part of all waits was, 0 to 1. */
uint64_t tally_get_wait_ns(const struct tally *t, double part);

/* Whether every event is accounted for. */
bool tally_is_exact(const struct tally *t);
/* Lines of a name and a number. */
void tally_print(const struct tally *t, double seconds, FILE *f);
/* One line of a terminal that is written over; `before` is the tally a second earlier. */
void tally_print_live(const struct tally *t, const struct tally *before, FILE *f);

#endif
