/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched_encode: see sched_encode.h, and sched_model.h for what is expected of an event.
 *
 * The way of an event: op; one bit "all as expected"; if not, which parts are not, and those; the
 * other task (who runs next, who is woken); the time since the last event. sched_decode.c mirrors
 * this file function by function; a change in one is a change in both and in the spec.
 */
#include "wire/sched_encode.h"

/* What is found out about an event before anything of it is written. */
struct plan {
	const struct sched_event *ev;
	const struct sched_task *other; /* next or woken task, NULL where there is none */
	uint32_t op;
	uint32_t attr;
	uint32_t attr_index;
	uint32_t cur;	 /* slot of the running task */
	uint32_t target; /* slot of the other task, or NO_SLOT */
	uint32_t parts;	 /* enum sched_part: what is not as expected */
	bool info_cur, info_other;
	struct sched_guesses guesses;
};

static inline void put_bit(struct sched_encoder *e, struct bit_model *m, uint32_t bit)
{
	range_encode_bit(&e->rc, m, bit);
}

static inline void put_choice(struct sched_encoder *e, enum sched_choice c, uint32_t bit)
{
	range_encode_bit(&e->rc, &e->model.choice[c], bit);
}

static inline void put_raw(struct sched_encoder *e, uint64_t v, uint32_t bits)
{
	while (bits > 16) {
		bits -= 16;
		range_encode_raw(&e->rc, (uint32_t)(v >> bits) & 0xffff, 16);
	}
	if (bits)
		range_encode_raw(&e->rc, (uint32_t)v & ((1U << bits) - 1), bits);
}

static void put_tree(struct sched_encoder *e, struct bit_model *tree, uint32_t v, uint32_t bits)
{
	uint32_t node = 1;

	while (bits--) {
		uint32_t bit = v >> bits & 1;

		range_encode_bit(&e->rc, &tree[node], bit);
		node = node << 1 | bit;
	}
}

/* The size in unary, each step with its own model, then the bits below the leading one. */
static void put_number(struct sched_encoder *e, enum sched_number use, uint64_t v)
{
	uint32_t i, bits = sched_bit_length(v);

	for (i = 0; i < bits && i < 64; i++)
		put_bit(e, &e->model.number[use][i], 1);
	if (bits < 64)
		put_bit(e, &e->model.number[use][bits], 0);
	if (bits > 1)
		put_raw(e, v, bits - 1);
}

static void put_signed(struct sched_encoder *e, enum sched_number use, int64_t v)
{
	put_number(e, use, sched_zigzag(v));
}

static inline uint32_t hash_pid(int32_t pid)
{
	return (uint32_t)pid * 2654435761U >> (32 - SCHED_HASH_BITS);
}

static inline uint32_t find_slot(const struct sched_encoder *e, int32_t pid)
{
	uint32_t slot;

	if (pid == 0)
		return SCHED_IDLE;
	slot = e->head[hash_pid(pid)];
	while (slot != SCHED_NO_SLOT && e->model.slots[slot].pid != pid)
		slot = e->chain[slot];
	return slot;
}

static uint32_t add_slot(struct sched_encoder *e, int32_t pid)
{
	uint32_t known = e->model.n_slots, slot = sched_model_reuse(&e->model);
	uint16_t *link;

	if (slot < known) {
		link = &e->head[hash_pid(e->model.slots[slot].pid)];
		while (*link != slot)
			link = &e->chain[*link];
		*link = e->chain[slot];
	}
	link = &e->head[hash_pid(pid)];
	e->chain[slot] = *link;
	*link = (uint16_t)slot;
	e->model.slots[slot].pid = pid;
	return slot;
}

static inline bool same_comm(const char *a, const char *b)
{
	return !memcmp(a, b, SCHED_COMM_LEN);
}

