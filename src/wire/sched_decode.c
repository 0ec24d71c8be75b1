/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched_decode: see sched_decode.h. It mirrors sched_encode.c function by function: get_x() reads
 * what put_x() wrote and changes the model in the same way.
 *
 * A payload that no encoder made leads to slots that were never given and lengths beyond their
 * maximum; those set `corrupt`. Everything else it can say is some event, and reading is bounded,
 * so there is no input that does harm.
 */
#include "wire/sched_decode.h"

static inline uint32_t get_choice(struct sched_decoder *d, enum sched_choice c)
{
	return range_decode_bit(&d->rc, &d->model.choice[c]);
}

/* bits: one at least. */
static inline uint64_t get_raw(struct sched_decoder *d, uint32_t bits)
{
	uint64_t v = 0;

	while (bits > 16) {
		bits -= 16;
		v = v << 16 | range_decode_raw(&d->rc, 16);
	}
	return v << bits | range_decode_raw(&d->rc, bits);
}

static uint32_t get_tree(struct sched_decoder *d, struct bit_model *tree, uint32_t bits)
{
	uint32_t node = 1, n;

	for (n = 0; n < bits; n++)
		node = node << 1 | range_decode_bit(&d->rc, &tree[node]);
	return node - (1U << bits);
}

static uint64_t get_number(struct sched_decoder *d, enum sched_number use)
{
	uint32_t bits = 0;

	while (bits < 64 && range_decode_bit(&d->rc, &d->model.number[use][bits]))
		bits++;
	if (bits < 2)
		return bits;
	return 1ULL << (bits - 1) | get_raw(d, bits - 1);
}

static int64_t get_signed(struct sched_decoder *d, enum sched_number use)
{
	return sched_unzigzag(get_number(d, use));
}

/* Sums of what was read wrap instead of overflowing: only corrupt input can make them. */
static inline int32_t add_signed(int32_t base, int64_t delta)
{
	return (int32_t)(uint32_t)((uint64_t)(int64_t)base + (uint64_t)delta);
}

static void get_comm(struct sched_decoder *d, char comm[SCHED_COMM_LEN])
{
	struct sched_model *m = &d->model;
	char literal[SCHED_COMM_LEN];
	uint32_t i;

	if (get_choice(d, CHOICE_COMM_OF_CUR)) {
		memmove(comm, m->slots[m->cur].task.comm, SCHED_COMM_LEN);
		return;
	}
	if (get_choice(d, CHOICE_COMM_KNOWN)) {
		memcpy(comm, m->comms[get_tree(d, m->comm_tree, 6)], SCHED_COMM_LEN);
		return;
	}
	memset(literal, 0, sizeof(literal));
	for (i = 0; i < SCHED_COMM_LEN; i++) {
		literal[i] = (char)get_tree(d, m->comm_byte, 8);
		if (!literal[i])
			break;
	}
	memcpy(comm, literal, SCHED_COMM_LEN);
	sched_model_add_comm(m, comm);
}

static uint32_t get_new_task(struct sched_decoder *d)
{
	struct sched_model *m = &d->model;
	char comm[SCHED_COMM_LEN];
	uint32_t slot;
	int32_t prio;

	m->last_new_pid = add_signed(m->last_new_pid, get_signed(d, NUMBER_PID));
	get_comm(d, comm);
	prio = add_signed(m->slots[m->cur].task.prio, get_signed(d, NUMBER_PRIO));
	slot = sched_model_reuse(m);
	m->slots[slot].task.pid = m->last_new_pid;
	m->slots[slot].task.prio = prio;
	memcpy(m->slots[slot].task.comm, comm, SCHED_COMM_LEN);
	return slot;
}

static uint32_t get_known_slot(struct sched_decoder *d, enum sched_role role)
{
	struct sched_slot_tree *tree = sched_slot_tree(&d->model, role);
	uint32_t slot, bit;

	slot = range_decode_nibble(&d->rc, &tree->high);
	slot = slot << 4 | range_decode_nibble(&d->rc, &tree->middle[slot]);
	bit = range_decode_bit(&d->rc, &tree->low[slot][1]);
	slot = slot << 2 | bit << 1 | range_decode_bit(&d->rc, &tree->low[slot][2 + bit]);
	if (slot >= d->model.n_slots) {
		d->corrupt = true;
		slot = SCHED_IDLE_SLOT;
	}
	return slot;
}

