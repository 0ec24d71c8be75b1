/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_encode: see sample_encode.h, and sample_model.h for what is expected of a record.
 *
 * The way of a record: its kind, its tick, its task; then what its kind has: value, detail, the next task, where a guest
 * was left, or all that a sample says. sample_decode.c mirrors this file function by function; a change in one is a change in both
 * and in the spec.
 */
#include "wire/sample_encode.h"

static void put_raw(struct sample_encoder *e, uint64_t v, uint32_t bits)
{
	while (bits > 16) {
		bits -= 16;
		range_encode_raw(&e->rc, (uint32_t)(v >> bits) & 0xffff, 16);
	}
	if (bits)
		range_encode_raw(&e->rc, (uint32_t)v & ((1U << bits) - 1), bits);
}

/* A size of 0 to 63. */
static void put_size(struct sample_encoder *e, struct nibble_model *high,
		     struct bit_model low[16][4], uint32_t size)
{
	range_encode_nibble(&e->rc, high, size >> 2);
	range_encode_bit(&e->rc, &low[size >> 2][1], size >> 1 & 1);
	range_encode_bit(&e->rc, &low[size >> 2][2 + (size >> 1 & 1)], size & 1);
}

/* The bits of v below its leading one, which is bit `size`; the first four as a symbol. */
static void put_rest(struct sample_encoder *e, struct nibble_model *more, uint64_t v, uint32_t size)
{
	uint32_t top = size < 4 ? size : 4;

	if (top)
		range_encode_nibble(&e->rc, more,
				    (uint32_t)(v >> (size - top)) & ((1U << top) - 1));
	put_raw(e, v, size - top);
}

/* A number that may be 0 or below. */
static void put_signed(struct sample_encoder *e, enum sample_number use, uint64_t v)
{
	struct sample_size *s = &e->model.number[use];
	bool down = v >> 63;
	uint32_t size;

	range_encode_nibble(&e->rc, &s->sign,
			    !v	   ? SAMPLE_SIGN_NONE
			    : down ? SAMPLE_SIGN_DOWN
				   : SAMPLE_SIGN_UP);
	if (!v)
		return;
	v = down ? 0 - v : v;
	size = sample_bit_length(v) - 1;
	put_size(e, &s->high, s->low, size);
	if (size >= 4) {
		put_raw(e, v >> 4, size - 4);
		range_encode_nibble(&e->rc, &s->last, (uint32_t)v & 15);
	} else {
		put_raw(e, v, size);
	}
}

static void put_slot(struct sample_encoder *e, struct sample_tree *t, uint32_t slot)
{
	range_encode_nibble(&e->rc, &t->high, slot >> 9);
	range_encode_nibble(&e->rc, &t->middle[slot >> 9], slot >> 5 & 15);
	range_encode_nibble(&e->rc, &t->low[slot >> 5], slot >> 1 & 15);
	range_encode_raw(&e->rc, slot & 1, 1);
}

/* A word that may be near another; returns its slot. */
static uint32_t put_word(struct sample_encoder *e, enum sample_class of,
			 const struct sample_context *c, uint64_t word, uint64_t near)
{
	struct sample_model *m = &e->model;
	uint32_t slot = sample_model_find(m, word), rank = SAMPLE_RANK_NEW;
	struct sample_guesses g;

	sample_guess(m, of, c, &g);
	if (slot)
		rank = sample_guesses_find(&g, slot);
	range_encode_nibble(&e->rc, g.rank, rank);
	if (rank == SAMPLE_RANK_KNOWN)
		put_slot(e, sample_model_tree(m, of), slot);
	if (rank == SAMPLE_RANK_NEW) {
		put_signed(e, (enum sample_number)of, word - near);
		slot = sample_model_add(m, word);
	}
	sample_guesses_learn(&g, slot);
	return slot;
}

