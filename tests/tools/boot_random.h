/* SPDX-License-Identifier: MIT */
/*
 * boot_random: records of a boot out of a seed, for property tests of the codec and of files.
 *
 * The same seed and style give the same records on every machine.
 *
 *   REAL     what a recorder says of a machine that boots: passes every 20 ms or so, some hundred processes
 *            of which a few run, many short ones, kernel messages
 *   CROWD    the same with more processes than the codec has places for, and pids that come around
 *   HOSTILE  no rule: any kind, key, number, text and time, though earlier ones return often
 */
#ifndef KISEKI_TESTS_BOOT_RANDOM_H
#define KISEKI_TESTS_BOOT_RANDOM_H

#include "wire/boot_event.h"

#define BOOT_RANDOM_TASKS 3000U

enum boot_random_style {
	BOOT_RANDOM_REAL = 0,
	BOOT_RANDOM_CROWD = 1,
	BOOT_RANDOM_HOSTILE = 2,
	BOOT_RANDOM_STYLES = 3,
};

struct boot_random_task {
	uint32_t pid;
	uint64_t number[BOOT_NUMBERS_MAX];
	uint32_t place;
	bool alive;
};

/* About half a megabyte: not for the stack. */
struct boot_random {
	uint64_t x; /* state of the generator of numbers */
	unsigned style;
	uint64_t tick; /* of the pass at hand */
	uint32_t step; /* of that pass */
	uint32_t next_pid;
	uint32_t n_tasks; /* that can be there at a time */
	uint32_t at;	  /* which of them is looked at next */
	uint32_t wants;	  /* what is still to be said of it: bits of kinds */
	struct boot_random_task task[BOOT_RANDOM_TASKS];
	uint64_t machine[BOOT_KINDS][BOOT_NUMBERS_MAX];
	struct boot_event last[16]; /* of a hostile one, to come again; without texts */
	char text[BOOT_TEXT_MAX + 1];
};

void boot_random_init(struct boot_random *r, uint64_t seed, unsigned style);

/* There is always a next record. Its text is valid until the next. */
void boot_random_next(struct boot_random *r, struct boot_event *ret);

uint32_t boot_random_below(struct boot_random *r, uint32_t n);

static inline bool boot_event_equal(const struct boot_event *a, const struct boot_event *b)
{
	return a->tick == b->tick && a->kind == b->kind && a->key == b->key &&
	       !memcmp(a->number, b->number, sizeof(a->number)) && a->text_len == b->text_len &&
	       (!a->text_len || !memcmp(a->text, b->text, a->text_len));
}

#endif
