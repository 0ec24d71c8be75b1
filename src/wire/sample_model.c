/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sample_model: see sample_model.h. */
#include "wire/sample_model.h"

static void init_tree(struct sample_tree *t)
{
	nibble_model_init(&t->high);
	NIBBLE_MODELS_INIT(t->middle);
	NIBBLE_MODELS_INIT(t->low);
}

static void init_number(struct sample_size *s)
{
	nibble_model_init(&s->sign);
	nibble_model_init(&s->high);
	BIT_MODELS_INIT(s->low);
	nibble_model_init(&s->last);
}

void sample_model_init(struct sample_model *m)
{
	memset(m, 0, offsetof(struct sample_model, kinds));
	m->n_tasks = 1;
	m->task[0].task.vcpu = SAMPLE_NO_VCPU;
	m->kind[0] = m->kind[1] = SAMPLE_KINDS;
	NIBBLE_MODELS_INIT(m->kinds);
	NIBBLE_MODELS_INIT(m->rank);
	init_tree(&m->tree[0]);
	MODELS_REPEAT(m->tree);
	nibble_model_init(&m->task_high);
	NIBBLE_MODELS_INIT(m->task_low);
	NIBBLE_MODELS_INIT(m->time);
	NIBBLE_MODELS_INIT(m->time_more);
	NIBBLE_MODELS_INIT(m->high);
	NIBBLE_MODELS_INIT(m->low);
	nibble_model_init(&m->all_high);
	NIBBLE_MODELS_INIT(m->all_low);
	NIBBLE_MODELS_INIT(m->mode);
	NIBBLE_MODELS_INIT(m->exit_mode);
	NIBBLE_MODELS_INIT(m->shape);
	nibble_model_init(&m->weight);
	nibble_model_init(&m->comm_length);
	NIBBLE_MODELS_INIT(m->comm_high);
	NIBBLE_MODELS_INIT(m->comm_low);
	init_number(&m->number[0]);
	MODELS_REPEAT(m->number);
	NIBBLE_MODELS_INIT(m->poll_more);
	NIBBLE_MODELS_INIT(m->late_more);
	BIT_MODELS_INIT(m->time_low);
	BIT_MODELS_INIT(m->time_back);
	BIT_MODELS_INIT(m->is_cur);
	BIT_MODELS_INIT(m->guest_same);
	BIT_MODELS_INIT(m->exit_same);
	BIT_MODELS_INIT(m->spot_same);
	BIT_MODELS_INIT(m->choice);
}

static uint32_t first_way(uint64_t word)
{
	return sample_mark(sample_fold(word)) >> (32 - SAMPLE_SLOT_BITS) & ~(SAMPLE_WAYS - 1);
}

uint32_t sample_model_find(const struct sample_model *m, uint64_t word)
{
	uint32_t i, slot = first_way(word);

	for (i = 0; i < SAMPLE_WAYS; i++, slot++)
		if (m->word[slot] == word && slot != SAMPLE_SLOT_END)
			return slot;
	return 0;
}

uint32_t sample_model_add(struct sample_model *m, uint64_t word)
{
	uint32_t i, first = first_way(word), slot;

	for (i = 0; i < SAMPLE_WAYS; i++)
		if (!m->word[first + i] && first + i != SAMPLE_SLOT_END)
			break;
	slot = first + (i < SAMPLE_WAYS ? i : m->turn++ % SAMPLE_WAYS);
	if (slot == SAMPLE_SLOT_END)
		slot++;
	m->word[slot] = word;
	return slot;
}

uint32_t sample_model_find_task(const struct sample_model *m, const struct sample_task *t)
{
	uint32_t i;

	for (i = 0; i < m->n_tasks; i++)
		if (m->task[i].task.tid == t->tid && sample_task_equal(&m->task[i].task, t))
			return i;
	return SAMPLE_TASKS;
}

static uint32_t reuse(struct sample_model *m)
{
	if (m->n_tasks < SAMPLE_TASKS)
		return m->n_tasks++;
	for (;;) {
		m->hand = (uint16_t)((m->hand + 1) % SAMPLE_TASKS);
		if (m->hand != m->cur && !m->task[m->hand].used)
			return m->hand;
		m->task[m->hand].used = 0;
	}
}

uint32_t sample_model_add_task(struct sample_model *m, int32_t tid)
{
	uint32_t slot;

	for (slot = 0; slot < m->n_tasks; slot++)
		if (m->task[slot].task.tid == tid)
			return slot;
	slot = reuse(m);
	memset(&m->task[slot], 0, sizeof(m->task[slot]));
	m->task[slot].task.tid = tid;
	m->task[slot].task.pid = tid;
	m->task[slot].task.vcpu = SAMPLE_NO_VCPU;
	return slot;
}