/* There is no further caller. */
static void put_end(struct sample_encoder *e, const struct sample_context *c)
{
	struct sample_model *m = &e->model;
	struct sample_guesses g;
	uint32_t rank;

	sample_guess(m, SAMPLE_FRAME, c, &g);
	rank = sample_guesses_find(&g, SAMPLE_SLOT_END);
	range_encode_nibble(&e->rc, g.rank, rank);
	if (rank == SAMPLE_RANK_KNOWN)
		put_slot(e, sample_model_tree(m, SAMPLE_FRAME), SAMPLE_SLOT_END);
	sample_guesses_learn(&g, SAMPLE_SLOT_END);
}

/* An address by its line and the place in it; returns the line's slot. */
static uint32_t put_place(struct sample_encoder *e, const struct sample_context *c,
			  uint64_t address, uint64_t near)
{
	struct sample_model *m = &e->model;
	uint64_t line = address >> SAMPLE_LINE_BITS;
	uint32_t slot = put_word(e, SAMPLE_LINE, c, line - (near >> SAMPLE_LINE_BITS), 0);
	uint32_t high = (uint32_t)(address >> 4) & 15, low = (uint32_t)address & 15;

	range_encode_nibble(&e->rc, sample_model_high(m, line), high);
	nibble_model_update(&m->all_high, high);
	range_encode_nibble(&e->rc, sample_model_low(m, line, high), low);
	nibble_model_update(&m->all_low[high], low);
	return slot;
}

/* A number of which the first bits are learned, too. */
static void put_size_of(struct sample_encoder *e, enum sample_number use, struct nibble_model *more,
			uint64_t v, bool down)
{
	struct sample_size *s = &e->model.number[use];
	uint32_t size;

	range_encode_nibble(&e->rc, &s->sign,
			    !v	   ? SAMPLE_SIGN_NONE
			    : down ? SAMPLE_SIGN_DOWN
				   : SAMPLE_SIGN_UP);
	if (!v)
		return;
	size = sample_bit_length(v) - 1;
	put_size(e, &s->high, s->low, size);
	put_rest(e, &more[size], v, size);
}

static void put_tick(struct sample_encoder *e, const struct sample_event *ev)
{
	struct sample_model *m = &e->model;
	uint64_t far = ev->tick - m->tick, late = ev->tick - m->due.tick;
	uint32_t time = sample_model_time(m, ev->kind), size;
	bool back = far >> 63;

	if (sample_model_is_due(m, ev->kind)) {
		back = late >> 63;
		put_size_of(e, SAMPLE_NUMBER_LATE, m->late_more, back ? 0 - late : late, back);
		return;
	}
	range_encode_bit(&e->rc, &m->time_back[ev->kind], back);
	if (back) {
		put_signed(e, SAMPLE_NUMBER_BACK, far);
		return;
	}
	size = sample_bit_length(++far) - 1;
	put_size(e, &m->time[time], m->time_low[ev->kind], size);
	put_rest(e, sample_model_more(m, time, size), far, size);
}

static void put_comm(struct sample_encoder *e, const char *comm)
{
	struct sample_model *m = &e->model;
	uint32_t i, len = SCHED_COMM_LEN, byte = 0, last;

	while (len && !comm[len - 1])
		len--;
	range_encode_nibble(&e->rc, &m->comm_length, len < 15 ? len : 15);
	if (len >= 15)
		range_encode_bit(&e->rc, &m->choice[SAMPLE_CHOICE_LONG], len > 15);
	for (i = 0; i < len; i++) {
		last = byte;
		byte = (uint8_t)comm[i];
		range_encode_nibble(&e->rc, &m->comm_high[last >> 2], byte >> 4);
		range_encode_nibble(&e->rc, &m->comm_low[byte >> 4][last >> 4], byte & 15);
	}
}