static void put_comm(struct sched_encoder *e, const char comm[SCHED_COMM_LEN])
{
	struct sched_model *m = &e->model;
	uint32_t i;

	if (same_comm(comm, m->slots[m->cur].comm)) {
		put_choice(e, CHOICE_COMM_OF_CUR, 1);
		return;
	}
	put_choice(e, CHOICE_COMM_OF_CUR, 0);
	for (i = 0; i < SCHED_COMMS && !same_comm(comm, m->comms[i]); i++)
		;
	put_choice(e, CHOICE_COMM_KNOWN, i < SCHED_COMMS);
	if (i < SCHED_COMMS) {
		put_tree(e, m->comm_tree, i, 6);
		return;
	}
	for (i = 0; i < SCHED_COMM_LEN; i++) {
		put_tree(e, m->comm_byte, (uint8_t)comm[i], 8);
		if (!comm[i])
			break;
	}
	sched_model_add_comm(m, comm);
}

static uint32_t put_new_task(struct sched_encoder *e, int32_t pid, int32_t prio, const char *comm)
{
	struct sched_model *m = &e->model;
	uint32_t slot;

	put_signed(e, NUMBER_PID, (int64_t)pid - m->last_new_pid);
	m->last_new_pid = pid;
	put_comm(e, comm);
	put_signed(e, NUMBER_PRIO, (int64_t)prio - m->slots[m->cur].prio);
	slot = add_slot(e, pid);
	m->slots[slot].prio = prio;
	memcpy(m->slots[slot].comm, comm, SCHED_COMM_LEN);
	return slot;
}

/* Says which task: one of the guesses, another known one, or a new one, whose name and priority
 * then come from `info`, or are said to be those of the running task where the event has none. */
static uint32_t put_task(struct sched_encoder *e, enum sched_role role, struct sched_guesses *g,
			 int32_t pid, const struct sched_task *info)
{
	struct sched_model *m = &e->model;
	const struct sched_slot *cur = &m->slots[m->cur];
	uint32_t i, slot;
	bool hit;

	for (i = 0; i < SCHED_CANDIDATES; i++) {
		if (!sched_guess_asks(g, i))
			continue;
		slot = g->slot[i];
		hit = m->slots[slot].pid == pid;
		put_bit(e, &m->hit[role][i][sched_guess_context(g, i)], hit);
		if (hit)
			goto found;
	}
	slot = find_slot(e, pid);
	put_bit(e, &m->known[role], slot != SCHED_NO_SLOT);
	if (slot == SCHED_NO_SLOT)
		slot = put_new_task(e, pid, info ? info->prio : cur->prio,
				    info ? info->comm : cur->comm);
	else
		put_tree(e, m->slot_tree[role], slot, SCHED_SLOT_BITS);
found:
	m->slots[slot].used = 1;
	sched_guess_learn(g->strong, slot);
	if (g->weak != g->strong)
		sched_guess_learn(g->weak, slot);
	return slot;
}

/* A known task goes by another name or priority than before. */
static void put_info(struct sched_encoder *e, uint32_t slot, const struct sched_task *t)
{
	struct sched_slot *s = &e->model.slots[slot];
	bool same = same_comm(s->comm, t->comm);

	put_choice(e, CHOICE_COMM_SAME, same);
	if (!same) {
		put_comm(e, t->comm);
		memcpy(s->comm, t->comm, SCHED_COMM_LEN);
	}
	put_signed(e, NUMBER_PRIO, (int64_t)t->prio - s->prio);
	s->prio = t->prio;
}

static void put_time(struct sched_encoder *e, uint32_t op, uint64_t dt)
{
	struct sched_model *m = &e->model;
	uint32_t bits = sched_bit_length(dt), half = bits >> 1, top;

	if (half >= 15) {
		range_encode_nibble(&e->rc, &m->time1[m->cur == SCHED_IDLE][m->op1][op], 15);
		put_number(e, NUMBER_CLASS, bits - 30);
		put_raw(e, dt, bits - 1);
		return;
	}
	range_encode_nibble(&e->rc, &m->time1[m->cur == SCHED_IDLE][m->op1][op], half);
	top = (bits > 4 ? (uint32_t)(dt >> (bits - 4)) : (uint32_t)dt << (4 - bits)) & 7;
	range_encode_nibble(&e->rc, &m->time2[half][op], (bits & 1) << 3 | top);
	if (bits > 4)
		put_raw(e, dt, bits - 4);
}

