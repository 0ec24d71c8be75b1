/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_model: what encoder and decoder of codec `sample` both know, and hence expect of the next record
 * (docs/format/sample.md, sections 3 to 7).
 *
 * Both sides hold one, look at it in the same way to choose a context, and change it in the same way as they go.
 * Its size is fixed, it holds no pointer, and sample_model_init() makes it new.
 *
 * Almost everything in a record was there before: a caller's address, a reason, a page table. Such a number is a
 * *word*, and has a slot in one dictionary. Which word comes next is asked of three contexts, from the narrow one
 * (the whole way from the outermost caller) to the wide one (the last caller alone); each remembers the last two
 * that came in it and how sure it is. Most words are the first guess of the narrowest, which costs a hundredth of a bit.
 * Tasks are guessed in the same way, of a table of their own.
 *
 * Where the CPU was is a place in a function, and no two samples need to have the same: so of an address only its
 * line of 256 bytes is a word, and the rest is learned line by line.
 */
#ifndef KISEKI_WIRE_SAMPLE_MODEL_H
#define KISEKI_WIRE_SAMPLE_MODEL_H

#include "wire/model.h"
#include "wire/sample_event.h"

#define SAMPLE_SLOT_BITS 13
#define SAMPLE_SLOTS (1U << SAMPLE_SLOT_BITS) /* words known at a time */
#define SAMPLE_WAYS 4U			      /* places that one may have */
#define SAMPLE_SLOT_END 0U		      /* no word: the chain has no more callers */
#define SAMPLE_TASKS 256U		      /* tasks known at a time */
#define SAMPLE_NARROW_BITS 11
#define SAMPLE_MIDDLE_BITS 13
#define SAMPLE_WIDE_BITS 11
#define SAMPLE_GUESSES 3U /* contexts that are asked */
#define SAMPLE_RANKS 6U	  /* candidates that they have */
#define SAMPLE_SURE_MAX 7U
#define SAMPLE_CONTEXTS 128U
#define SAMPLE_LINE_BITS 8
#define SAMPLE_HIGH_BITS 8
#define SAMPLE_LOW_BITS 8
#define SAMPLE_TIME_BITS 7
#define SAMPLE_MORE_BITS 8
#define SAMPLE_WEIGHTS 3U
#define SAMPLE_YOUNG 4U	   /* age of a model that starts as another's copy */
#define SAMPLE_PREVIOUS 8U /* kinds, and none */

/* What a word is: each class has its own statistics. */
enum sample_class {
	SAMPLE_FRAME = 0,  /* address of a caller */
	SAMPLE_LINE = 1,   /* 256 bytes of addresses */
	SAMPLE_VALUE = 2,  /* reasons, states */
	SAMPLE_DETAIL = 3, /* what belongs to one of them */
	SAMPLE_SPACE = 4,  /* table, context and task of a guest */
	SAMPLE_WHO = 5,	   /* no word: a task */
	SAMPLE_CLASSES = 6,
};

/* How it is said which one: a candidate's number, or one of these. */
enum sample_rank {
	SAMPLE_RANK_KNOWN = 6, /* another slot, which follows */
	SAMPLE_RANK_NEW = 7,
};

/* What a context is of; part of its hash. */
enum sample_use {
	SAMPLE_USE_CALLERS = 0,
	SAMPLE_USE_PLACE = 1,
	SAMPLE_USE_GUEST_PLACE = 2,
	SAMPLE_USE_TABLE = 3,
	SAMPLE_USE_CONTEXT = 4,
	SAMPLE_USE_GUEST_TASK = 5,
	SAMPLE_USE_REASON = 6,
	SAMPLE_USE_REASON_DETAIL = 7,
	SAMPLE_USE_TASK = 8,
	SAMPLE_USE_NEXT = 9,
	SAMPLE_USE_EXIT_PLACE = 10,
	SAMPLE_USE_VALUE = 16,	/* … + kind */
	SAMPLE_USE_DETAIL = 24, /* … + kind */
};

