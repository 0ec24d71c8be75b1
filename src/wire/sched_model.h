/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched_model: what the encoder and the decoder of codec `sched` both know about a CPU's events
 * so far, and hence expect of the next one (docs/format/sched.md, sections 3 to 5).
 *
 * Both sides hold one sched_model per stream, look at it in the same way to choose a context, and
 * change it in the same way after each event; so everything here is deterministic integer
 * arithmetic on what has been coded. Its size is fixed, it holds no pointer, and sched_model_init()
 * makes it new: that is what a keyframe is.
 *
 * The structure it models: the task that runs is the last one switched to; who is woken, and who
 * runs next, follows from who runs and what happened just before; a task's name and priority are
 * said once; the time to the next event follows from the kinds of the two.
 */
#ifndef KISEKI_WIRE_SCHED_MODEL_H
#define KISEKI_WIRE_SCHED_MODEL_H

#include "wire/model.h"
#include "wire/sched_event.h"

#define SCHED_SLOT_BITS 10
#define SCHED_SLOTS (1U << SCHED_SLOT_BITS) /* tasks known at a time */
#define SCHED_IDLE_SLOT 0U		    /* the slot of pid 0; never given to another */
#define SCHED_NO_SLOT 0xffffU
#define SCHED_GUESS_BITS 10
#define SCHED_STATES 7	  /* task states with an op of their own */
#define SCHED_ATTRS 15	  /* pairs of flags and preempt count known at a time */
#define SCHED_COMMS 64	  /* recent names of new and renamed tasks */
#define SCHED_PATHS 32	  /* recent names of executed files … */
#define SCHED_PATH_LEN 94 /* … of at most this length */
#define SCHED_CANDIDATES 3
#define SCHED_WHO_CONTEXTS 128

/* The first symbol of an event: its kind, and for a switch the common states apart. */
enum sched_op {
	OP_SWITCH = 0,	     /* … + index into states[] */
	OP_SWITCH_OTHER = 7, /* a state that is not in states[] */
	OP_WAKING = 8,
	OP_WAKEUP = 9,
	OP_WAKEUP_NEW = 10,
	OP_FORK = 11,
	OP_EXEC = 12,
	OP_EXIT = 13,
	OP_RARE = 14,	/* RENAME or SETPRIO: a bit follows */
	OP_ESCAPE = 15, /* the time, or all of the event, is written plainly */
};

/* What is not as expected, when something is not: a nibble of these. */
enum sched_part {
	PART_CUR = 1,	/* another task runs than the chain of switches says */
	PART_ATTR = 2,	/* flags or preempt count */
	PART_INFO = 4,	/* name or priority of the running or of the other task */
	PART_VALUE = 8, /* target CPU, success */
};

/* For what a task is looked up: each has its own statistics. The third and fourth are the first
 * two in an event of which something was not as expected. */
enum sched_role {
	ROLE_NEXT = 0,
	ROLE_WAKEE = 1,
	ROLE_ODD_NEXT = 2,
	ROLE_ODD_WAKEE = 3,
	ROLE_CUR = 4,
	ROLES = 5,
};

/* Which task it is: the second symbol of a switch or wakeup. */
enum sched_who {
	WHO_GUESS = 0, /* … + which of the three guesses */
	WHO_KNOWN = 3, /* another one, its slot follows */
	WHO_NEW = 4,   /* one not spoken of yet */
	WHO_ODD = 5,   /* first see what in this event is not as expected */
};

/* Plain numbers by use: each has its own statistics of sizes. */
enum sched_number {
	NUMBER_PID = 0,
	NUMBER_CLASS = 1,
	NUMBER_PRIO = 2,
	NUMBER_STATE = 3,
	NUMBER_LENGTH = 4,
	NUMBER_CPU = 5,
	NUMBER_VALUE = 6,
	NUMBER_TIME = 7,
	NUMBER_OFFSET = 8,
	NUMBERS = 9,
};

/* Yes-or-no questions off the main path. */
enum sched_choice {
	CHOICE_COMM_OF_CUR = 0,
	CHOICE_COMM_KNOWN = 1,
	CHOICE_INFO_CUR = 2,
	CHOICE_INFO_OTHER = 3,
	CHOICE_COMM_SAME = 4,
	CHOICE_CHILD_KNOWN = 5,
	CHOICE_PATH_KNOWN = 6,
	CHOICE_GROUP_DEAD = 7,
	CHOICE_SETPRIO = 8,
	CHOICE_TASK_IS_CUR = 9,
	CHOICE_OLD_COMM = 10,
	CHOICE_OLD_PRIO = 11,
	CHOICE_PLAIN = 12,
	CHOICE_CPU_SAME = 13,
	CHOICES = 14,
};

/* A task the stream has spoken of. */
struct sched_slot {
	struct sched_task task;
	int32_t wake_cpu; /* where it was last woken to */
	uint8_t used;	  /* since the hand last came by: a second chance */
};

/* Who comes next in some context: the best guess, how sure it is (0 … 7), and the runner-up. */
struct sched_guess {
	uint16_t first, second;
	uint16_t sure;
};