static inline uint32_t op_of(const struct sched_model *m, const struct sched_event *ev)
{
	static const uint8_t ops[SCHED_KINDS] = { 0,	   OP_WAKING, OP_WAKEUP, OP_WAKEUP_NEW,
						  OP_FORK, OP_EXEC,   OP_EXIT,	 OP_RARE,
						  OP_RARE };
	uint32_t i;

	if (ev->kind != SCHED_SWITCH)
		return ops[ev->kind];
	for (i = 0; i < SCHED_STATES && m->states[i] != ev->state; i++)
		;
	return i;
}

static inline bool info_matches(const struct sched_slot *s, const struct sched_task *t)
{
	return s->prio == t->prio && same_comm(s->comm, t->comm);
}

/* Looks at the running task, the flags, and the running task's name where the event has it. */
static void plan_cur(struct sched_encoder *e, struct plan *p)
{
	struct sched_model *m = &e->model;
	const struct sched_event *ev = p->ev;

	p->cur = m->cur;
	if (m->slots[m->cur].pid != ev->pid) {
		p->parts |= PART_CUR;
		p->cur = find_slot(e, ev->pid);
	}
	p->attr_index = *sched_attr_usual(m, p->op, ev->pid == 0);
	if (m->attrs[p->attr_index] != p->attr)
		p->parts |= PART_ATTR;
	p->info_cur = true;
	if (sched_op_is_switch(p->op) || p->op == OP_EXIT)
		p->info_cur = p->cur != SCHED_NO_SLOT && info_matches(&m->slots[p->cur], &ev->task);
	else if (p->op == OP_FORK)
		p->info_cur =
			p->cur != SCHED_NO_SLOT && same_comm(m->slots[p->cur].comm, ev->task.comm);
	if (!p->info_cur)
		p->parts |= PART_INFO;
}

static void plan_guesses(struct sched_encoder *e, struct plan *p)
{
	if (sched_op_is_switch(p->op))
		sched_guess_next(&e->model, p->op, &p->guesses);
	else
		sched_guess_wakee(&e->model, p->op, p->attr_index, &p->guesses);
}

/* Looks at the other task's name and at the target CPU; the slot is found through the guesses
 * where they are right, as they are nearly always. */
static void plan_other(struct sched_encoder *e, struct plan *p)
{
	const struct sched_model *m = &e->model;
	const struct sched_event *ev = p->ev;
	int32_t wake_cpu = (int32_t)m->cpu;

	p->target = p->guesses.slot[0];
	if (m->slots[p->target].pid != p->other->pid)
		p->target = find_slot(e, p->other->pid);
	p->info_other = true;
	if (p->target != SCHED_NO_SLOT) {
		p->info_other = info_matches(&m->slots[p->target], p->other);
		wake_cpu = m->slots[p->target].wake_cpu;
	}
	/* A running task yet to be introduced may be the very one woken, or take its slot: then
	 * say all. */
	if (!p->info_other || p->cur == SCHED_NO_SLOT)
		p->parts |= PART_INFO;
	if (sched_op_is_wake(p->op) &&
	    (ev->value != wake_cpu || ev->extra != m->success || p->cur == SCHED_NO_SLOT))
		p->parts |= PART_VALUE;
}

static void put_attr(struct sched_encoder *e, struct plan *p)
{
	struct sched_model *m = &e->model;
	uint32_t i;

	for (i = 0; i < m->n_attrs && m->attrs[i] != p->attr; i++)
		;
	if (i < m->n_attrs) {
		range_encode_nibble(&e->rc, &m->attr[p->op], i);
	} else {
		range_encode_nibble(&e->rc, &m->attr[p->op], SCHED_ATTRS);
		put_raw(e, p->attr, 16);
		i = sched_model_add_attr(m, p->attr);
	}
	*sched_attr_usual(m, p->op, p->ev->pid == 0) = (uint8_t)i;
	p->attr_index = i;
}