static uint32_t put_new_task(struct sample_encoder *e, const struct sample_task *t)
{
	struct sample_model *m = &e->model;
	struct sample_task *s;
	const char *comm;
	uint32_t slot;
	bool other;

	put_signed(e, SAMPLE_NUMBER_TID, (uint64_t)((int64_t)t->tid - m->last_tid));
	m->last_tid = t->tid;
	slot = sample_model_add_task(m, t->tid);
	s = &m->task[slot].task;
	range_encode_bit(&e->rc, &m->choice[SAMPLE_CHOICE_PID], s->pid != t->pid);
	if (s->pid != t->pid)
		put_signed(e, SAMPLE_NUMBER_PID, (uint64_t)((int64_t)t->pid - s->pid));
	s->pid = t->pid;
	range_encode_bit(&e->rc, &m->choice[SAMPLE_CHOICE_VCPU], s->vcpu != t->vcpu);
	if (s->vcpu != t->vcpu)
		put_signed(e, SAMPLE_NUMBER_VCPU, (uint64_t)((int64_t)t->vcpu - s->vcpu));
	s->vcpu = t->vcpu;
	comm = sample_model_comm(m, slot);
	other = memcmp(comm, t->comm, SCHED_COMM_LEN) != 0;
	range_encode_bit(&e->rc, &m->choice[SAMPLE_CHOICE_COMM], other);
	if (other)
		put_comm(e, t->comm);
	memcpy(s->comm, t->comm, SCHED_COMM_LEN);
	sample_model_name_task(m, slot);
	return slot;
}

/* Returns the task's slot. */
static uint32_t put_who(struct sample_encoder *e, const struct sample_context *c,
			const struct sample_task *t)
{
	struct sample_model *m = &e->model;
	uint32_t slot = sample_model_find_task(m, t), rank = SAMPLE_RANK_NEW;
	struct sample_guesses g;

	sample_guess(m, SAMPLE_WHO, c, &g);
	if (slot < SAMPLE_TASKS)
		rank = sample_guesses_find(&g, slot);
	range_encode_nibble(&e->rc, g.rank, rank);
	if (rank == SAMPLE_RANK_KNOWN) {
		range_encode_nibble(&e->rc, &m->task_high, slot >> 4);
		range_encode_nibble(&e->rc, &m->task_low[slot >> 4], slot & 15);
	}
	if (rank == SAMPLE_RANK_NEW)
		slot = put_new_task(e, t);
	sample_guesses_learn(&g, slot);
	return slot;
}

static uint32_t put_task(struct sample_encoder *e, const struct sample_event *ev)
{
	struct sample_model *m = &e->model;
	struct sample_context c;
	bool other = !sample_task_equal(&m->task[m->cur].task, &ev->task);

	range_encode_bit(&e->rc, &m->is_cur[m->kind[0]][ev->kind], other);
	if (!other)
		return m->cur;
	sample_context_task(m, &c);
	return put_who(e, &c, &ev->task);
}

/* How long it was waited is no word: nobody waits equally long twice. */
static uint32_t put_poll(struct sample_encoder *e, uint64_t ns)
{
	put_size_of(e, SAMPLE_NUMBER_POLL, e->model.poll_more, ns, false);
	return sample_bit_length(ns);
}

static void put_value(struct sample_encoder *e, const struct sample_event *ev, uint32_t slot)
{
	struct sample_model *m = &e->model;
	struct sample_context c;
	uint32_t value;

	if (ev->kind == SAMPLE_POLL) {
		value = put_poll(e, ev->value);
	} else {
		sample_context_value(m, ev->kind, slot, &c);
		value = put_word(e, SAMPLE_VALUE, &c, ev->value, 0);
	}
	sample_context_detail(ev->kind, slot, value, &c);
	put_word(e, SAMPLE_DETAIL, &c, ev->detail, m->last_detail);
	m->last_detail = ev->detail;
	sample_model_learn_value(m, ev->kind, slot, value);
}

static void put_mode(struct sample_encoder *e, struct nibble_model *model, uint32_t mode)
{
	range_encode_nibble(&e->rc, model, mode < 15 ? mode : 15);
	if (mode >= 15)
		range_encode_raw(&e->rc, mode, 8);
}

/* What is known of a guest is mostly what was known last in this mode. */
static void put_known(struct sample_encoder *e, struct bit_model *same, uint8_t *last,
		      uint8_t known)
{
	range_encode_bit(&e->rc, same, known != *last);
	if (known != *last)
		range_encode_raw(&e->rc, known, 8);
	*last = known;
}