/* The slot that `who` means, WHO_ODD being dealt with. */
static NOINLINE uint32_t get_slot(struct sched_decoder *d, enum sched_role role,
				  struct sched_guesses *g, uint32_t who)
{
	uint32_t slot;

	if (who < WHO_KNOWN)
		slot = g->slot[who];
	else if (who == WHO_KNOWN)
		slot = get_known_slot(d, role);
	else
		slot = get_new_task(d);
	if (who > WHO_NEW)
		d->corrupt = true;
	sched_guesses_learn(&d->model, g, slot);
	return slot;
}

static uint32_t get_task(struct sched_decoder *d, enum sched_role role, struct sched_guesses *g)
{
	uint32_t who = range_decode_nibble(&d->rc, &d->model.who[role][g->context]);

	return get_slot(d, role, g, who);
}

static void get_info(struct sched_decoder *d, uint32_t slot)
{
	struct sched_slot *s = &d->model.slots[slot];

	if (!get_choice(d, CHOICE_COMM_SAME))
		get_comm(d, s->task.comm);
	s->task.prio = add_signed(s->task.prio, get_signed(d, NUMBER_PRIO));
}

/* The rare long times; the class has been read as 15. */
static NOINLINE uint64_t get_long_time(struct sched_decoder *d)
{
	uint64_t class = get_number(d, NUMBER_CLASS);
	uint32_t bits;

	if (class > 34) {
		d->corrupt = true;
		return 0;
	}
	bits = 30 + (uint32_t) class;
	return 1ULL << (bits - 1) | get_raw(d, bits - 1);
}

static ALWAYS_INLINE uint64_t get_time(struct sched_decoder *d, struct range_decoder *r,
				       uint32_t op)
{
	struct sched_model *m = &d->model;
	uint32_t half, top, bits, low;
	uint64_t dt;

	half = range_decode_nibble(r, &m->time1[m->cur == SCHED_IDLE_SLOT][m->op1][op]);
	if (half == 15) {
		d->rc = *r;
		dt = get_long_time(d);
		*r = d->rc;
		return dt;
	}
	top = range_decode_nibble(r, &m->time2[sched_op_group(m->op1)][half][op]);
	bits = half << 1 | top >> 3;
	dt = 8 | (top & 7);
	if (bits <= 4)
		return bits ? dt >> (4 - bits) : 0;
	low = bits - 4;
	if (low > 16) {
		low -= 16;
		dt = dt << 16 | range_decode_raw(r, 16);
	}
	return dt << low | range_decode_raw(r, low);
}

static void get_attr(struct sched_decoder *d, uint32_t op)
{
	struct sched_model *m = &d->model;
	uint32_t i = range_decode_nibble(&d->rc, &m->attr[op]);

	if (i == SCHED_ATTRS)
		i = sched_model_add_attr(m, (uint32_t)get_raw(d, 16));
	else if (i >= m->n_attrs)
		d->corrupt = true;
	*sched_attr_usual(m, op, m->cur == SCHED_IDLE_SLOT) = (uint8_t)i;
}

/* Returns the parts. */
static uint32_t get_cur_parts(struct sched_decoder *d, uint32_t op)
{
	struct sched_model *m = &d->model;
	uint32_t parts = range_decode_nibble(&d->rc, &m->part[op][m->cur == SCHED_IDLE_SLOT]);
	struct sched_guesses g;

	if (parts & PART_CUR) {
		sched_guess_cur(m, sched_guess_cur_at(m), &g);
		sched_model_run(m, get_task(d, ROLE_CUR, &g));
	}
	if (parts & PART_ATTR)
		get_attr(d, op);
	if (!(parts & PART_INFO))
		return parts;
	if (op == OP_FORK) {
		if (get_choice(d, CHOICE_INFO_CUR))
			get_comm(d, m->slots[m->cur].task.comm);
	} else if (sched_op_is_switch(op) || op == OP_EXIT) {
		if (get_choice(d, CHOICE_INFO_CUR))
			get_info(d, m->cur);
	}
	return parts;
}