/* Numbers that are written as a size and bits. */
enum sample_number {
	SAMPLE_NUMBER_CLASS = 0, /* … + class: a new word, from one that may be near */
	SAMPLE_NUMBER_TID = 5,
	SAMPLE_NUMBER_PID = 6,
	SAMPLE_NUMBER_VCPU = 7,
	SAMPLE_NUMBER_BACK = 8,
	SAMPLE_NUMBER_WEIGHT = 9,
	SAMPLE_NUMBER_POLL = 10,
	SAMPLE_NUMBER_LATE = 11,
	SAMPLE_NUMBERS = 12,
};

enum sample_sign {
	SAMPLE_SIGN_NONE = 0,
	SAMPLE_SIGN_UP = 1,
	SAMPLE_SIGN_DOWN = 2,
};

/* What a chain has. */
enum sample_chain_shape {
	SAMPLE_SHAPE_KERNEL = 1,
	SAMPLE_SHAPE_USER = 2,
	SAMPLE_SHAPES = 4,
};

enum sample_weight {
	SAMPLE_WEIGHT_OTHER = 3, /* below: one of the last three */
};

/* Yes-or-no questions about a new task. */
enum sample_choice {
	SAMPLE_CHOICE_PID = 0,
	SAMPLE_CHOICE_VCPU = 1,
	SAMPLE_CHOICE_COMM = 2,
	SAMPLE_CHOICE_LONG = 3, /* the name has 16 bytes, not 15 */
	SAMPLE_CHOICES = 4,
};

struct sample_size {
	struct nibble_model sign; /* enum sample_sign */
	struct nibble_model high;
	struct bit_model low[16][4];
	struct nibble_model last; /* its lowest four bits: addresses are aligned */
};

struct sample_guess {
	uint16_t first, second;
	uint16_t sure; /* of the first: how often it was right since it was wrong, about */
};

/* How often each slot is meant. */
struct sample_tree {
	struct nibble_model high;
	struct nibble_model middle[16];
	struct nibble_model low[256]; /* and one bit more, which is as likely 0 as 1 */
};

/* When the next sample is due. Which way of writing a time is the shorter one of late is the sum of sizes. */
struct sample_due {
	uint64_t tick;
	uint64_t period;
	uint64_t last;	  /* sample */
	uint32_t cost[2]; /* from the record before, from when it was due; 16 times the mean */
	bool apart;	  /* the last one was not where it was due */
};

struct sample_slot {
	struct sample_task task;
	uint8_t used; /* since the hand last came by: a second chance */
	uint8_t mode;
	uint32_t name;	      /* a hash of it */
	uint64_t root;	      /* its outermost caller */
	uint16_t place;	      /* word of the line where it was last */
	uint16_t guest_place; /* and its guest */
	uint16_t table;
	uint16_t reason; /* of its last exit */
	uint16_t before; /* of the one before */
};

/* Where a guest was, as a sample or an exit told it last. */
struct sample_spot {
	uint8_t mode, guest; /* what was known, without the reason of an exit before */
	uint64_t table, context, task, pc;
};

struct sample_model {
	uint64_t tick; /* of the last record */
	struct sample_due due;
	uint64_t weights[SAMPLE_WEIGHTS];
	uint64_t kernel_root;
	uint64_t last_detail;
	uint64_t last_guest[6];
	struct sample_spot spot;
	int32_t last_tid;
	uint32_t turn; /* which way loses its slot next */
	uint32_t n_tasks;
	uint16_t cur; /* slot of the task that should have the CPU */
	uint16_t hand;
	uint16_t value[SAMPLE_PREVIOUS]; /* by kind: the word that it had last */
	uint16_t last_next;
	uint8_t kind[2];       /* of the last record and the one before; SAMPLE_KINDS: none */
	uint8_t guest[8];      /* by mode: what was known of the guest */
	uint8_t exit_guest[8]; /* likewise, where one was left */
	uint64_t word[SAMPLE_SLOTS];
	struct sample_slot task[SAMPLE_TASKS];
	struct sample_guess narrow[1U << SAMPLE_NARROW_BITS];
	struct sample_guess middle[1U << SAMPLE_MIDDLE_BITS];
	struct sample_guess wide[1U << SAMPLE_WIDE_BITS];

