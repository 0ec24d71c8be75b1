/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched_encode: see sched_encode.h, and sched_model.h for what is expected of an event.
 *
 * The way of an event: op; which other task (who runs next, who is woken), or first what is not as
 * expected; the time since the last event. Four symbols, most of the time. sched_decode.c mirrors
 * this file function by function; a change in one is a change in both and in the spec.
 */
#include "wire/sched_encode.h"

/* A row of the model that is used for the first time in this segment is made new. In place: a
 * call would cost the usual case its registers. */
static ALWAYS_INLINE struct nibble_model *row_of(struct sched_encoder *e, struct nibble_model *m,
						 const struct nibble_model *prior)
{
	uint8_t *has = &e->has_row[sched_model_row(&e->model, m)];

	if (!LIKELY(*has)) {
		*has = 1;
		*m = *prior;
	}
	return m;
}

static ALWAYS_INLINE struct nibble_model *flat_of(struct sched_encoder *e, struct nibble_model *m)
{
	return row_of(e, m, &nibble_model_flat);
}

static ALWAYS_INLINE void renew_guesses(uint8_t *has, struct sched_guess *table, uint32_t at)
{
	const uint32_t group = at >> SCHED_GUESS_GROUP_BITS;

	if (LIKELY(has[group]))
		return;
	has[group] = 1;
	memset(&table[group << SCHED_GUESS_GROUP_BITS], 0,
	       sizeof(*table) << SCHED_GUESS_GROUP_BITS);
}

static ALWAYS_INLINE void guess_next(struct sched_encoder *e, uint32_t at, struct sched_guesses *g)
{
	renew_guesses(e->has_next, e->model.next, at);
	sched_guess_next(&e->model, at, g);
}

static ALWAYS_INLINE void guess_wakee(struct sched_encoder *e, uint32_t op, uint32_t attr_index,
				      struct sched_guesses *g)
{
	uint32_t at = sched_guess_wakee_at(&e->model, op, attr_index);

	renew_guesses(e->has_wakee, e->model.wakee, at);
	sched_guess_wakee(&e->model, op, at, g);
}

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