const char *sample_model_comm(const struct sample_model *m, uint32_t slot)
{
	const struct sample_task *t = &m->task[slot].task;
	uint32_t i;

	if (t->comm[0])
		return t->comm;
	for (i = 0; i < m->n_tasks; i++)
		if (i != slot && m->task[i].task.pid == t->pid)
			return m->task[i].task.comm;
	return m->task[m->cur].task.comm;
}

void sample_model_name_task(struct sample_model *m, uint32_t slot)
{
	struct sample_slot *s = &m->task[slot];
	uint32_t i;

	s->name = 0;
	for (i = 0; i < SCHED_COMM_LEN; i++)
		s->name = sample_mark(s->name + (uint8_t)s->task.comm[i]);
	for (i = 0; i < m->n_tasks && !s->root; i++)
		if (m->task[i].task.pid == s->task.pid)
			s->root = m->task[i].root;
}

static uint32_t candidate(const struct sample_guesses *g, uint32_t i)
{
	return i < SAMPLE_GUESSES ? g->guess[i]->first : g->guess[i - SAMPLE_GUESSES]->second;
}

/* Is it none that an earlier one was? */
static bool is_other(const struct sample_guesses *g, uint32_t i)
{
	uint32_t slot = candidate(g, i);

	while (i--)
		if (candidate(g, i) == slot)
			return false;
	return true;
}

uint32_t sample_guesses_get(const struct sample_guesses *g, uint32_t rank)
{
	uint32_t i;

	for (i = 0; i < SAMPLE_RANKS; i++)
		if ((!i || is_other(g, i)) && !rank--)
			return candidate(g, i);
	return SAMPLE_SLOTS;
}

uint32_t sample_guesses_find(const struct sample_guesses *g, uint32_t slot)
{
	uint32_t i, rank = 0;

	for (i = 0; i < SAMPLE_RANKS && candidate(g, i) != slot; i++)
		;
	if (i == SAMPLE_RANKS)
		return SAMPLE_RANK_KNOWN;
	while (i--)
		rank += !i || is_other(g, i);
	return rank;
}

static void learn_due(struct sample_model *m, uint64_t tick)
{
	struct sample_due *d = &m->due;
	uint64_t late = tick - d->tick, off = late >> 63 ? 0 - late : late;

	d->cost[0] += sample_bit_length(tick - m->tick) - (d->cost[0] >> 4);
	d->cost[1] += sample_bit_length(off) + 1 - (d->cost[1] >> 4);
	if (off <= d->period >> 2) {
		d->tick += late >> 63 ? 0 - (off >> 2) : off >> 2;
		d->period += late >> 63 ? 0 - (off >> 6) : off >> 6;
		d->apart = false;
	} else {
		if (d->apart)
			d->period = tick - d->last;
		d->apart = !d->apart;
		d->tick = tick;
	}
	d->tick += d->period;
	d->last = tick;
}

void sample_model_learn(struct sample_model *m, const struct sample_event *ev, uint32_t slot,
			uint32_t next)
{
	m->task[slot].used = 1;
	m->cur = (uint16_t)slot;
	if (ev->kind == SAMPLE_TAKEN) {
		m->task[slot].mode = (uint8_t)(ev->mode & 7);
		learn_due(m, ev->tick);
	}
	if (sample_shapes[ev->kind].has_next) {
		m->task[next].used = 1;
		m->last_next = (uint16_t)next;
	}
	if (ev->kind == SAMPLE_SWITCH)
		m->cur = (uint16_t)next;
	m->tick = ev->tick;
	m->kind[1] = m->kind[0];
	m->kind[0] = ev->kind;
}

void sample_model_learn_value(struct sample_model *m, uint32_t kind, uint32_t slot, uint32_t value)
{
	struct sample_slot *s = &m->task[slot];

	m->value[kind] = (uint16_t)value;
	if (kind != SAMPLE_EXIT)
		return;
	s->before = s->reason;
	s->reason = (uint16_t)value;
}

/* The last weight comes to the front, one that is new takes the place of the last but two. */
void sample_model_learn_weight(struct sample_model *m, uint64_t weight)
{
	uint32_t i;

	for (i = 0; i < SAMPLE_WEIGHTS - 1 && m->weights[i] != weight; i++)
		;
	for (; i; i--)
		m->weights[i] = m->weights[i - 1];
	m->weights[0] = weight;
}

void sample_context_task(const struct sample_model *m, struct sample_context *c)
{
	sample_context_set(c, sample_hash(SAMPLE_USE_TASK, m->cur, m->kind[0]),
			   sample_hash(SAMPLE_USE_TASK, m->cur, 15),
			   sample_hash(SAMPLE_USE_TASK, 0, 16));
}

void sample_context_next(const struct sample_model *m, const struct sample_event *ev, uint32_t slot,
			 struct sample_context *c)
{
	uint32_t use = SAMPLE_USE_NEXT | (uint32_t)ev->kind << 8;