static void put_weight(struct sample_encoder *e, uint64_t weight)
{
	struct sample_model *m = &e->model;
	uint32_t i;

	for (i = 0; i < SAMPLE_WEIGHTS && m->weights[i] != weight; i++)
		;
	range_encode_nibble(&e->rc, &m->weight, i);
	if (i == SAMPLE_WEIGHT_OTHER)
		put_signed(e, SAMPLE_NUMBER_WEIGHT, weight - m->weights[0]);
	sample_model_learn_weight(m, weight);
}

/* Callers from the outermost on, down to frame[last]. */
static void put_callers(struct sample_encoder *e, struct sample_walk *w, const uint64_t *frame,
			uint32_t n, uint32_t last)
{
	struct sample_context c;
	uint32_t slot;

	while (n-- > last) {
		sample_walk_context(w, &c);
		slot = put_word(e, SAMPLE_FRAME, &c, frame[n] - w->near, 0);
		sample_walk_next(w, slot, frame[n]);
	}
	sample_walk_context(w, &c);
	put_end(e, &c);
	sample_walk_next(w, SAMPLE_SLOT_END, w->near);
}

static void put_chain(struct sample_encoder *e, const struct sample_event *ev, uint32_t slot)
{
	struct sample_model *m = &e->model;
	uint32_t shape =
		(ev->n_kernel ? SAMPLE_SHAPE_KERNEL : 0) | (ev->n_user ? SAMPLE_SHAPE_USER : 0);
	struct sample_walk w;
	struct sample_context c;

	range_encode_nibble(&e->rc, &m->shape[ev->mode & 7], shape);
	if (!shape)
		return;
	sample_walk_init(&w, m, slot, shape);
	if (ev->n_user) {
		put_callers(e, &w, ev->chain + ev->n_kernel, ev->n_user, !ev->n_kernel);
		m->task[slot].root = ev->chain[ev->n_kernel + ev->n_user - 1];
	}
	if (ev->n_kernel) {
		sample_walk_enter(&w, m);
		put_callers(e, &w, ev->chain, ev->n_kernel, 1);
		m->kernel_root = ev->chain[ev->n_kernel - 1];
	}
	sample_context_place(m, &w, slot, ev->mode, &c);
	m->task[slot].place = (uint16_t)put_place(e, &c, ev->chain[0], w.near);
}

static uint32_t put_guest_word(struct sample_encoder *e, const struct sample_context *c,
			       uint64_t word, uint32_t field)
{
	uint64_t *near = &e->model.last_guest[field];
	uint32_t slot = put_word(e, SAMPLE_SPACE, c, word, *near);

	*near = word;
	return slot;
}

static void put_guest(struct sample_encoder *e, const struct sample_event *ev, uint32_t slot)
{
	struct sample_model *m = &e->model;
	struct sample_slot *s = &m->task[slot];
	struct sample_context c;
	uint32_t known = s->table;

	if (ev->guest & SAMPLE_GUEST_TABLE) {
		sample_context_guest(SAMPLE_USE_TABLE, slot, known, ev->mode, &c);
		known = put_guest_word(e, &c, ev->guest_table, 0);
		s->table = (uint16_t)known;
	}
	if (ev->guest & SAMPLE_GUEST_CONTEXT) {
		sample_context_guest(SAMPLE_USE_CONTEXT, slot, known, ev->mode, &c);
		known = put_guest_word(e, &c, ev->guest_context, 1);
	}
	if (ev->guest & SAMPLE_GUEST_TASK) {
		sample_context_guest(SAMPLE_USE_GUEST_TASK, slot, known, ev->mode, &c);
		put_guest_word(e, &c, ev->guest_task, 2);
	}
	if (ev->guest & SAMPLE_GUEST_REASON) {
		sample_context_guest(SAMPLE_USE_REASON, slot, s->reason | (uint32_t)s->before << 13,
				     0, &c);
		known = put_guest_word(e, &c, ev->reason, 3);
		sample_context_guest(SAMPLE_USE_REASON_DETAIL, slot, known, 0, &c);
		put_guest_word(e, &c, ev->reason_detail, 4);
	}
}