	/* Everything from here on is probabilities. */
	struct nibble_model kinds[SAMPLE_PREVIOUS][SAMPLE_PREVIOUS][4];
	struct nibble_model rank[SAMPLE_CLASSES + 1][SAMPLE_CONTEXTS]; /* the last: of an end */
	struct sample_tree tree[2]; /* of addresses, of all else */
	struct nibble_model task_high;
	struct nibble_model task_low[16];
	struct nibble_model time[1U << SAMPLE_TIME_BITS];
	struct nibble_model time_more[1U << SAMPLE_MORE_BITS];
	struct nibble_model high[1U << SAMPLE_HIGH_BITS]; /* of the place in a line */
	struct nibble_model low[1U << SAMPLE_LOW_BITS];
	struct nibble_model all_high;
	struct nibble_model all_low[16];
	struct nibble_model mode[8][SAMPLE_PREVIOUS];
	struct nibble_model exit_mode[8];
	struct nibble_model shape[8];
	struct nibble_model weight;
	struct nibble_model comm_length;
	struct nibble_model comm_high[64];
	struct nibble_model comm_low[16][16];
	struct sample_size number[SAMPLE_NUMBERS];
	struct nibble_model poll_more[64]; /* by size */
	struct nibble_model late_more[64];
	struct bit_model time_low[SAMPLE_PREVIOUS][16][4];
	struct bit_model time_back[SAMPLE_PREVIOUS];
	struct bit_model is_cur[SAMPLE_PREVIOUS][SAMPLE_PREVIOUS];
	struct bit_model guest_same[8];
	struct bit_model exit_same[8];
	struct bit_model spot_same[8];
	struct bit_model choice[SAMPLE_CHOICES];
};

/* Whom or what to expect. */
struct sample_guesses {
	struct sample_guess *guess[SAMPLE_GUESSES];
	struct nibble_model *rank;
};

/* The contexts of a word, from narrow to wide. */
struct sample_context {
	uint32_t hash[SAMPLE_GUESSES];
};

/* A way from the outermost caller inwards. */
struct sample_walk {
	uint32_t path; /* all of it */
	uint32_t last; /* the last caller: its word, and above it the low 12 bits of its address */
	uint32_t before; /* the one before it */
	uint64_t near;	 /* an address that the next may be near to */
};

void sample_model_init(struct sample_model *m);

/* The slot of a word, 0 if it has none. */
uint32_t sample_model_find(const struct sample_model *m, uint64_t word);
/* Gives it a slot; another one may lose it. */
uint32_t sample_model_add(struct sample_model *m, uint64_t word);

/* The slot of a task, SAMPLE_TASKS if it has none. */
uint32_t sample_model_find_task(const struct sample_model *m, const struct sample_task *t);
/* The slot for a task that has none: that of the same tid, or else another one, emptied but for what can be guessed. */
uint32_t sample_model_add_task(struct sample_model *m, int32_t tid);
/* What a new task is probably called, once its pid is known. */
const char *sample_model_comm(const struct sample_model *m, uint32_t slot);

/* A slot's task is known: of one that is new the rest can be guessed. */
void sample_model_name_task(struct sample_model *m, uint32_t slot);

/* The candidate with a number, of those that the contexts have, each once; SAMPLE_SLOTS: there is none. */
uint32_t sample_guesses_get(const struct sample_guesses *g, uint32_t rank);
/* The other way round; SAMPLE_RANK_KNOWN: it is not among those. */
uint32_t sample_guesses_find(const struct sample_guesses *g, uint32_t slot);

/* That was the record; `slot` is that of its task. */
void sample_model_learn(struct sample_model *m, const struct sample_event *ev, uint32_t slot,
			uint32_t next);

static inline uint32_t sample_mark(uint32_t symbol)
{
	return symbol * 0x9e3779b1U;
}

/* A context of two things, for a use. */
static inline uint32_t sample_hash(uint32_t use, uint32_t a, uint32_t b)
{
	return (sample_mark(a + (use << 16)) ^ sample_mark(b + 0x5bd1e995U) >> 7) * 0x85ebca6bU;
}