	sample_context_set(c, sample_hash(use, slot, m->last_next << 4 | (ev->value & 15)),
			   sample_hash(use, slot, SAMPLE_SLOTS),
			   sample_hash(use, m->last_next, SAMPLE_SLOTS + 1));
}

void sample_context_value(const struct sample_model *m, uint32_t kind, uint32_t slot,
			  struct sample_context *c)
{
	const struct sample_slot *s = &m->task[slot];

	sample_context_set(c,
			   sample_hash(SAMPLE_USE_VALUE + kind, slot,
				       s->reason | (uint32_t)s->before << 13),
			   sample_hash(SAMPLE_USE_VALUE + kind, m->value[kind], s->reason),
			   sample_hash(SAMPLE_USE_VALUE + kind, slot, SAMPLE_SLOTS));
}

void sample_context_detail(uint32_t kind, uint32_t slot, uint32_t value, struct sample_context *c)
{
	sample_context_set(c, sample_hash(SAMPLE_USE_DETAIL + kind, value, slot),
			   sample_hash(SAMPLE_USE_DETAIL + kind, value, SAMPLE_TASKS),
			   sample_hash(SAMPLE_USE_DETAIL + kind, slot, SAMPLE_SLOTS));
}

void sample_context_guest(enum sample_use use, uint32_t slot, uint32_t known, uint32_t mode,
			  struct sample_context *c)
{
	sample_context_set(c, sample_hash(use, slot << 8 | mode, known),
			   sample_hash(use, slot, SAMPLE_SLOTS),
			   sample_hash(use, known, SAMPLE_SLOTS + 1));
}

void sample_context_place(const struct sample_model *m, const struct sample_walk *w, uint32_t slot,
			  uint32_t mode, struct sample_context *c)
{
	sample_context_set(c, sample_hash(SAMPLE_USE_PLACE, w->path, mode),
			   sample_hash(SAMPLE_USE_PLACE, w->last, mode + 256),
			   sample_hash(SAMPLE_USE_PLACE, m->task[slot].place, mode + 512));
}

void sample_context_guest_place(const struct sample_model *m, uint32_t slot, uint32_t mode,
				struct sample_context *c)
{
	const struct sample_slot *s = &m->task[slot];

	sample_context_set(c,
			   sample_hash(SAMPLE_USE_GUEST_PLACE, s->guest_place,
				       mode | s->table << 8),
			   sample_hash(SAMPLE_USE_GUEST_PLACE, s->table, mode | 1U << 20),
			   sample_hash(SAMPLE_USE_GUEST_PLACE, slot, mode | 1U << 21));
}

void sample_context_exit_place(const struct sample_model *m, uint32_t slot, uint32_t mode,
			       struct sample_context *c)
{
	const struct sample_slot *s = &m->task[slot];

	sample_context_set(c,
			   sample_hash(SAMPLE_USE_EXIT_PLACE, s->reason | (uint32_t)s->before << 13,
				       mode | s->table << 8),
			   sample_hash(SAMPLE_USE_EXIT_PLACE, s->reason, s->table | 1U << 20),
			   sample_hash(SAMPLE_USE_EXIT_PLACE, s->reason, mode | 1U << 21));
}

#define SPOT_FIELDS                                                                                \
	(SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE | SAMPLE_GUEST_CONTEXT | SAMPLE_GUEST_TASK)

bool sample_model_is_spot(const struct sample_model *m, const struct sample_event *ev)
{
	const struct sample_spot *p = &m->spot;

	return ev->mode == p->mode && ev->guest == p->guest &&
	       (!(p->guest & SAMPLE_GUEST_PC) || ev->guest_pc == p->pc) &&
	       (!(p->guest & SAMPLE_GUEST_TABLE) || ev->guest_table == p->table) &&
	       (!(p->guest & SAMPLE_GUEST_CONTEXT) || ev->guest_context == p->context) &&
	       (!(p->guest & SAMPLE_GUEST_TASK) || ev->guest_task == p->task);
}

void sample_model_get_spot(const struct sample_model *m, struct sample_event *ret)
{
	ret->mode = m->spot.mode;
	ret->guest = m->spot.guest;
	ret->guest_pc = m->spot.pc;
	ret->guest_table = m->spot.table;
	ret->guest_context = m->spot.context;
	ret->guest_task = m->spot.task;
}

void sample_model_learn_spot(struct sample_model *m, const struct sample_event *ev)
{
	uint32_t known = ev->guest & SPOT_FIELDS;
	struct sample_spot *p = &m->spot;

	p->mode = ev->mode;
	p->guest = (uint8_t)known;
	p->pc = known & SAMPLE_GUEST_PC ? ev->guest_pc : 0;
	p->table = known & SAMPLE_GUEST_TABLE ? ev->guest_table : 0;
	p->context = known & SAMPLE_GUEST_CONTEXT ? ev->guest_context : 0;
	p->task = known & SAMPLE_GUEST_TASK ? ev->guest_task : 0;
}