/* Up to 4 KiB of them in one probe: the coder stays in registers. */
static void put_raw_bytes(struct sched_encoder *e, const char *bytes, uint32_t len)
{
	struct range_encoder r = e->rc;
	uint32_t i;

	for (i = 0; i < len; i++)
		range_encode_raw(&r, (uint8_t)bytes[i], 8);
	e->rc = r;
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

static inline uint32_t hash_pid(const struct sched_encoder *e, int32_t pid)
{
	return (uint32_t)pid * e->multiplier >> (32 - SCHED_HASH_BITS);
}

static inline uint32_t find_slot(const struct sched_encoder *e, int32_t pid)
{
	uint32_t slot;

	if (pid == 0)
		return SCHED_IDLE_SLOT;
	slot = e->head[hash_pid(e, pid)];
	while (slot != SCHED_NO_SLOT && e->model.slots[slot].task.pid != pid)
		slot = e->chain[slot];
	return slot;
}

static uint32_t add_slot(struct sched_encoder *e, int32_t pid)
{
	uint32_t known = e->model.n_slots, slot = sched_model_reuse(&e->model);
	uint16_t *link;

	if (slot < known) {
		link = &e->head[hash_pid(e, e->model.slots[slot].task.pid)];
		while (*link != slot)
			link = &e->chain[*link];
		*link = e->chain[slot];
	}
	link = &e->head[hash_pid(e, pid)];
	e->chain[slot] = *link;
	*link = (uint16_t)slot;
	e->model.slots[slot].task.pid = pid;
	return slot;
}

/* Word by word and in place: a kernel's memcmp() is a call and a loop, for two tasks of every switch. */
static ALWAYS_INLINE uint64_t differ(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x ^ y;
}

static inline bool same_comm(const char *a, const char *b)
{
	return !(differ(a, b) | differ(a + 8, b + 8));
}

static void put_comm(struct sched_encoder *e, const char comm[SCHED_COMM_LEN])
{
	struct sched_model *m = &e->model;
	uint32_t i;

	if (same_comm(comm, m->slots[m->cur].task.comm)) {
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

static void put_comm_of(struct sched_encoder *e, uint32_t slot, const char comm[SCHED_COMM_LEN])
{
	put_comm(e, comm);
	memcpy(e->model.slots[slot].task.comm, comm, SCHED_COMM_LEN);
}

static uint32_t put_new_task(struct sched_encoder *e, int32_t pid, int32_t prio, const char *comm)
{
	struct sched_model *m = &e->model;
	uint32_t slot;

	put_signed(e, NUMBER_PID, (int64_t)pid - m->last_new_pid);
	m->last_new_pid = pid;
	put_comm(e, comm);
	put_signed(e, NUMBER_PRIO, (int64_t)prio - m->slots[m->cur].task.prio);
	slot = add_slot(e, pid);
	m->slots[slot].task.prio = prio;
	memcpy(m->slots[slot].task.comm, comm, SCHED_COMM_LEN);
	return slot;
}

/* Which symbol says that it is this task, and its slot, NO_SLOT if it is new. */
static inline enum sched_who find_who(const struct sched_encoder *e, const struct sched_guesses *g,
				      int32_t pid, uint32_t *ret_slot)
{
	const struct sched_slot *slots = e->model.slots;
	uint32_t i;

	for (i = 0; i < SCHED_CANDIDATES; i++)
		if (slots[g->slot[i]].task.pid == pid) {
			*ret_slot = g->slot[i];
			return WHO_GUESS + i;
		}
	*ret_slot = find_slot(e, pid);
	return *ret_slot == SCHED_NO_SLOT ? WHO_NEW : WHO_KNOWN;
}

static void put_slot(struct sched_encoder *e, enum sched_role role, uint32_t slot)
{
	struct sched_slot_tree *tree = sched_slot_tree(&e->model, role);
	struct range_encoder r = e->rc;

	range_encode_nibble(&r, flat_of(e, &tree->high), slot >> 6);
	range_encode_nibble(&r, flat_of(e, &tree->middle[slot >> 6]), slot >> 2 & 15);
	row_of(e, (struct nibble_model *)tree->low[slot >> 2 & ~3U], &sched_bits_prior);
	range_encode_bit(&r, &tree->low[slot >> 2][1], slot >> 1 & 1);
	range_encode_bit(&r, &tree->low[slot >> 2][2 + (slot >> 1 & 1)], slot & 1);
	e->rc = r;
}

/* What follows WHO_KNOWN and WHO_NEW. The name and priority of a new task come from `info`, or are
 * said to be those of the running task where the event has none. */
static NOINLINE uint32_t put_unguessed(struct sched_encoder *e, enum sched_role role, uint32_t slot,
				       int32_t pid, const struct sched_task *info)
{
	struct sched_model *m = &e->model;
	const struct sched_slot *cur = &m->slots[m->cur];

	if (slot == SCHED_NO_SLOT)
		return put_new_task(e, pid, info ? info->prio : cur->task.prio,
				    info ? info->comm : cur->task.comm);
	put_slot(e, role, slot);
	return slot;
}

static uint32_t put_task(struct sched_encoder *e, enum sched_role role, struct sched_guesses *g,
			 int32_t pid, const struct sched_task *info)
{
	struct sched_model *m = &e->model;
	enum sched_who who;
	uint32_t slot;

	who = find_who(e, g, pid, &slot);
	range_encode_nibble(&e->rc, row_of(e, &m->who[role][g->context], &sched_who_prior), who);
	if (who >= WHO_KNOWN)
		slot = put_unguessed(e, role, slot, pid, info);
	sched_guesses_learn(m, g, slot);
	return slot;
}

/* A known task goes by another name or priority than before. */
static void put_info(struct sched_encoder *e, uint32_t slot, const struct sched_task *t)
{
	struct sched_slot *s = &e->model.slots[slot];
	bool same = same_comm(s->task.comm, t->comm);

	put_choice(e, CHOICE_COMM_SAME, same);
	if (!same)
		put_comm_of(e, slot, t->comm);
	put_signed(e, NUMBER_PRIO, (int64_t)t->prio - s->task.prio);
	s->task.prio = t->prio;
}

static ALWAYS_INLINE void put_time(struct sched_encoder *e, struct range_encoder *rc, uint32_t op,
				   uint64_t dt)
{
	struct sched_model *m = &e->model;
	uint32_t bits = sched_bit_length(dt), half = bits >> 1, top, low, short_dt;

	if (half >= 15) {
		range_encode_nibble(rc,
				    flat_of(e, &m->time1[m->cur == SCHED_IDLE_SLOT][m->op1][op]),
				    15);
		e->rc = *rc;
		put_number(e, NUMBER_CLASS, bits - 30);
		put_raw(e, dt, bits - 1);
		*rc = e->rc;
		return;
	}
	short_dt = (uint32_t)dt; /* below 2^30 */
	range_encode_nibble(rc, flat_of(e, &m->time1[m->cur == SCHED_IDLE_SLOT][m->op1][op]), half);
	top = (short_dt << 1 << (31 - bits)) >> 28 & 7;
	range_encode_nibble(rc, flat_of(e, &m->time2[sched_op_group(m->op1)][half][op]),
			    (bits & 1) << 3 | top);
	if (bits <= 4)
		return;
	low = bits - 4;
	if (low > 16) {
		low -= 16;
		range_encode_raw(rc, short_dt >> low & 0xffff, 16);
	}
	range_encode_raw(rc, short_dt & ((1U << low) - 1), low);
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

static inline uint32_t event_attr(const struct sched_event *ev)
{
	return (uint32_t)ev->flags << 8 | ev->preempt_count;
}

/* Is the task, whose pid is that of the slot, named and ranked as it was? */
static inline bool info_matches(const struct sched_slot *s, const struct sched_task *t)
{
	_Static_assert(offsetof(struct sched_task, comm) == 8, "pid and priority are one number");
	return !differ(&s->task, t) && same_comm(s->task.comm, t->comm);
}

static void put_attr(struct sched_encoder *e, uint32_t op, uint32_t attr, bool idle)
{
	struct sched_model *m = &e->model;
	uint32_t i;

	for (i = 0; i < m->n_attrs && m->attrs[i] != attr; i++)
		;
	if (i < m->n_attrs) {
		range_encode_nibble(&e->rc, flat_of(e, &m->attr[op]), i);
	} else {
		range_encode_nibble(&e->rc, flat_of(e, &m->attr[op]), SCHED_ATTRS);
		put_raw(e, attr, 16);
		i = sched_model_add_attr(m, attr);
	}
	*sched_attr_usual(m, op, idle) = (uint8_t)i;
}

/* What is not as expected about the running task and the flags. */
static uint32_t cur_parts(struct sched_encoder *e, const struct sched_event *ev, uint32_t op)
{
	struct sched_model *m = &e->model;
	uint32_t parts = 0, cur = m->cur;

	if (m->slots[cur].task.pid != ev->pid) {
		parts |= PART_CUR;
		cur = find_slot(e, ev->pid);
	}
	if (m->attrs[*sched_attr_usual(m, op, ev->pid == 0)] != event_attr(ev))
		parts |= PART_ATTR;
	if (cur == SCHED_NO_SLOT)
		return parts | PART_INFO;
	if (sched_op_is_switch(op) || op == OP_EXIT)
		parts |= info_matches(&m->slots[cur], &ev->task) ? 0 : PART_INFO;
	else if (op == OP_FORK)
		parts |= same_comm(m->slots[cur].task.comm, ev->task.comm) ? 0 : PART_INFO;
	return parts;
}

/* The same about the other task. A running task yet to be introduced may be the very one woken, or
 * take its slot: then all is said. */
static uint32_t other_parts(struct sched_encoder *e, const struct sched_event *ev, uint32_t op)
{
	const struct sched_model *m = &e->model;
	const struct sched_task *other = sched_op_is_switch(op) ? &ev->other : &ev->task;
	bool unsure = find_slot(e, ev->pid) == SCHED_NO_SLOT;
	int32_t wake_cpu = (int32_t)m->cpu;
	uint32_t parts = 0, slot = find_slot(e, other->pid);

	if (unsure || (slot != SCHED_NO_SLOT && !info_matches(&m->slots[slot], other)))
		parts |= PART_INFO;
	if (slot != SCHED_NO_SLOT)
		wake_cpu = m->slots[slot].wake_cpu;
	if (sched_op_is_wake(op) && (unsure || ev->value != wake_cpu || ev->extra != m->success))
		parts |= PART_VALUE;
	return parts;
}

/* The parts that concern the running task; after this the model has it right. */
static void put_cur_parts(struct sched_encoder *e, const struct sched_event *ev, uint32_t op,
			  uint32_t parts)
{
	struct sched_model *m = &e->model;
	bool has_info = sched_op_is_switch(op) || op == OP_EXIT, same;
	struct sched_guesses g;
	uint32_t at;

	range_encode_nibble(&e->rc, flat_of(e, &m->part[op][m->cur == SCHED_IDLE_SLOT]), parts);
	if (parts & PART_CUR) {
		at = sched_guess_cur_at(m);
		guess_next(e, at, &g);
		sched_guess_cur(m, at, &g);
		sched_model_run(m, put_task(e, ROLE_CUR, &g, ev->pid, has_info ? &ev->task : NULL));
	}
	if (parts & PART_ATTR)
		put_attr(e, op, event_attr(ev), ev->pid == 0);
	if (!(parts & PART_INFO))
		return;
	if (op == OP_FORK) {
		same = same_comm(m->slots[m->cur].task.comm, ev->task.comm);
		put_choice(e, CHOICE_INFO_CUR, !same);
		if (!same)
			put_comm_of(e, m->cur, ev->task.comm);
	} else if (has_info) {
		same = info_matches(&m->slots[m->cur], &ev->task);
		put_choice(e, CHOICE_INFO_CUR, !same);
		if (!same)
			put_info(e, m->cur, &ev->task);
	}
}

/* The parts that concern the other task, once it is known. */
static void put_other_parts(struct sched_encoder *e, const struct sched_event *ev, uint32_t parts,
			    uint32_t slot)
{
	struct sched_model *m = &e->model;
	const struct sched_task *other = ev->kind == SCHED_SWITCH ? &ev->other : &ev->task;
	bool same;

	if (parts & PART_INFO) {
		same = info_matches(&m->slots[slot], other);
		put_choice(e, CHOICE_INFO_OTHER, !same);
		if (!same)
			put_info(e, slot, other);
	}
	if (parts & PART_VALUE) {
		same = ev->value == m->slots[slot].wake_cpu;
		put_choice(e, CHOICE_CPU_SAME, same);
		if (!same)
			put_signed(e, NUMBER_CPU, (int64_t)ev->value - (int64_t)m->cpu);
		put_number(e, NUMBER_VALUE, (uint8_t)(ev->extra ^ m->success));
		m->success = ev->extra;
	}
}

/* A switch or wakeup of which something is not as expected. Returns the other task's slot. */
static NOINLINE uint32_t put_odd(struct sched_encoder *e, const struct sched_event *ev, uint32_t op)
{
	struct sched_model *m = &e->model;
	uint32_t parts = cur_parts(e, ev, op) | other_parts(e, ev, op), slot;
	struct sched_guesses g;

	put_cur_parts(e, ev, op, parts);
	if (sched_op_is_switch(op)) {
		guess_next(e, sched_guess_next_at(m, op), &g);
		slot = put_task(e, ROLE_ODD_NEXT, &g, ev->other.pid, &ev->other);
	} else {
		guess_wakee(e, op, *sched_attr_usual(m, op, ev->pid == 0), &g);
		slot = put_task(e, ROLE_ODD_WAKEE, &g, ev->task.pid, &ev->task);
	}
	put_other_parts(e, ev, parts, slot);
	return slot;
}

/* Switches and wakeups: nearly all events, and nearly always all is as expected. It is compiled
 * once for each of the two; `r` lives in registers and is put back into e for the other cases. */
static ALWAYS_INLINE void put_common(struct sched_encoder *e, struct range_encoder *r,
				     const struct sched_event *ev, uint32_t op, bool is_switch)
{
	struct sched_model *m = &e->model;
	const struct sched_slot *cur = &m->slots[m->cur];
	const struct sched_task *other = is_switch ? &ev->other : &ev->task;
	enum sched_role role = is_switch ? ROLE_NEXT : ROLE_WAKEE;
	uint32_t attr_index = *sched_attr_usual(m, op, m->cur == SCHED_IDLE_SLOT), slot;
	struct sched_guesses g;
	enum sched_who who;
	bool fine;

	if (is_switch)
		guess_next(e, sched_guess_next_at(m, op), &g);
	else
		guess_wakee(e, op, attr_index, &g);
	who = find_who(e, &g, other->pid, &slot);
	fine = cur->task.pid == ev->pid && m->attrs[attr_index] == event_attr(ev);
	if (is_switch)
		fine = fine && info_matches(cur, &ev->task);
	if (slot != SCHED_NO_SLOT)
		fine = fine && info_matches(&m->slots[slot], other);
	if (!is_switch)
		fine = fine && ev->extra == m->success &&
		       ev->value ==
			       (slot == SCHED_NO_SLOT ? (int32_t)m->cpu : m->slots[slot].wake_cpu);

	range_encode_nibble(r, row_of(e, &m->who[role][g.context], &sched_who_prior),
			    fine ? who : WHO_ODD);
	if (!fine || who >= WHO_KNOWN) {
		e->rc = *r;
		slot = fine ? put_unguessed(e, role, slot, other->pid, other) : put_odd(e, ev, op);
		*r = e->rc;
	}
	if (fine)
		sched_guesses_learn(m, &g, slot);
	m->missed = !fine;
	put_time(e, r, op, ev->tick - m->last_tick);
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
		put_new_task(e, ev->other.pid, m->slots[m->cur].task.prio, ev->other.comm);
		return;
	}
	put_slot(e, ROLE_CUR, slot);
	put_comm_of(e, slot, ev->other.comm);
}

static void put_exec(struct sched_encoder *e, const struct sched_event *ev)
{
	struct sched_model *m = &e->model;
	uint32_t i, len = ev->filename_len;

	put_signed(e, NUMBER_VALUE, (int64_t)ev->value - ev->pid);
	for (i = 0; i < SCHED_PATHS; i++)
		if (m->paths[i].len == len &&
		    (!len || !memcmp(m->paths[i].text, ev->filename, len)))
			break;
	put_choice(e, CHOICE_PATH_KNOWN, i < SCHED_PATHS);
	if (i < SCHED_PATHS) {
		put_tree(e, m->path_tree, i, 5);
	} else {
		put_number(e, NUMBER_LENGTH, len);
		if (len > SCHED_PATH_LEN)
			put_raw_bytes(e, ev->filename, len);
		else
			for (i = 0; i < len; i++)
				put_tree(e, m->path_byte, (uint8_t)ev->filename[i], 8);
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
		guess_wakee(e, OP_RARE, 0, &g);
		slot = put_task(e, ROLE_ODD_WAKEE, &g, ev->task.pid, &ev->task);
	}
	s = &m->slots[slot];
	same = same_comm(s->task.comm, ev->task.comm);
	put_choice(e, CHOICE_OLD_COMM, same);
	if (!same)
		put_comm_of(e, slot, ev->task.comm);
	if (ev->kind == SCHED_SETPRIO) {
		put_choice(e, CHOICE_OLD_PRIO, s->task.prio == ev->task.prio);
		if (s->task.prio != ev->task.prio)
			put_signed(e, NUMBER_PRIO, (int64_t)ev->task.prio - s->task.prio);
		put_signed(e, NUMBER_PRIO, (int64_t)ev->other.prio - ev->task.prio);
		s->task.prio = ev->other.prio;
	} else {
		put_comm_of(e, slot, ev->other.comm);
		put_signed(e, NUMBER_VALUE, (int64_t)ev->value - m->last_oom);
		m->last_oom = ev->value;
	}
}

static NOINLINE void put_uncommon(struct sched_encoder *e, const struct sched_event *ev,
				  uint32_t op)
{
	struct sched_model *m = &e->model;
	uint32_t parts;

	if (op == OP_SWITCH_OTHER) {
		put_number(e, NUMBER_STATE, ev->state);
		sched_model_add_state(m, ev->state);
		put_common(e, &e->rc, ev, op, true);
		return;
	}
	parts = cur_parts(e, ev, op);
	put_bit(e, &m->expected[op], parts != 0);
	if (parts)
		put_cur_parts(e, ev, op, parts);
	switch (op) {
	case OP_FORK:
		put_fork(e, ev);
		break;
	case OP_EXEC:
		put_exec(e, ev);
		break;
	case OP_EXIT:
		put_choice(e, CHOICE_GROUP_DEAD, ev->extra);
		break;
	default:
		put_rare(e, ev);
		break;
	}
	put_time(e, &e->rc, op, ev->tick - m->last_tick);
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
	put_raw(e, ev->kind, 4);
	put_raw(e, ev->state, 64);
	put_raw(e, (uint32_t)ev->pid, 32);
	put_raw(e, (uint32_t)ev->value, 32);
	put_raw(e, (uint32_t)ev->flags << 16 | (uint32_t)ev->preempt_count << 8 | ev->extra, 24);
	put_plain_task(e, &ev->task);
	put_plain_task(e, &ev->other);
	put_raw(e, ev->filename_len, 16);
	put_raw_bytes(e, ev->filename, ev->filename_len);
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
static NOINLINE bool put_escape(struct sched_encoder *e, const struct sched_event *ev, bool regular)
{
	struct sched_model *m = &e->model;

	range_encode_nibble(&e->rc,
			    row_of(e, &m->op[m->cur == SCHED_IDLE_SLOT][m->op2][m->op1],
				   &sched_op_prior),
			    OP_ESCAPE);
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
	memset(e->has_row, 0, sizeof(e->has_row));
	memset(e->has_next, 0, sizeof(e->has_next));
	memset(e->has_wakee, 0, sizeof(e->has_wakee));
	e->multiplier = 2654435761U;
	e->events = 0;
	e->room = 0;
	e->fresh = true;
	sched_model_restart(&e->model, cpu);
}

void sched_encoder_set_hash(struct sched_encoder *e, uint32_t seed)
{
	e->multiplier = seed | 1;
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
	bool regular = is_regular(ev);
	struct range_encoder r;
	uint32_t op;

	if (e->rc.pos + SCHED_EVENT_ROOM + ev->filename_len > e->room)
		return WIRE_FULL;
	e->events++;
	if ((ev->tick < m->last_tick || ev->tick_off_ns || !regular) && put_escape(e, ev, regular))
		return WIRE_OK;
	op = op_of(m, ev);
	r = e->rc;
	range_encode_nibble(&r,
			    row_of(e, &m->op[m->cur == SCHED_IDLE_SLOT][m->op2][m->op1],
				   &sched_op_prior),
			    op);
	if (op < OP_SWITCH_OTHER) {
		put_common(e, &r, ev, op, true);
		e->rc = r;
	} else if (sched_op_is_wake(op)) {
		put_common(e, &r, ev, op, false);
		e->rc = r;
	} else {
		e->rc = r;
		put_uncommon(e, ev, op);
	}
	m->last_tick = ev->tick;
	sched_model_done(m, op);
	return WIRE_OK;
}

uint32_t sched_encoder_end(struct sched_encoder *e)
{
	return range_encode_end(&e->rc);
}