static inline uint32_t sample_fold(uint64_t v)
{
	return (uint32_t)v ^ (uint32_t)(v >> 32);
}

static inline uint32_t sample_bit_length(uint64_t v)
{
	uint32_t high = (uint32_t)(v >> 32), low = (uint32_t)v;

	if (high)
		return 64 - (uint32_t)__builtin_clz(high);
	return low ? 32 - (uint32_t)__builtin_clz(low) : 0;
}

static inline void sample_guess_learn(struct sample_guess *g, uint32_t slot)
{
	if (g->first == slot) {
		g->sure = (uint16_t)(g->sure + (g->sure < SAMPLE_SURE_MAX));
	} else if (g->sure == 0) {
		g->second = g->first;
		g->first = (uint16_t)slot;
	} else {
		g->sure >>= 1;
		g->second = (uint16_t)slot;
	}
}

static inline void sample_guess(struct sample_model *m, enum sample_class of,
				const struct sample_context *c, struct sample_guesses *g)
{
	const struct sample_guess *a, *b;
	uint32_t i;
	bool end;

	g->guess[0] = &m->narrow[c->hash[0] >> (32 - SAMPLE_NARROW_BITS)];
	g->guess[1] = &m->middle[c->hash[1] >> (32 - SAMPLE_MIDDLE_BITS)];
	g->guess[2] = &m->wide[c->hash[2] >> (32 - SAMPLE_WIDE_BITS)];
	a = g->guess[0];
	b = g->guess[1];
	end = of == SAMPLE_FRAME && a->first == SAMPLE_SLOT_END;
	i = a->sure | (uint32_t)(b->sure >> 1) << 3 | (uint32_t)(a->first == b->first) << 5 |
	    (uint32_t)(a->first == g->guess[2]->first) << 6;
	g->rank = &m->rank[end ? SAMPLE_CLASSES : of][i];
}

static inline void sample_guesses_learn(struct sample_guesses *g, uint32_t slot)
{
	uint32_t i;

	for (i = 0; i < SAMPLE_GUESSES; i++)
		sample_guess_learn(g->guess[i], slot);
}

static inline struct sample_tree *sample_model_tree(struct sample_model *m, enum sample_class of)
{
	return &m->tree[of >= SAMPLE_VALUE];
}

/* A model that was never used starts as what is known of all. */
static inline struct nibble_model *sample_young(struct nibble_model *m,
						const struct nibble_model *all)
{
	if (m->lane[0] == 0) {
		*m = *all;
		if (m->lane[0] > SAMPLE_YOUNG)
			m->lane[0] = SAMPLE_YOUNG;
	}
	return m;
}

/* Of the place in a line. */
static inline struct nibble_model *sample_model_high(struct sample_model *m, uint64_t line)
{
	return sample_young(&m->high[sample_mark(sample_fold(line)) >> (32 - SAMPLE_HIGH_BITS)],
			    &m->all_high);
}

static inline struct nibble_model *sample_model_low(struct sample_model *m, uint64_t line,
						    uint32_t high)
{
	return sample_young(
		&m->low[sample_mark(sample_fold(line << 4 | high)) >> (32 - SAMPLE_LOW_BITS)],
		&m->all_low[high]);
}

/* Whose time it is: of a kind behind another, and where a guest was left, why. */
static inline uint32_t sample_model_time(const struct sample_model *m, uint32_t kind)
{
	uint32_t why = m->kind[0] == SAMPLE_EXIT ? m->value[SAMPLE_EXIT] : 0;

	return sample_mark(kind | (uint32_t)m->kind[0] << 3 | why << 6) >> (32 - SAMPLE_TIME_BITS);
}

static inline struct nibble_model *sample_model_more(struct sample_model *m, uint32_t time,
						     uint32_t size)
{
	return &m->time_more[sample_mark(time << 6 | size) >> (32 - SAMPLE_MORE_BITS)];
}