/* How often each slot is meant: two nibbles and two bits, each in the context of those before. */
struct sched_slot_tree {
	struct nibble_model high;
	struct nibble_model middle[16];
	struct bit_model low[256][4];
};

struct sched_path {
	uint8_t len;
	char text[SCHED_PATH_LEN + 1];
};

struct sched_model {
	uint64_t last_tick;
	uint64_t states[SCHED_STATES];
	uint32_t cpu;
	uint32_t n_slots;
	int32_t last_new_pid;
	int32_t last_oom;
	uint16_t cur;	  /* slot of the task that should be running */
	uint16_t pending; /* last task woken to this CPU that has not run since, or IDLE */
	uint16_t last_wakee;
	uint16_t hand;	  /* where the search for a slot to reuse goes on */
	uint8_t op1, op2; /* the last two ops */
	uint8_t missed;	  /* was something in the last event not as expected? */
	uint8_t state_hand, attr_hand, n_attrs, comm_hand, path_hand;
	uint8_t success;	      /* of the last wakeup */
	uint8_t attr_usual[16][2][2]; /* index of attr by op, idle, last op a waking */
	uint16_t attrs[SCHED_ATTRS + 1];
	struct sched_slot slots[SCHED_SLOTS];
	struct sched_guess next[1U << SCHED_GUESS_BITS]; /* by running task, op, pending */
	struct sched_guess
		wakee[1U << SCHED_GUESS_BITS]; /* by running task, attr, last wakee, op */
	char comms[SCHED_COMMS][SCHED_COMM_LEN];
	struct sched_path paths[SCHED_PATHS];

	/* Everything from here on is probabilities, first those of nibbles in rows of 32 bytes. */
	struct nibble_model op[2][16][16]; /* idle, op2, op1 */
	struct nibble_model who[ROLES][SCHED_WHO_CONTEXTS];
	struct sched_slot_tree slot_tree[2];  /* running or next, woken */
	struct nibble_model part[16][2];      /* op, idle */
	struct nibble_model attr[16];	      /* op */
	struct nibble_model time1[2][16][16]; /* idle, op1, op */
	struct nibble_model time2[4][16][16]; /* group of op1, first symbol, op */
	struct bit_model expected[16];	      /* op, of the rare kinds */
	struct bit_model comm_tree[SCHED_COMMS];
	struct bit_model comm_byte[256];
	struct bit_model path_tree[SCHED_PATHS];
	struct bit_model path_byte[256];
	struct bit_model number[NUMBERS][64];
	struct bit_model choice[CHOICES];
};

/* Whom to expect in a role: up to three slots to try in order, and the context to try them in. */
struct sched_guesses {
	struct sched_guess *guess;
	uint16_t slot[SCHED_CANDIDATES];
	uint32_t context;
};

void sched_model_init(struct sched_model *m, uint32_t cpu);

/*
 * To make all of it new takes 150 KB of stores, too much at once for an encoder inside of a probe. It
 * makes new what it comes to: sched_model_restart() does all but the tasks, which
 * sched_model_reuse() makes new one by one, the rows of probabilities, and the guesses, in groups.
 * The encoder remembers which rows and groups it has made new.
 */
#define SCHED_ROWS                                                                                 \
	((uint32_t)((offsetof(struct sched_model, expected) - offsetof(struct sched_model, op)) /  \
		    32))
#define SCHED_GUESS_GROUP_BITS 4
#define SCHED_GUESS_GROUPS (1U << (SCHED_GUESS_BITS - SCHED_GUESS_GROUP_BITS))

void sched_model_restart(struct sched_model *m, uint32_t cpu);

/* What rows of op[], of who[], and of bits start as; all others as nibble_model_flat. */
extern const struct nibble_model sched_op_prior, sched_who_prior, sched_bits_prior;

static inline uint32_t sched_model_row(const struct sched_model *m, const void *model)
{
	return (uint32_t)((const uint8_t *)model - (const uint8_t *)m->op) >> 5;
}

/* A slot for a task not known yet; another task may lose it. The caller fills it. */
uint32_t sched_model_reuse(struct sched_model *m);

/* Takes a new pair of flags and preempt count into attrs[]; returns its index. */
uint32_t sched_model_add_attr(struct sched_model *m, uint32_t attr);
void sched_model_add_comm(struct sched_model *m, const char comm[SCHED_COMM_LEN]);
void sched_model_add_path(struct sched_model *m, const char *text, uint32_t len);
void sched_model_add_state(struct sched_model *m, uint64_t state);

/* What an executed file makes of its task's name. */
void sched_model_exec_comm(struct sched_model *m, const char *path, uint32_t len);

/* The last op as far as it tells how long the next event takes: 0 a switch of a task that could run
 * on or waits, 1 one into sleep, 2 a wakeup of any kind, 3 all else. Two bits for each op. */
static inline uint32_t sched_op_group(uint32_t op)
{
	return 0xffea0001U >> (2 * op) & 3;
}