/* The parts that concern the running task; after this the model has it right. */
static void put_parts(struct sched_encoder *e, struct plan *p)
{
	struct sched_model *m = &e->model;
	const struct sched_event *ev = p->ev;
	bool has_info = sched_op_is_switch(p->op) || p->op == OP_EXIT;
	struct sched_guesses g;

	range_encode_nibble(&e->rc, &m->part[p->op][m->cur == SCHED_IDLE], p->parts);
	if (p->parts & PART_CUR) {
		sched_guess_cur(m, &g);
		p->cur = put_task(e, ROLE_CUR, &g, ev->pid, has_info ? &ev->task : NULL);
		sched_model_run(m, p->cur);
		if (sched_op_is_wake(p->op) || sched_op_is_switch(p->op))
			p->guesses.strong = NULL; /* they were made for another task */
	}
	if (p->parts & PART_ATTR) {
		put_attr(e, p);
		p->guesses.strong = NULL;
	}
	if (!(p->parts & PART_INFO) || !(has_info || p->op == OP_FORK))
		return;
	if (p->op == OP_FORK) {
		p->info_cur = same_comm(m->slots[p->cur].comm, ev->task.comm);
		put_choice(e, CHOICE_INFO_CUR, !p->info_cur);
		if (!p->info_cur) {
			put_comm(e, ev->task.comm);
			memcpy(m->slots[p->cur].comm, ev->task.comm, SCHED_COMM_LEN);
		}
		return;
	}
	p->info_cur = info_matches(&m->slots[p->cur], &ev->task);
	put_choice(e, CHOICE_INFO_CUR, !p->info_cur);
	if (!p->info_cur)
		put_info(e, p->cur, &ev->task);
}

/* The parts that concern the other task, once it is known. */
static void put_other_parts(struct sched_encoder *e, struct plan *p, uint32_t slot)
{
	struct sched_model *m = &e->model;
	const struct sched_event *ev = p->ev;
	bool same;

	if (p->parts & PART_INFO) {
		same = info_matches(&m->slots[slot], p->other);
		put_choice(e, CHOICE_INFO_OTHER, !same);
		if (!same)
			put_info(e, slot, p->other);
	}
	if (p->parts & PART_VALUE) {
		same = ev->value == m->slots[slot].wake_cpu;
		put_choice(e, CHOICE_CPU_SAME, same);
		if (!same)
			put_signed(e, NUMBER_CPU, (int64_t)ev->value - (int64_t)m->cpu);
		put_number(e, NUMBER_VALUE, (uint8_t)(ev->extra ^ m->success));
		m->success = ev->extra;
	}
}

/* Switches and wakeups: nearly all events. */
static void put_common(struct sched_encoder *e, struct plan *p)
{
	struct sched_model *m = &e->model;
	const struct sched_event *ev = p->ev;
	bool is_switch = sched_op_is_switch(p->op);
	uint32_t slot;

	if (p->op == OP_SWITCH_OTHER) {
		put_number(e, NUMBER_STATE, ev->state);
		sched_model_add_state(m, ev->state);
	}
	if (!p->guesses.strong)
		plan_guesses(e, p);
	slot = put_task(e, is_switch ? ROLE_NEXT : ROLE_WAKEE, &p->guesses, p->other->pid,
			p->other);
	if (p->parts)
		put_other_parts(e, p, slot);
	put_time(e, p->op, ev->tick - m->last_tick);
	if (is_switch)
		sched_model_run(m, slot);
	else
		sched_model_wake(m, slot, ev->value);
}

static void put_fork(struct sched_encoder *e, const struct sched_event *ev)
{
	struct sched_model *m = &e->model;
	uint32_t slot = find_slot(e, ev->other.pid);

	put_choice(e, CHOICE_CHILD_KNOWN, slot != SCHED_NO_SLOT);
	if (slot == SCHED_NO_SLOT) {
		put_new_task(e, ev->other.pid, m->slots[m->cur].prio, ev->other.comm);
		return;
	}
	put_tree(e, m->slot_tree[ROLE_CUR], slot, SCHED_SLOT_BITS);
	put_comm(e, ev->other.comm);
	memcpy(m->slots[slot].comm, ev->other.comm, SCHED_COMM_LEN);
}

