/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * boot_model: what encoder and decoder of codec `boot` both know, and hence expect of the next record
 * (docs/format/boot.md, sections 2 to 5).
 *
 * Both sides hold one, look at it in the same way to choose a context, and change it in the same way after
 * each record. Its size is fixed, it holds no pointer, and boot_model_init() makes it new.
 *
 * Whatever says the same of the same key again is written as the difference to what it said last. A process
 * has a place in a table by its pid; CPUs, disks and whatever there are few of have a row each. Another key
 * may take a place or a row away: then the differences are large for once, and nothing else happens.
 *
 * Kernels count in units: hundredths of a second, sectors, pages. So differences are written as multiples
 * of the largest number that lately divided all of them, which is found as they come.
 */
#ifndef KISEKI_WIRE_BOOT_MODEL_H
#define KISEKI_WIRE_BOOT_MODEL_H

#include "wire/boot_event.h"
#include "wire/boot_text.h"
#include "wire/model.h"

#define BOOT_FIELDS 63U /* numbers of all kinds together */
#define BOOT_TASK_BITS 10
#define BOOT_TASKS (1U << BOOT_TASK_BITS) /* processes known at a time */
#define BOOT_ROWS 81U
#define BOOT_UNIT_LIFE 16U /* differences after which a unit is looked at again */

/* How far a number is from what was expected. */
enum boot_step {
	BOOT_STEP_NONE = 0,
	BOOT_STEP_UP = 1,	 /* 1 … 6: so many units more */
	BOOT_STEP_DOWN = 7,	 /* 7 … 9: one to three units less */
	BOOT_STEP_UP_FAR = 10,	 /* more units: the number of them follows */
	BOOT_STEP_DOWN_FAR = 11, /* likewise */
	BOOT_STEP_UP_ODD = 12,	 /* not in units: the difference follows */
	BOOT_STEP_DOWN_ODD = 13,
	BOOT_STEPS = 14,
};
#define BOOT_UP_MAX 6U
#define BOOT_DOWN_MAX 3U

/* Whose a record is. Below BOOT_KEY_SAME: the n-th of the processes known behind the last one of this
 * kind, or, if the key is not a pid, the key itself. */
enum boot_key {
	BOOT_KEY_SAME = 12, /* of the same as the record before */
	BOOT_KEY_NEXT = 13, /* one more than the last of this kind */
	BOOT_KEY_UP = 14,   /* than that, so many more */
	BOOT_KEY_DOWN = 15,
};

enum boot_time {
	BOOT_TIME_SAME = 0, /* as the record before */
	BOOT_TIME_PASS = 1, /* as the last pass */
	BOOT_TIME_UP = 2,   /* later than the record before */
	BOOT_TIME_DOWN = 3,
	BOOT_TIME_DUE = 4, /* as long after the last pass as that one was after the one before it */
	BOOT_TIME_LATE = 5,  /* later than that */
	BOOT_TIME_EARLY = 6, /* earlier */
	BOOT_TIMES = 7,
};

enum boot_text {
	BOOT_TEXT_LAST = 0,   /* what was last said of the same process */
	BOOT_TEXT_BEFORE = 1, /* what was said before that */
	BOOT_TEXT_KNOWN = 2,  /* it has a number */
	BOOT_TEXT_NEW = 3,
	BOOT_TEXTS = 4,
};

/* Numbers that are no fields and have a size. */
enum boot_plain {
	BOOT_PLAIN_KEY = 0,
	BOOT_PLAIN_UP = 1, /* of ticks */
	BOOT_PLAIN_DOWN = 2,
	BOOT_PLAIN_LATE = 3,
	BOOT_PLAIN_STATE = 4,
	BOOT_PLAIN_TEXT = 5,
	BOOT_PLAINS = 6,
};

#define BOOT_STATE_LETTERS 15U /* letters that have a number of their own */
#define BOOT_STATE_OTHER BOOT_STATE_LETTERS

/* How many bits a number has. */
struct boot_size {
	struct nibble_model high;
	struct bit_model low[16][4];
};

/* What divides differences. 0: none was seen. */
struct boot_unit {
	uint64_t now;
	uint64_t next; /* since it was last looked at */
	uint32_t age;
};

struct boot_field {
	struct boot_unit unit;
	struct nibble_model
		step[4]; /* by whether this one moved last time, and the one before it now */
	struct boot_size size;
};