/* The target CPU goes to the woken task's slot, where the event takes it from. */
static void get_other_parts(struct sched_decoder *d, uint32_t parts, uint32_t slot)
{
	struct sched_model *m = &d->model;

	if ((parts & PART_INFO) && get_choice(d, CHOICE_INFO_OTHER))
		get_info(d, slot);
	if (parts & PART_VALUE) {
		if (!get_choice(d, CHOICE_CPU_SAME))
			m->slots[slot].wake_cpu =
				add_signed((int32_t)m->cpu, get_signed(d, NUMBER_CPU));
		m->success ^= (uint8_t)get_number(d, NUMBER_VALUE);
	}
}

static NOINLINE uint32_t get_odd(struct sched_decoder *d, struct sched_event *ev, uint32_t op)
{
	struct sched_model *m = &d->model;
	uint32_t parts = get_cur_parts(d, op), slot;
	struct sched_guesses g;

	if (sched_op_is_switch(op)) {
		ev->task = m->slots[m->cur].task; /* before `other`, which may be the same task */
		sched_guess_next(m, sched_guess_next_at(m, op), &g);
		slot = get_task(d, ROLE_ODD_NEXT, &g);
	} else {
		sched_guess_wakee(
			m, op,
			sched_guess_wakee_at(m, op,
					     *sched_attr_usual(m, op, m->cur == SCHED_IDLE_SLOT)),
			&g);
		slot = get_task(d, ROLE_ODD_WAKEE, &g);
	}
	get_other_parts(d, parts, slot);
	return slot;
}

static void set_attr(const struct sched_decoder *d, struct sched_event *ev, uint32_t attr_index)
{
	uint32_t attr = d->model.attrs[attr_index];

	ev->flags = (uint8_t)(attr >> 8);
	ev->preempt_count = (uint8_t)attr;
}

static ALWAYS_INLINE void get_common(struct sched_decoder *d, struct range_decoder *r,
				     struct sched_event *ev, uint32_t op, bool is_switch)
{
	struct sched_model *m = &d->model;
	enum sched_role role = is_switch ? ROLE_NEXT : ROLE_WAKEE;
	uint32_t attr_index = *sched_attr_usual(m, op, m->cur == SCHED_IDLE_SLOT), who, slot;
	struct sched_guesses g;

	if (is_switch)
		sched_guess_next(m, sched_guess_next_at(m, op), &g);
	else
		sched_guess_wakee(m, op, sched_guess_wakee_at(m, op, attr_index), &g);
	who = range_decode_nibble(r, &m->who[role][g.context]);
	if (is_switch)
		ev->task = m->slots[m->cur].task;
	if (who < WHO_KNOWN) {
		slot = g.slot[who];
		sched_guesses_learn(m, &g, slot);
	} else {
		d->rc = *r;
		slot = who == WHO_ODD ? get_odd(d, ev, op) : get_slot(d, role, &g, who);
		*r = d->rc;
	}
	m->missed = who == WHO_ODD;
	set_attr(d, ev, *sched_attr_usual(m, op, m->cur == SCHED_IDLE_SLOT));
	ev->pid = m->slots[m->cur].task.pid;
	m->last_tick += get_time(d, r, op);
	if (is_switch) {
		ev->other = m->slots[slot].task;
		sched_model_run(m, slot);
	} else {
		ev->task = m->slots[slot].task;
		ev->value = m->slots[slot].wake_cpu;
		ev->extra = m->success;
		sched_model_wake(m, slot, ev->value);
	}
}

static void get_fork(struct sched_decoder *d, struct sched_event *ev)
{
	struct sched_model *m = &d->model;
	uint32_t slot;

	ev->task.pid = ev->pid;
	memcpy(ev->task.comm, m->slots[m->cur].task.comm, SCHED_COMM_LEN);
	if (get_choice(d, CHOICE_CHILD_KNOWN)) {
		slot = get_known_slot(d, ROLE_CUR);
		get_comm(d, m->slots[slot].task.comm);
	} else {
		slot = get_new_task(d);
	}
	ev->other.pid = m->slots[slot].task.pid;
	memcpy(ev->other.comm, m->slots[slot].task.comm, SCHED_COMM_LEN);
}