static void put_exec(struct sched_encoder *e, const struct sched_event *ev)
{
	struct sched_model *m = &e->model;
	uint32_t i, len = ev->filename_len;

	put_signed(e, NUMBER_VALUE, (int64_t)ev->value - ev->pid);
	for (i = 0; i < SCHED_PATHS; i++)
		if (m->paths[i].len == len && !memcmp(m->paths[i].text, ev->filename, len))
			break;
	put_choice(e, CHOICE_PATH_KNOWN, i < SCHED_PATHS);
	if (i < SCHED_PATHS) {
		put_tree(e, m->path_tree, i, 5);
	} else {
		put_number(e, NUMBER_LENGTH, len);
		for (i = 0; i < len; i++)
			if (len <= SCHED_PATH_LEN)
				put_tree(e, m->path_byte, (uint8_t)ev->filename[i], 8);
			else
				put_raw(e, (uint8_t)ev->filename[i], 8);
		sched_model_add_path(m, ev->filename, len);
	}
	sched_model_exec_comm(m, ev->filename, len);
}

/* RENAME and SETPRIO: about a task that need not be the running one. */
static void put_rare(struct sched_encoder *e, const struct sched_event *ev)
{
	struct sched_model *m = &e->model;
	struct sched_guesses g;
	uint32_t slot = m->cur;
	struct sched_slot *s;
	bool same;

	put_choice(e, CHOICE_SETPRIO, ev->kind == SCHED_SETPRIO);
	put_choice(e, CHOICE_TASK_IS_CUR, ev->task.pid == ev->pid);
	if (ev->task.pid != ev->pid) {
		sched_guess_wakee(m, OP_RARE, 0, &g);
		slot = put_task(e, ROLE_WAKEE, &g, ev->task.pid, &ev->task);
	}
	s = &m->slots[slot];
	same = same_comm(s->comm, ev->task.comm);
	put_choice(e, CHOICE_OLD_COMM, same);
	if (!same) {
		put_comm(e, ev->task.comm);
		memcpy(s->comm, ev->task.comm, SCHED_COMM_LEN);
	}
	if (ev->kind == SCHED_SETPRIO) {
		put_choice(e, CHOICE_OLD_PRIO, s->prio == ev->task.prio);
		if (s->prio != ev->task.prio)
			put_signed(e, NUMBER_PRIO, (int64_t)ev->task.prio - s->prio);
		put_signed(e, NUMBER_PRIO, (int64_t)ev->other.prio - ev->task.prio);
		s->prio = ev->other.prio;
	} else {
		put_comm(e, ev->other.comm);
		memcpy(s->comm, ev->other.comm, SCHED_COMM_LEN);
		put_signed(e, NUMBER_VALUE, (int64_t)ev->value - m->last_oom);
		m->last_oom = ev->value;
	}
}

static void put_uncommon(struct sched_encoder *e, struct plan *p)
{
	struct sched_model *m = &e->model;

	switch (p->op) {
	case OP_FORK:
		put_fork(e, p->ev);
		break;
	case OP_EXEC:
		put_exec(e, p->ev);
		break;
	case OP_EXIT:
		put_choice(e, CHOICE_GROUP_DEAD, p->ev->extra);
		break;
	default:
		put_rare(e, p->ev);
		break;
	}
	put_time(e, p->op, p->ev->tick - m->last_tick);
}

static void put_plain_task(struct sched_encoder *e, const struct sched_task *t)
{
	uint32_t i;

	put_raw(e, (uint32_t)t->pid, 32);
	put_raw(e, (uint32_t)t->prio, 32);
	for (i = 0; i < SCHED_COMM_LEN; i++)
		put_raw(e, (uint8_t)t->comm[i], 8);
}

