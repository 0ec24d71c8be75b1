/* SPDX-License-Identifier: MIT */
/*
 * sample_random: records of a profile out of a seed, for property tests of the codec, its budget and its bench.
 *
 * The same seed and style give the same records on every machine.
 *
 *   NATIVE   what perf gives of a busy machine: samples of some programs with call chains of 5 to 30 addresses, in
 *            programs and in the kernel, every 1 ms
 *   VM       a host with two guests of two virtual CPUs and some tasks of its own: samples at jittered intervals, and
 *            between them entries, exits with their reasons, halts, switches and wakeups
 *   CROWD    as NATIVE, with more programs and more addresses than the codec has places for
 *   HOSTILE  no rule: any field has any value, though earlier ones return often
 */
#ifndef KISEKI_TESTS_SAMPLE_RANDOM_H
#define KISEKI_TESTS_SAMPLE_RANDOM_H

#include "wire/sample_event.h"

#define SAMPLE_RANDOM_PROGRAMS 400U
#define SAMPLE_RANDOM_DEPTH 40U
#define SAMPLE_RANDOM_LAST 16U

enum sample_random_style {
	SAMPLE_RANDOM_NATIVE = 0,
	SAMPLE_RANDOM_VM = 1,
	SAMPLE_RANDOM_CROWD = 2,
	SAMPLE_RANDOM_HOSTILE = 3,
	SAMPLE_RANDOM_STYLES = 4,
};

/* Where one is: functions by number, from the outermost on. */
struct sample_random_stack {
	uint32_t function[SAMPLE_RANDOM_DEPTH];
	uint32_t depth;
};

struct sample_random_task {
	struct sample_task task;
	uint64_t base; /* where its program lies */
	uint32_t code; /* which program it is: threads have the same */
	struct sample_random_stack user, kernel;
	/* Of a virtual CPU. */
	uint32_t process; /* of its guest */
	uint64_t reason, detail;
	bool halted;
	struct sample_event
		sampled; /* its guest is about to be left for a sample that was taken there */
};

struct sample_random {
	uint64_t x; /* state of the generator of numbers */
	unsigned style;
	uint64_t tick;
	uint64_t next_sample;
	uint32_t n_tasks;
	uint32_t cur;
	uint32_t step; /* what comes next of a virtual CPU */
	struct sample_random_task task[SAMPLE_RANDOM_PROGRAMS];
	struct sample_event last[SAMPLE_RANDOM_LAST]; /* of a hostile one, to come again */
	uint64_t chains[SAMPLE_RANDOM_LAST][SAMPLE_CHAIN_MAX];
	uint64_t chain[SAMPLE_CHAIN_MAX];
};

void sample_random_init(struct sample_random *r, uint64_t seed, unsigned style);

/* There is always a next record. Its chain is valid until the next. */
void sample_random_next(struct sample_random *r, struct sample_event *ret);

uint32_t sample_random_below(struct sample_random *r, uint32_t n);

#endif