static inline struct nibble_model *sample_model_kinds(struct sample_model *m)
{
	return &m->kinds[m->kind[1]][m->kind[0]][sample_mark(m->value[SAMPLE_EXIT]) >> 30];
}

static inline void sample_context_set(struct sample_context *c, uint32_t narrow, uint32_t middle,
				      uint32_t wide)
{
	c->hash[0] = narrow;
	c->hash[1] = middle;
	c->hash[2] = wide;
}

/* Where a chain of this task starts: processes of one name are alike, wherever they lie. */
static inline void sample_walk_init(struct sample_walk *w, const struct sample_model *m,
				    uint32_t slot, uint32_t shape)
{
	w->path = sample_hash(SAMPLE_USE_CALLERS, m->task[slot].name, shape);
	w->last = 0;
	w->before = shape;
	w->near = shape & SAMPLE_SHAPE_USER ? m->task[slot].root : m->kernel_root;
}

/* Goes on from what the program called the kernel by. */
static inline void sample_walk_enter(struct sample_walk *w, const struct sample_model *m)
{
	w->near = m->kernel_root;
}

/* Words of callers are differences, which stay when a program is loaded elsewhere. */
static inline void sample_walk_next(struct sample_walk *w, uint32_t slot, uint64_t address)
{
	w->path = (w->path << 5 | w->path >> 27) ^
		  sample_mark(slot | (uint32_t)(address & 0xfff) << 16);
	w->before = w->last;
	w->last = slot | (uint32_t)(address & 0xfff) << 16;
	w->near = address;
}

static inline void sample_walk_context(const struct sample_walk *w, struct sample_context *c)
{
	sample_context_set(c, sample_mark(w->path),
			   sample_hash(SAMPLE_USE_CALLERS, w->last >> 16, w->before >> 16),
			   sample_hash(SAMPLE_USE_CALLERS, w->last >> 16, SAMPLE_SLOTS));
}

/* Is this one's time written as how late it is? */
static inline bool sample_model_is_due(const struct sample_model *m, uint32_t kind)
{
	return kind == SAMPLE_TAKEN && m->due.cost[1] < m->due.cost[0];
}

/* The word of a record that has one, and of what follows from it. */
void sample_model_learn_value(struct sample_model *m, uint32_t kind, uint32_t slot, uint32_t value);
void sample_model_learn_weight(struct sample_model *m, uint64_t weight);

void sample_context_task(const struct sample_model *m, struct sample_context *c);
void sample_context_next(const struct sample_model *m, const struct sample_event *ev, uint32_t slot,
			 struct sample_context *c);
void sample_context_value(const struct sample_model *m, uint32_t kind, uint32_t slot,
			  struct sample_context *c);
void sample_context_detail(uint32_t kind, uint32_t slot, uint32_t value, struct sample_context *c);
/* Of a field of a guest, of which `known` was said before it. */
void sample_context_guest(enum sample_use use, uint32_t slot, uint32_t known, uint32_t mode,
			  struct sample_context *c);
void sample_context_place(const struct sample_model *m, const struct sample_walk *w, uint32_t slot,
			  uint32_t mode, struct sample_context *c);
void sample_context_guest_place(const struct sample_model *m, uint32_t slot, uint32_t mode,
				struct sample_context *c);
/* Where a guest is left depends on why: a halt is in one place, and so are most accesses to a device. */
void sample_context_exit_place(const struct sample_model *m, uint32_t slot, uint32_t mode,
			       struct sample_context *c);

/* After a sample it was, else it depends on why it was left. */
static inline struct bit_model *sample_model_spot_same(struct sample_model *m)
{
	return &m->spot_same[m->kind[0] == SAMPLE_TAKEN
				     ? 0
				     : 4 + (sample_mark(m->value[SAMPLE_EXIT]) >> 30)];
}

/* Was the guest left where it was seen last? It was, when a sample's own interrupt did it. */
bool sample_model_is_spot(const struct sample_model *m, const struct sample_event *ev);
/* The same place again, into the event of an exit. */
void sample_model_get_spot(const struct sample_model *m, struct sample_event *ret);
void sample_model_learn_spot(struct sample_model *m, const struct sample_event *ev);

#endif