static void get_exec(struct sched_decoder *d, struct sched_event *ev)
{
	struct sched_model *m = &d->model;
	const struct sched_path *path;
	uint64_t len, i;

	ev->task.pid = ev->pid;
	ev->value = add_signed(ev->pid, get_signed(d, NUMBER_VALUE));
	ev->filename = d->filename;
	if (get_choice(d, CHOICE_PATH_KNOWN)) {
		path = &m->paths[get_tree(d, m->path_tree, 5)];
		len = path->len;
		memcpy(d->filename, path->text, len);
	} else {
		len = get_number(d, NUMBER_LENGTH);
		if (len > SCHED_FILENAME_MAX) {
			d->corrupt = true;
			len = 0;
		}
		for (i = 0; i < len; i++)
			d->filename[i] = (char)(len <= SCHED_PATH_LEN ? get_tree(d, m->path_byte, 8)
								      : get_raw(d, 8));
		sched_model_add_path(m, d->filename, (uint32_t)len);
	}
	ev->filename_len = (uint16_t)len;
	sched_model_exec_comm(m, d->filename, (uint32_t)len);
}

static void get_rare(struct sched_decoder *d, struct sched_event *ev)
{
	struct sched_model *m = &d->model;
	struct sched_guesses g;
	uint32_t slot = m->cur;
	struct sched_slot *s;

	ev->kind = get_choice(d, CHOICE_SETPRIO) ? SCHED_SETPRIO : SCHED_RENAME;
	if (!get_choice(d, CHOICE_TASK_IS_CUR)) {
		sched_guess_wakee(m, OP_RARE, sched_guess_wakee_at(m, OP_RARE, 0), &g);
		slot = get_task(d, ROLE_ODD_WAKEE, &g);
	}
	s = &m->slots[slot];
	if (!get_choice(d, CHOICE_OLD_COMM))
		get_comm(d, s->task.comm);
	ev->task.pid = s->task.pid;
	memcpy(ev->task.comm, s->task.comm, SCHED_COMM_LEN);
	if (ev->kind == SCHED_SETPRIO) {
		if (!get_choice(d, CHOICE_OLD_PRIO))
			s->task.prio = add_signed(s->task.prio, get_signed(d, NUMBER_PRIO));
		ev->task.prio = s->task.prio;
		s->task.prio = add_signed(s->task.prio, get_signed(d, NUMBER_PRIO));
		ev->other.prio = s->task.prio;
	} else {
		get_comm(d, s->task.comm);
		memcpy(ev->other.comm, s->task.comm, SCHED_COMM_LEN);
		m->last_oom = add_signed(m->last_oom, get_signed(d, NUMBER_VALUE));
		ev->value = m->last_oom;
	}
}

static NOINLINE void get_uncommon(struct sched_decoder *d, struct sched_event *ev, uint32_t op)
{
	struct sched_model *m = &d->model;

	if (op == OP_SWITCH_OTHER) {
		ev->state = get_number(d, NUMBER_STATE);
		sched_model_add_state(m, ev->state);
		get_common(d, &d->rc, ev, op, true);
		return;
	}
	if (range_decode_bit(&d->rc, &m->expected[op]))
		get_cur_parts(d, op);
	set_attr(d, ev, *sched_attr_usual(m, op, m->cur == SCHED_IDLE_SLOT));
	ev->pid = m->slots[m->cur].task.pid;
	switch (op) {
	case OP_FORK:
		get_fork(d, ev);
		break;
	case OP_EXEC:
		get_exec(d, ev);
		break;
	case OP_EXIT:
		ev->task = m->slots[m->cur].task;
		ev->extra = (uint8_t)get_choice(d, CHOICE_GROUP_DEAD);
		break;
	default:
		get_rare(d, ev);
		break;
	}
	m->last_tick += get_time(d, &d->rc, op);
}

static void get_plain_task(struct sched_decoder *d, struct sched_task *t)
{
	char comm[SCHED_COMM_LEN];
	uint32_t i;

	t->pid = (int32_t)(uint32_t)get_raw(d, 32);
	t->prio = (int32_t)(uint32_t)get_raw(d, 32);
	for (i = 0; i < SCHED_COMM_LEN; i++)
		comm[i] = (char)get_raw(d, 8);
	sched_comm_set(t->comm, comm, SCHED_COMM_LEN);
}