static inline bool sched_op_is_switch(uint32_t op)
{
	return op <= OP_SWITCH_OTHER;
}

static inline bool sched_op_is_wake(uint32_t op)
{
	return op >= OP_WAKING && op <= OP_WAKEUP_NEW;
}

/* Where the usual attr for this op is remembered; `idle`: is the task that really runs pid 0? */
static inline uint8_t *sched_attr_usual(struct sched_model *m, uint32_t op, bool idle)
{
	return &m->attr_usual[op][idle][m->op1 == OP_WAKING];
}

static inline uint32_t sched_guess_hash(uint32_t a, uint32_t b)
{
	return (a * 0x9e3779b1U + b * 0x85ebca6bU) >> (32 - SCHED_GUESS_BITS);
}

static inline void sched_guess_learn(struct sched_guess *g, uint32_t slot)
{
	if (g->first == slot) {
		g->sure = (uint16_t)(g->sure + (g->sure < 7));
	} else if (g->sure == 0) {
		g->second = g->first;
		g->first = (uint16_t)slot;
		g->sure = 1;
	} else {
		g->sure >>= 1;
		g->second = (uint16_t)slot;
	}
}

/* The guesses in their order, and how far they can be trusted. */
static inline void sched_guesses_set(struct sched_guesses *g, const struct sched_model *m,
				     uint32_t second, uint32_t third, bool other)
{
	uint32_t first = g->guess->first;

	g->slot[0] = (uint16_t)first;
	g->slot[1] = (uint16_t)second;
	g->slot[2] = (uint16_t)third;
	g->context = g->guess->sure | (uint32_t)(first == second) << 3 | (uint32_t)other << 4 |
		     (uint32_t)(m->cur == SCHED_IDLE_SLOT) << 5 | (uint32_t)m->missed << 6;
}

/* Which of next[], and of wakee[], to look at. */
static inline uint32_t sched_guess_next_at(const struct sched_model *m, uint32_t op)
{
	return sched_guess_hash(m->cur | op << SCHED_SLOT_BITS, m->pending);
}

static inline uint32_t sched_guess_wakee_at(const struct sched_model *m, uint32_t op,
					    uint32_t attr_index)
{
	return sched_guess_hash(m->cur | attr_index << SCHED_SLOT_BITS,
				m->last_wakee | op << SCHED_SLOT_BITS);
}

static inline uint32_t sched_guess_cur_at(const struct sched_model *m)
{
	return sched_guess_hash(m->cur | OP_ESCAPE << SCHED_SLOT_BITS, 0);
}

static inline void sched_guess_next(struct sched_model *m, uint32_t at, struct sched_guesses *g)
{
	g->guess = &m->next[at];
	IN_REGISTER(g->guess);
	sched_guesses_set(g, m, m->pending, g->guess->second, m->pending != SCHED_IDLE_SLOT);
}

static inline void sched_guess_wakee(struct sched_model *m, uint32_t op, uint32_t at,
				     struct sched_guesses *g)
{
	g->guess = &m->wakee[at];
	IN_REGISTER(g->guess);
	sched_guesses_set(g, m, op == OP_WAKEUP ? m->last_wakee : g->guess->second, m->pending,
			  op != OP_WAKING);
}

/* Who really runs, when it is not the last task switched to: learned in the place of an op that no
 * switch has. */
static inline void sched_guess_cur(struct sched_model *m, uint32_t at, struct sched_guesses *g)
{
	g->guess = &m->next[at];
	sched_guesses_set(g, m, m->pending, g->guess->second, false);
}

static inline void sched_guesses_learn(struct sched_model *m, struct sched_guesses *g,
				       uint32_t slot)
{
	m->slots[slot].used = 1;
	sched_guess_learn(g->guess, slot);
}

static inline struct sched_slot_tree *sched_slot_tree(struct sched_model *m, enum sched_role role)
{
	return &m->slot_tree[role == ROLE_WAKEE || role == ROLE_ODD_WAKEE];
}

/* The task that runs is this one: after a switch, or because the event says so. */
static inline void sched_model_run(struct sched_model *m, uint32_t slot)
{
	m->cur = (uint16_t)slot;
	if (m->pending == slot)
		m->pending = SCHED_IDLE_SLOT;
}

static inline void sched_model_wake(struct sched_model *m, uint32_t slot, int32_t target_cpu)
{
	m->last_wakee = (uint16_t)slot;
	m->slots[slot].wake_cpu = target_cpu;
	if ((uint32_t)target_cpu == m->cpu)
		m->pending = (uint16_t)slot;
}

static inline void sched_model_done(struct sched_model *m, uint32_t op)
{
	m->op2 = m->op1;
	m->op1 = (uint8_t)op;
}

/* The size of a number in bits, 0 for 0. */
static inline uint32_t sched_bit_length(uint64_t v)
{
	return v ? 64 - (uint32_t)__builtin_clzll(v) : 0;
}

static inline uint64_t sched_zigzag(int64_t v)
{
	return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}

static inline int64_t sched_unzigzag(uint64_t v)
{
	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

#endif