static void put_guest_place(struct sample_encoder *e, const struct sample_event *ev, uint32_t slot)
{
	struct sample_model *m = &e->model;
	struct sample_context c;

	if (!(ev->guest & SAMPLE_GUEST_PC))
		return;
	sample_context_guest_place(m, slot, ev->mode, &c);
	m->task[slot].guest_place = (uint16_t)put_place(e, &c, ev->guest_pc, m->last_guest[5]);
	m->last_guest[5] = ev->guest_pc;
}

static void put_sample(struct sample_encoder *e, const struct sample_event *ev, uint32_t slot)
{
	struct sample_model *m = &e->model;
	uint32_t mode = ev->mode & 7;

	put_mode(e, &m->mode[m->task[slot].mode][m->kind[0]], ev->mode);
	put_known(e, &m->guest_same[mode], &m->guest[mode], ev->guest);
	put_weight(e, ev->weight);
	put_chain(e, ev, slot);
	put_guest(e, ev, slot);
	put_guest_place(e, ev, slot);
	if (ev->guest)
		sample_model_learn_spot(m, ev);
}

/* Where the guest was when it was left. Its line is no difference: guests are left in the same few places. */
static void put_spot(struct sample_encoder *e, const struct sample_event *ev, uint32_t slot)
{
	struct sample_model *m = &e->model;
	bool other = !sample_model_is_spot(m, ev);
	struct sample_context c;
	uint32_t mode = ev->mode & 7;

	range_encode_bit(&e->rc, sample_model_spot_same(m), other);
	if (!other)
		return;
	put_mode(e, &m->exit_mode[m->spot.mode & 7], ev->mode);
	put_known(e, &m->exit_same[mode], &m->exit_guest[mode], ev->guest);
	put_guest(e, ev, slot);
	if (ev->guest & SAMPLE_GUEST_PC) {
		sample_context_exit_place(m, slot, ev->mode, &c);
		put_place(e, &c, ev->guest_pc, 0);
	}
	sample_model_learn_spot(m, ev);
}

static uint32_t put_next(struct sample_encoder *e, const struct sample_event *ev, uint32_t slot)
{
	struct sample_context c;

	sample_context_next(&e->model, ev, slot, &c);
	return put_who(e, &c, &ev->next);
}

void sample_encoder_init(struct sample_encoder *e)
{
	e->fresh = true;
	e->events = 0;
	sample_model_init(&e->model);
}

void sample_encoder_begin(struct sample_encoder *e, uint8_t *out, uint32_t room, uint64_t tick)
{
	range_encode_begin(&e->rc, out);
	e->room = room;
	e->events = 0;
	if (e->fresh)
		e->model.tick = tick;
	e->fresh = false;
}

enum wire_status sample_encode(struct sample_encoder *e, const struct sample_event *ev)
{
	uint32_t slot, next = 0, frames = 0;

	if (ev->kind >= SAMPLE_KINDS)
		return WIRE_CORRUPT;
	if (ev->kind == SAMPLE_TAKEN)
		frames = (uint32_t)ev->n_kernel + ev->n_user;
	if (frames > SAMPLE_CHAIN_MAX)
		return WIRE_CORRUPT;
	if (e->rc.pos + SAMPLE_EVENT_ROOM + SAMPLE_FRAME_ROOM * frames > e->room)
		return WIRE_FULL;
	range_encode_nibble(&e->rc, sample_model_kinds(&e->model), ev->kind);
	put_tick(e, ev);
	slot = put_task(e, ev);
	if (sample_shapes[ev->kind].has_value)
		put_value(e, ev, slot);
	if (sample_shapes[ev->kind].has_next)
		next = put_next(e, ev, slot);
	if (ev->kind == SAMPLE_TAKEN)
		put_sample(e, ev, slot);
	if (ev->kind == SAMPLE_EXIT)
		put_spot(e, ev, slot);
	sample_model_learn(&e->model, ev, slot, next);
	e->events++;
	return WIRE_OK;
}

uint32_t sample_encoder_end(struct sample_encoder *e)
{
	return range_encode_end(&e->rc);
}