struct boot_task {
	uint64_t time[4]; /* user, system, ran, waited */
	uint32_t key;
	uint32_t faults;
	uint32_t threads;
	uint16_t name; /* 1 + number of its text, 0: none */
	uint16_t place[2];
	uint8_t state; /* its number */
	uint8_t moved; /* bits: which numbers were other than expected last time */
};

struct boot_row {
	uint64_t number[BOOT_NUMBERS_MAX];
	uint16_t moved;
	bool apart; /* its own tick was not the record's */
};

struct boot_model {
	uint64_t tick; /* of the last record */
	uint64_t pass; /* of the last pass */
	uint64_t interval;
	uint32_t key; /* of the last record */
	uint32_t kind[2];
	uint32_t last_key[BOOT_KINDS];
	uint32_t alive[BOOT_TASKS]; /* pids, 0: none */
	struct boot_task task[BOOT_TASKS];
	struct boot_row row[BOOT_ROWS];
	struct boot_texts texts;

	/* Everything from here on is probabilities, and the fields' units. */
	struct nibble_model kinds[(BOOT_KINDS + 1) * (BOOT_KINDS + 1)];
	struct nibble_model keys[BOOT_KINDS][2];
	struct nibble_model times[BOOT_KINDS];
	struct nibble_model text[BOOT_KINDS];
	struct nibble_model state[BOOT_STATE_LETTERS + 1];
	struct boot_size plain[BOOT_PLAINS];
	struct boot_field field[BOOT_FIELDS];
};

struct boot_expected {
	uint64_t number[BOOT_NUMBERS_MAX];
	uint32_t moved;
};

void boot_model_init(struct boot_model *m);

/* Where the fields of a kind start. */
extern const uint8_t boot_model_fields[BOOT_KINDS];

/* The letters of states, by their number. */
extern const uint8_t boot_model_states[BOOT_STATE_LETTERS];
uint32_t boot_model_state(uint64_t letter);

static inline bool boot_kind_is_task(uint32_t kind)
{
	return kind >= BOOT_START && kind <= BOOT_ACCOUNT;
}

static inline struct nibble_model *boot_model_kinds(struct boot_model *m)
{
	return &m->kinds[m->kind[1] * (BOOT_KINDS + 1) + m->kind[0]];
}

static inline struct nibble_model *boot_model_keys(struct boot_model *m, uint32_t kind)
{
	return &m->keys[kind][m->kind[0] == kind];
}

/* The place of a process, emptied if it was another's. */
struct boot_task *boot_model_task(struct boot_model *m, uint32_t key);

/* The n-th process known behind one; 0: there is none. */
uint32_t boot_model_nth(const struct boot_model *m, uint32_t after, uint32_t n);
/* The other way round; BOOT_KEY_SAME: it is not among those. */
uint32_t boot_model_rank(const struct boot_model *m, uint32_t after, uint32_t key);

/* What the numbers of a record should be, of which kind, key and tick are known. */
void boot_model_expect(struct boot_model *m, const struct boot_event *ev,
		       struct boot_expected *ret);

/* That was the record: numbers, key and tick. `moved`: which numbers were not as expected. */
void boot_model_learn(struct boot_model *m, const struct boot_event *ev, uint32_t moved);

/* Its text has number `number` on its shelf, or BOOT_TEXT_NONE. */
void boot_model_learn_text(struct boot_model *m, const struct boot_event *ev, uint32_t number);

static inline enum boot_shelf boot_kind_shelf(uint32_t kind)
{
	return kind == BOOT_WAIT ? BOOT_SHELF_PLACES : BOOT_SHELF_NAMES;
}

/* What was last said of this process, or, back 1, before that; NULL: nothing. */
const struct boot_short *boot_model_said(const struct boot_model *m, const struct boot_event *ev,
					 uint32_t back, uint32_t *ret_number);

/* n / d, d > 0. No machine that this runs on needs to have it. */
uint64_t boot_divide(uint64_t n, uint64_t d, uint64_t *ret_rest);

static inline uint64_t boot_unit_get(const struct boot_unit *u)
{
	return u->now ? u->now : 1;
}

/* A difference that is not 0, without its sign. */
void boot_unit_learn(struct boot_unit *u, uint64_t difference);

static inline uint32_t boot_bit_length(uint64_t v)
{
	uint32_t high = (uint32_t)(v >> 32), low = (uint32_t)v;

	if (high)
		return 64 - (uint32_t)__builtin_clz(high);
	return low ? 32 - (uint32_t)__builtin_clz(low) : 0;
}

#endif