/* An event that the kernel cannot have made, but somebody did: field by field. */
static void put_plain(struct sched_encoder *e, const struct sched_event *ev)
{
	uint32_t i;

	put_raw(e, ev->kind, 4);
	put_raw(e, ev->state, 64);
	put_raw(e, (uint32_t)ev->pid, 32);
	put_raw(e, (uint32_t)ev->value, 32);
	put_raw(e, (uint32_t)ev->flags << 16 | (uint32_t)ev->preempt_count << 8 | ev->extra, 24);
	put_plain_task(e, &ev->task);
	put_plain_task(e, &ev->other);
	put_raw(e, ev->filename_len, 16);
	for (i = 0; i < ev->filename_len; i++)
		put_raw(e, (uint8_t)ev->filename[i], 8);
}

/* Does the event have the form that its op implies? */
static inline bool is_regular(const struct sched_event *ev)
{
	switch (ev->kind) {
	case SCHED_EXIT:
		return ev->task.pid == ev->pid && ev->extra <= 1;
	case SCHED_SWITCH:
	case SCHED_FORK:
	case SCHED_EXEC:
		return ev->task.pid == ev->pid;
	case SCHED_RENAME:
		return ev->task.prio == 0;
	default:
		return true;
	}
}

/* Time that runs backwards, a stamp off the clock's grid, or an odd event. Returns true if that was
 * all of it. The rest of the event then follows with no time of its own. */
static bool put_escape(struct sched_encoder *e, const struct sched_event *ev, bool regular)
{
	struct sched_model *m = &e->model;

	range_encode_nibble(&e->rc, &m->op[m->cur == SCHED_IDLE][m->op2][m->op1], OP_ESCAPE);
	put_choice(e, CHOICE_PLAIN, !regular);
	put_signed(e, NUMBER_TIME, (int64_t)(ev->tick - m->last_tick));
	put_signed(e, NUMBER_OFFSET, ev->tick_off_ns);
	m->last_tick = ev->tick;
	if (!regular) {
		put_plain(e, ev);
		sched_model_done(m, OP_ESCAPE);
	}
	return !regular;
}

void sched_encoder_init(struct sched_encoder *e, uint32_t cpu)
{
	memset(e->head, 0xff, sizeof(e->head));
	e->events = 0;
	e->room = 0;
	e->fresh = true;
	sched_model_init(&e->model, cpu);
}

void sched_encoder_begin(struct sched_encoder *e, uint8_t *out, uint32_t room, uint64_t tick)
{
	range_encode_begin(&e->rc, out);
	e->room = room;
	e->events = 0;
	if (e->fresh)
		e->model.last_tick = tick;
	e->fresh = false;
}

enum wire_status sched_encode(struct sched_encoder *e, const struct sched_event *ev)
{
	struct sched_model *m = &e->model;
	struct plan p;
	bool regular = is_regular(ev);

	if (e->rc.pos + SCHED_EVENT_ROOM + ev->filename_len > e->room)
		return WIRE_FULL;
	e->events++;
	if ((ev->tick < m->last_tick || ev->tick_off_ns || !regular) && put_escape(e, ev, regular))
		return WIRE_OK;
	p.ev = ev;
	p.op = op_of(m, ev);
	p.attr = (uint32_t)ev->flags << 8 | ev->preempt_count;
	p.parts = 0;
	p.other = sched_op_is_switch(p.op) ? &ev->other : sched_op_is_wake(p.op) ? &ev->task : NULL;
	plan_cur(e, &p);
	if (p.other) {
		plan_guesses(e, &p);
		plan_other(e, &p);
	}
	range_encode_nibble(&e->rc, &m->op[m->cur == SCHED_IDLE][m->op2][m->op1], p.op);
	put_bit(e, &m->expected[p.op][m->cur == SCHED_IDLE][m->misses & 7], p.parts != 0);
	m->misses = (uint8_t)(m->misses << 1 | (p.parts != 0));
	if (p.parts)
		put_parts(e, &p);
	if (p.other)
		put_common(e, &p);
	else
		put_uncommon(e, &p);
	m->last_tick = ev->tick;
	sched_model_done(m, p.op);
	return WIRE_OK;
}

uint32_t sched_encoder_end(struct sched_encoder *e)
{
	return range_encode_end(&e->rc);
}