static void get_plain(struct sched_decoder *d, struct sched_event *ev)
{
	uint32_t i, packed;

	ev->kind = (uint8_t)get_raw(d, 4);
	ev->state = get_raw(d, 64);
	ev->pid = (int32_t)(uint32_t)get_raw(d, 32);
	ev->value = (int32_t)(uint32_t)get_raw(d, 32);
	packed = (uint32_t)get_raw(d, 24);
	ev->flags = (uint8_t)(packed >> 16);
	ev->preempt_count = (uint8_t)(packed >> 8);
	ev->extra = (uint8_t)packed;
	get_plain_task(d, &ev->task);
	get_plain_task(d, &ev->other);
	ev->filename_len = (uint16_t)get_raw(d, 16);
	ev->filename = ev->filename_len ? d->filename : NULL;
	if (ev->filename_len > SCHED_FILENAME_MAX || ev->kind >= SCHED_KINDS) {
		d->corrupt = true;
		return;
	}
	for (i = 0; i < ev->filename_len; i++)
		d->filename[i] = (char)get_raw(d, 8);
}

/* Returns true if the escape was the whole event. */
static NOINLINE bool get_escape(struct sched_decoder *d, struct sched_event *ev)
{
	struct sched_model *m = &d->model;
	bool plain = get_choice(d, CHOICE_PLAIN);

	m->last_tick += (uint64_t)get_signed(d, NUMBER_TIME);
	ev->tick = m->last_tick;
	ev->tick_off_ns = add_signed(0, get_signed(d, NUMBER_OFFSET));
	if (plain) {
		get_plain(d, ev);
		sched_model_done(m, OP_ESCAPE);
	}
	return plain;
}

void sched_decoder_init(struct sched_decoder *d, uint32_t cpu)
{
	d->fresh = true;
	d->corrupt = false;
	sched_model_init(&d->model, cpu);
}

void sched_decoder_begin(struct sched_decoder *d, const uint8_t *in, uint32_t len, uint64_t tick)
{
	range_decode_begin(&d->rc, in, len);
	if (d->fresh)
		d->model.last_tick = tick;
	d->fresh = false;
}

static const uint8_t kinds[16] = {
	SCHED_SWITCH,	  SCHED_SWITCH, SCHED_SWITCH, SCHED_SWITCH, SCHED_SWITCH,
	SCHED_SWITCH,	  SCHED_SWITCH, SCHED_SWITCH, SCHED_WAKING, SCHED_WAKEUP,
	SCHED_WAKEUP_NEW, SCHED_FORK,	SCHED_EXEC,   SCHED_EXIT,   SCHED_RENAME,
};

static enum wire_status status_of(const struct sched_decoder *d)
{
	return d->corrupt || range_decode_overrun(&d->rc) ? WIRE_CORRUPT : WIRE_OK;
}

enum wire_status sched_decode(struct sched_decoder *d, struct sched_event *ev)
{
	struct sched_model *m = &d->model;
	struct nibble_model *ops = &m->op[m->cur == SCHED_IDLE_SLOT][m->op2][m->op1];
	struct range_decoder r = d->rc; /* a copy that can live in registers */
	uint32_t op = range_decode_nibble(&r, ops);

	memset(ev, 0, sizeof(*ev));
	if (op == OP_ESCAPE) {
		d->rc = r;
		if (get_escape(d, ev))
			return status_of(d);
		r = d->rc;
		op = range_decode_nibble(&r, ops);
		if (op == OP_ESCAPE)
			d->corrupt = true;
	}
	ev->kind = kinds[op];
	if (op < OP_SWITCH_OTHER) {
		ev->state = m->states[op];
		get_common(d, &r, ev, op, true);
		d->rc = r;
	} else if (sched_op_is_wake(op)) {
		get_common(d, &r, ev, op, false);
		d->rc = r;
	} else {
		d->rc = r;
		get_uncommon(d, ev, op);
	}
	ev->tick = m->last_tick;
	sched_model_done(m, op);
	return status_of(d);
}

enum wire_status sched_decoder_end(struct sched_decoder *d)
{
	return d->rc.pos + 4 < d->rc.len ? WIRE_CORRUPT : WIRE_OK;
}
