/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sched_model: see sched_model.h. Here is what happens seldom: starting anew, and making room. */
#include "wire/sched_model.h"

/* The states that the current numbering of task states makes common; others take the place of the
 * later ones as they appear. */
static const uint64_t common_states[SCHED_STATES] = { 0x1, 0x0, 0x100, 0x2, 0x80, 0x20, 0x10 };
#define FIRST_STATE_TO_GIVE_UP 3

/* Shares that symbols are given before anything is known: guesses are mostly right, and most events
 * are switches of tasks that go to sleep, and wakeups. */
const struct nibble_model sched_who_prior = { { 0, 32768, 39322, 43254, 51118, 55050, 65376, 65392,
						65408, 65424, 65440, 65456, 65472, 65488, 65504,
						65520 } };
const struct nibble_model sched_op_prior = { { 0, 18000, 26000, 28000, 31000, 33000, 34000, 35000,
					       36000, 54000, 58000, 59000, 60500, 62000, 63500,
					       65000 } };

/* "swapper/<cpu>", the idle task's name on every machine with more than one CPU. */
static void name_idle(char comm[SCHED_COMM_LEN], uint32_t cpu)
{
	static const char name[] = "swapper/";
	char digits[10];
	uint32_t i, n = 0;

	for (i = 0; name[i]; i++)
		comm[i] = name[i];
	do {
		digits[n++] = (char)('0' + cpu % 10);
		cpu /= 10;
	} while (cpu);
	while (n && i < SCHED_COMM_LEN)
		comm[i++] = digits[--n];
}

const struct nibble_model sched_bits_prior = { { 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000,
						 0x8000, 0x8000, 0x8000, 0x8000, 0x8000, 0x8000,
						 0x8000, 0x8000, 0x8000, 0x8000 } };

_Static_assert(sizeof(struct nibble_model) == 32, "a row");
_Static_assert((offsetof(struct sched_model, slot_tree[0].low) - offsetof(struct sched_model, op)) %
				       32 ==
			       0 &&
		       sizeof(struct sched_slot_tree) % 32 == 0,
	       "bits of a slot are whole rows");
_Static_assert(offsetof(struct sched_model, expected) ==
		       offsetof(struct sched_model, time2) +
			       sizeof(((struct sched_model *)0)->time2),
	       "all before them are rows");

void sched_model_restart(struct sched_model *m, uint32_t cpu)
{
	const size_t bits = offsetof(struct sched_model, expected);
	uint32_t i;

	memset(m, 0, offsetof(struct sched_model, slots));
	memset(m->comms, 0, sizeof(m->comms));
	for (i = 0; i < SCHED_PATHS; i++)
		m->paths[i].len = 0; /* and then its text is not looked at */
	bit_models_init((uint8_t *)m + bits, sizeof(*m) - bits);
	for (i = 0; i < SCHED_STATES; i++)
		m->states[i] = common_states[i];
	m->cpu = cpu;
	m->n_slots = 1;
	memset(&m->slots[SCHED_IDLE_SLOT], 0, sizeof(m->slots[0]));
	m->slots[SCHED_IDLE_SLOT].task.prio = 120;
	m->slots[SCHED_IDLE_SLOT].wake_cpu = (int32_t)cpu;
	name_idle(m->slots[SCHED_IDLE_SLOT].task.comm, cpu);
}

/* Of a decoder, which is given whatever somebody has sent, nothing is left as it was. */
void sched_model_init(struct sched_model *m, uint32_t cpu)
{
	uint32_t i;

	memset(m, 0, offsetof(struct sched_model, op));
	nibble_models_init(m->op, sizeof(m->op), &sched_op_prior);
	nibble_models_init(m->who, sizeof(m->who), &sched_who_prior);
	NIBBLE_MODELS_INIT(m->part);
	NIBBLE_MODELS_INIT(m->attr);
	NIBBLE_MODELS_INIT(m->time1);
	NIBBLE_MODELS_INIT(m->time2);
	for (i = 0; i < 2; i++) {
		nibble_model_init(&m->slot_tree[i].high);
		NIBBLE_MODELS_INIT(m->slot_tree[i].middle);
		BIT_MODELS_INIT(m->slot_tree[i].low);
	}
	sched_model_restart(m, cpu);
}

uint32_t sched_model_reuse(struct sched_model *m)
{
	uint32_t slot;

	if (m->n_slots < SCHED_SLOTS) {
		slot = m->n_slots++;
		memset(&m->slots[slot], 0, sizeof(m->slots[slot]));
	} else {
		for (;;) {
			m->hand = (uint16_t)((m->hand + 1) & (SCHED_SLOTS - 1));
			slot = m->hand;
			if (slot == SCHED_IDLE_SLOT || slot == m->cur)
				continue;
			if (!m->slots[slot].used)
				break;
			m->slots[slot].used = 0;
		}
	}
	m->slots[slot].wake_cpu = (int32_t)m->cpu;
	m->slots[slot].used = 0;
	return slot;
}

uint32_t sched_model_add_attr(struct sched_model *m, uint32_t attr)
{
	uint32_t i;

	if (m->n_attrs < SCHED_ATTRS) {
		i = m->n_attrs++;
	} else {
		i = m->attr_hand;
		m->attr_hand = (uint8_t)((m->attr_hand + 1) % SCHED_ATTRS);
	}
	m->attrs[i] = (uint16_t)attr;
	return i;
}

void sched_model_add_comm(struct sched_model *m, const char comm[SCHED_COMM_LEN])
{
	memcpy(m->comms[m->comm_hand], comm, SCHED_COMM_LEN);
	m->comm_hand = (uint8_t)((m->comm_hand + 1) % SCHED_COMMS);
}

void sched_model_add_path(struct sched_model *m, const char *text, uint32_t len)
{
	struct sched_path *p = &m->paths[m->path_hand];

	if (len > SCHED_PATH_LEN)
		return;
	p->len = (uint8_t)len;
	if (len) /* an empty name may be NULL */
		memcpy(p->text, text, len);
	m->path_hand = (uint8_t)((m->path_hand + 1) % SCHED_PATHS);
}

void sched_model_add_state(struct sched_model *m, uint64_t state)
{
	m->states[FIRST_STATE_TO_GIVE_UP + m->state_hand] = state;
	m->state_hand = (uint8_t)((m->state_hand + 1) % (SCHED_STATES - FIRST_STATE_TO_GIVE_UP));
}

void sched_model_exec_comm(struct sched_model *m, const char *path, uint32_t len)
{
	uint32_t start = len;

	while (start && path[start - 1] != '/')
		start--;
	len -= start;
	if (len > SCHED_COMM_LEN - 1)
		len = SCHED_COMM_LEN - 1;
	if (len)
		sched_comm_set(m->slots[m->cur].task.comm, path + start, len);
}
