/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sample_decode: see sample_decode.h; mirrors sample_encode.c function by function. */
#include "wire/sample_decode.h"

static uint64_t get_raw(struct sample_decoder *d, uint32_t bits)
{
	uint64_t v = 0;

	while (bits > 16) {
		bits -= 16;
		v = v << 16 | range_decode_raw(&d->rc, 16);
	}
	return bits ? v << bits | range_decode_raw(&d->rc, bits) : v;
}

/* `hint` has what it was the last time, which it mostly is again. */
static uint32_t get_size(struct sample_decoder *d, struct nibble_model *high,
			 struct bit_model low[16][4], uint8_t *hint)
{
	uint32_t top = range_decode_guess(&d->rc, high, *hint), size;

	*hint = (uint8_t)top;
	size = range_decode_bit(&d->rc, &low[top][1]);
	size = size << 1 | range_decode_bit(&d->rc, &low[top][2 + size]);
	return top << 2 | size;
}

static uint64_t get_rest(struct sample_decoder *d, struct nibble_model *more, uint32_t size)
{
	uint32_t top = size < 4 ? size : 4;
	uint64_t v = 1;

	if (top)
		v = v << top | (range_decode_nibble(&d->rc, more) & ((1U << top) - 1));
	return v << (size - top) | get_raw(d, size - top);
}

static uint64_t get_signed(struct sample_decoder *d, enum sample_number use)
{
	struct sample_size *s = &d->model.number[use];
	uint32_t sign = range_decode_nibble(&d->rc, &s->sign), size;
	uint64_t v;

	if (sign == SAMPLE_SIGN_NONE)
		return 0;
	d->corrupt |= sign > SAMPLE_SIGN_DOWN;
	size = get_size(d, &s->high, s->low, &d->hint.number[use]);
	if (size >= 4)
		v = (1ULL << (size - 4) | get_raw(d, size - 4)) << 4 |
		    range_decode_nibble(&d->rc, &s->last);
	else
		v = 1ULL << size | get_raw(d, size);
	return sign == SAMPLE_SIGN_DOWN ? 0 - v : v;
}

static uint32_t get_slot(struct sample_decoder *d, struct sample_tree *t)
{
	uint32_t slot = range_decode_nibble(&d->rc, &t->high);

	slot = slot << 4 | range_decode_nibble(&d->rc, &t->middle[slot]);
	slot = slot << 4 | range_decode_nibble(&d->rc, &t->low[slot]);
	return slot << 1 | range_decode_raw(&d->rc, 1);
}

/* Returns the word's slot, of which the class FRAME may have SAMPLE_SLOT_END. */
static uint32_t get_word(struct sample_decoder *d, enum sample_class of,
			 const struct sample_context *c, uint64_t near)
{
	struct sample_model *m = &d->model;
	struct sample_guesses g;
	uint32_t slot, rank;

	sample_guess(m, of, c, &g);
	rank = range_decode_guess(&d->rc, g.rank, 0);
	if (rank == 0) {
		slot = g.guess[0]->first;
	} else if (rank < SAMPLE_RANKS) {
		slot = sample_guesses_get(&g, rank);
	} else if (rank == SAMPLE_RANK_KNOWN) {
		slot = get_slot(d, sample_model_tree(m, of));
	} else {
		d->corrupt |= rank != SAMPLE_RANK_NEW;
		slot = sample_model_add(m, near + get_signed(d, (enum sample_number)of));
	}
	if (slot >= SAMPLE_SLOTS || (slot == SAMPLE_SLOT_END && of != SAMPLE_FRAME)) {
		d->corrupt = true;
		slot = SAMPLE_SLOT_END;
	}
	sample_guesses_learn(&g, slot);
	return slot;
}

/* An address; its line's slot goes to *ret_slot. */
static uint64_t get_place(struct sample_decoder *d, const struct sample_context *c, uint64_t near,
			  uint16_t *ret_slot)
{
	struct sample_model *m = &d->model;
	uint32_t slot = get_word(d, SAMPLE_LINE, c, 0), high, low;
	uint64_t line =
		(m->word[slot] + (near >> SAMPLE_LINE_BITS)) & (UINT64_MAX >> SAMPLE_LINE_BITS);

	high = range_decode_nibble(&d->rc, sample_model_high(m, line));
	nibble_model_update(&m->all_high, high);
	low = range_decode_nibble(&d->rc, sample_model_low(m, line, high));
	nibble_model_update(&m->all_low[high], low);
	*ret_slot = (uint16_t)slot;
	return line << SAMPLE_LINE_BITS | high << 4 | low;
}

static uint64_t get_size_of(struct sample_decoder *d, enum sample_number use,
			    struct nibble_model *more)
{
	struct sample_size *s = &d->model.number[use];
	uint32_t sign = range_decode_nibble(&d->rc, &s->sign), size;
	uint64_t v;

	d->corrupt |= sign > SAMPLE_SIGN_DOWN;
	if (sign == SAMPLE_SIGN_NONE)
		return 0;
	size = get_size(d, &s->high, s->low, &d->hint.number[use]);
	v = get_rest(d, &more[size], size);
	return sign == SAMPLE_SIGN_DOWN ? 0 - v : v;
}

static uint64_t get_tick(struct sample_decoder *d, uint32_t kind)
{
	struct sample_model *m = &d->model;
	uint32_t time = sample_model_time(m, kind), size;

	if (sample_model_is_due(m, kind))
		return m->due.tick + get_size_of(d, SAMPLE_NUMBER_LATE, m->late_more);
	if (range_decode_bit(&d->rc, &m->time_back[kind]))
		return m->tick + get_signed(d, SAMPLE_NUMBER_BACK);
	size = get_size(d, &m->time[time], m->time_low[kind], &d->hint.time[time]);
	return m->tick + get_rest(d, sample_model_more(m, time, size), size) - 1;
}

static void get_comm(struct sample_decoder *d, char *comm)
{
	struct sample_model *m = &d->model;
	uint32_t i, len = range_decode_nibble(&d->rc, &m->comm_length), byte = 0, last, high;

	if (len == 15)
		len += range_decode_bit(&d->rc, &m->choice[SAMPLE_CHOICE_LONG]);
	memset(comm, 0, SCHED_COMM_LEN);
	for (i = 0; i < len; i++) {
		last = byte;
		high = range_decode_nibble(&d->rc, &m->comm_high[last >> 2]);
		byte = high << 4 | range_decode_nibble(&d->rc, &m->comm_low[high][last >> 4]);
		comm[i] = (char)byte;
	}
}

static int32_t add_signed(int32_t a, uint64_t b)
{
	return (int32_t)((uint32_t)a + (uint32_t)b);
}

static uint32_t get_new_task(struct sample_decoder *d)
{
	struct sample_model *m = &d->model;
	struct sample_task *s;
	uint32_t slot;

	m->last_tid = add_signed(m->last_tid, get_signed(d, SAMPLE_NUMBER_TID));
	slot = sample_model_add_task(m, m->last_tid);
	s = &m->task[slot].task;
	if (range_decode_bit(&d->rc, &m->choice[SAMPLE_CHOICE_PID]))
		s->pid = add_signed(s->pid, get_signed(d, SAMPLE_NUMBER_PID));
	if (range_decode_bit(&d->rc, &m->choice[SAMPLE_CHOICE_VCPU]))
		s->vcpu = add_signed(s->vcpu, get_signed(d, SAMPLE_NUMBER_VCPU));
	if (range_decode_bit(&d->rc, &m->choice[SAMPLE_CHOICE_COMM]))
		get_comm(d, s->comm);
	else
		memmove(s->comm, sample_model_comm(m, slot), SCHED_COMM_LEN);
	sample_model_name_task(m, slot);
	return slot;
}

static uint32_t get_who(struct sample_decoder *d, const struct sample_context *c)
{
	struct sample_model *m = &d->model;
	struct sample_guesses g;
	uint32_t slot, rank;

	sample_guess(m, SAMPLE_WHO, c, &g);
	rank = range_decode_guess(&d->rc, g.rank, 0);
	if (rank < SAMPLE_RANKS) {
		slot = sample_guesses_get(&g, rank);
	} else if (rank == SAMPLE_RANK_KNOWN) {
		slot = range_decode_nibble(&d->rc, &m->task_high);
		slot = slot << 4 | range_decode_nibble(&d->rc, &m->task_low[slot]);
	} else {
		d->corrupt |= rank != SAMPLE_RANK_NEW;
		slot = get_new_task(d);
	}
	if (slot >= m->n_tasks) {
		d->corrupt = true;
		slot = 0;
	}
	sample_guesses_learn(&g, slot);
	return slot;
}

static uint32_t get_task(struct sample_decoder *d, uint32_t kind)
{
	struct sample_model *m = &d->model;
	struct sample_context c;

	if (!range_decode_bit(&d->rc, &m->is_cur[m->kind[0]][kind]))
		return m->cur;
	sample_context_task(m, &c);
	return get_who(d, &c);
}

static uint64_t get_poll(struct sample_decoder *d, uint32_t *ret_size)
{
	uint64_t ns = get_size_of(d, SAMPLE_NUMBER_POLL, d->model.poll_more);

	*ret_size = sample_bit_length(ns);
	return ns;
}

static void get_value(struct sample_decoder *d, struct sample_event *ret, uint32_t slot)
{
	struct sample_model *m = &d->model;
	struct sample_context c;
	uint32_t value;

	if (ret->kind == SAMPLE_POLL) {
		ret->value = get_poll(d, &value);
	} else {
		sample_context_value(m, ret->kind, slot, &c);
		value = get_word(d, SAMPLE_VALUE, &c, 0);
		ret->value = m->word[value];
	}
	sample_context_detail(ret->kind, slot, value, &c);
	ret->detail = m->word[get_word(d, SAMPLE_DETAIL, &c, m->last_detail)];
	m->last_detail = ret->detail;
	sample_model_learn_value(m, ret->kind, slot, value);
}

static uint8_t get_mode(struct sample_decoder *d, struct nibble_model *model, uint32_t guess)
{
	uint32_t mode = range_decode_guess(&d->rc, model, guess);

	if (mode == 15) {
		mode = range_decode_raw(&d->rc, 8);
		d->corrupt |= mode < 15;
	}
	return (uint8_t)mode;
}

static uint8_t get_known(struct sample_decoder *d, struct bit_model *same, uint8_t *last)
{
	if (range_decode_bit(&d->rc, same))
		*last = (uint8_t)range_decode_raw(&d->rc, 8);
	return *last;
}

static uint64_t get_weight(struct sample_decoder *d)
{
	struct sample_model *m = &d->model;
	uint32_t i = range_decode_guess(&d->rc, &m->weight, 0);
	uint64_t weight;

	d->corrupt |= i > SAMPLE_WEIGHT_OTHER;
	weight = i < SAMPLE_WEIGHTS ? m->weights[i]
				    : m->weights[0] + get_signed(d, SAMPLE_NUMBER_WEIGHT);
	sample_model_learn_weight(m, weight);
	return weight;
}

/* Callers from the outermost on, into d->chain from its end down, where n are; returns how many are there then. */
static uint32_t get_callers(struct sample_decoder *d, struct sample_walk *w, uint32_t n)
{
	struct sample_context c;
	uint32_t slot;

	for (;;) {
		sample_walk_context(w, &c);
		slot = get_word(d, SAMPLE_FRAME, &c, 0);
		if (slot == SAMPLE_SLOT_END)
			break;
		/* One place is left for where it was. */
		if (n >= SAMPLE_CHAIN_MAX - 1 || d->corrupt || range_decode_overrun(&d->rc)) {
			d->corrupt = true;
			break;
		}
		sample_walk_next(w, slot, w->near + d->model.word[slot]);
		d->chain[SAMPLE_CHAIN_MAX - 1 - n] = w->near;
		n++;
	}
	sample_walk_next(w, SAMPLE_SLOT_END, w->near);
	return n;
}

static void get_chain(struct sample_decoder *d, struct sample_event *ret, uint32_t slot)
{
	struct sample_model *m = &d->model;
	uint8_t *hint = &d->hint.shape[ret->mode & 7];
	uint32_t shape = range_decode_guess(&d->rc, &m->shape[ret->mode & 7], *hint);
	uint32_t at, n = 0, user = 0;
	struct sample_walk w;
	struct sample_context c;
	bool kernel = shape & SAMPLE_SHAPE_KERNEL;

	*hint = (uint8_t)shape;
	d->corrupt |= shape >= SAMPLE_SHAPES;
	if (!shape)
		return;
	sample_walk_init(&w, m, slot, shape);
	if (shape & SAMPLE_SHAPE_USER) {
		n = get_callers(d, &w, n);
		user = n + !kernel;
	}
	if (kernel) {
		sample_walk_enter(&w, m);
		n = get_callers(d, &w, n);
	}
	d->corrupt |= (shape & SAMPLE_SHAPE_USER) && !user;
	sample_context_place(m, &w, slot, ret->mode, &c);
	at = SAMPLE_CHAIN_MAX - 1 - n;
	d->chain[at] = get_place(d, &c, w.near, &m->task[slot].place);
	if (user)
		m->task[slot].root = d->chain[SAMPLE_CHAIN_MAX - 1];
	if (kernel)
		m->kernel_root = d->chain[SAMPLE_CHAIN_MAX - 1 - user];
	ret->chain = d->chain + at;
	ret->n_user = (uint16_t)user;
	ret->n_kernel = (uint16_t)(n + 1 - user);
}

static uint32_t get_guest_word(struct sample_decoder *d, const struct sample_context *c,
			       uint32_t field, uint64_t *ret)
{
	uint64_t *near = &d->model.last_guest[field];
	uint32_t slot = get_word(d, SAMPLE_SPACE, c, *near);

	*ret = *near = d->model.word[slot];
	return slot;
}

static void get_guest(struct sample_decoder *d, struct sample_event *ret, uint32_t slot)
{
	struct sample_model *m = &d->model;
	struct sample_slot *s = &m->task[slot];
	struct sample_context c;
	uint32_t known = s->table;

	if (ret->guest & SAMPLE_GUEST_TABLE) {
		sample_context_guest(SAMPLE_USE_TABLE, slot, known, ret->mode, &c);
		known = get_guest_word(d, &c, 0, &ret->guest_table);
		s->table = (uint16_t)known;
	}
	if (ret->guest & SAMPLE_GUEST_CONTEXT) {
		sample_context_guest(SAMPLE_USE_CONTEXT, slot, known, ret->mode, &c);
		known = get_guest_word(d, &c, 1, &ret->guest_context);
	}
	if (ret->guest & SAMPLE_GUEST_TASK) {
		sample_context_guest(SAMPLE_USE_GUEST_TASK, slot, known, ret->mode, &c);
		get_guest_word(d, &c, 2, &ret->guest_task);
	}
	if (ret->guest & SAMPLE_GUEST_REASON) {
		sample_context_guest(SAMPLE_USE_REASON, slot, s->reason | (uint32_t)s->before << 13,
				     0, &c);
		known = get_guest_word(d, &c, 3, &ret->reason);
		sample_context_guest(SAMPLE_USE_REASON_DETAIL, slot, known, 0, &c);
		get_guest_word(d, &c, 4, &ret->reason_detail);
	}
}

static void get_guest_place(struct sample_decoder *d, struct sample_event *ret, uint32_t slot)
{
	struct sample_model *m = &d->model;
	struct sample_context c;

	if (!(ret->guest & SAMPLE_GUEST_PC))
		return;
	sample_context_guest_place(m, slot, ret->mode, &c);
	ret->guest_pc = get_place(d, &c, m->last_guest[5], &m->task[slot].guest_place);
	m->last_guest[5] = ret->guest_pc;
}

static void get_sample(struct sample_decoder *d, struct sample_event *ret, uint32_t slot)
{
	struct sample_model *m = &d->model;
	uint32_t mode;

	ret->mode = get_mode(d, &m->mode[m->task[slot].mode][m->kind[0]], m->task[slot].mode);
	mode = ret->mode & 7;
	ret->guest = get_known(d, &m->guest_same[mode], &m->guest[mode]);
	ret->weight = get_weight(d);
	get_chain(d, ret, slot);
	get_guest(d, ret, slot);
	get_guest_place(d, ret, slot);
	if (ret->guest)
		sample_model_learn_spot(m, ret);
}

static void get_spot(struct sample_decoder *d, struct sample_event *ret, uint32_t slot)
{
	struct sample_model *m = &d->model;
	struct sample_context c;
	uint32_t mode;
	uint16_t line;

	if (!range_decode_bit(&d->rc, sample_model_spot_same(m))) {
		sample_model_get_spot(m, ret);
		return;
	}
	ret->mode = get_mode(d, &m->exit_mode[m->spot.mode & 7], m->spot.mode & 7);
	mode = ret->mode & 7;
	ret->guest = get_known(d, &m->exit_same[mode], &m->exit_guest[mode]);
	get_guest(d, ret, slot);
	if (ret->guest & SAMPLE_GUEST_PC) {
		sample_context_exit_place(m, slot, ret->mode, &c);
		ret->guest_pc = get_place(d, &c, 0, &line);
	}
	sample_model_learn_spot(m, ret);
}

static uint32_t get_next(struct sample_decoder *d, struct sample_event *ret, uint32_t slot)
{
	struct sample_context c;
	uint32_t next;

	sample_context_next(&d->model, ret, slot, &c);
	next = get_who(d, &c);
	ret->next = d->model.task[next].task;
	return next;
}

static uint32_t get_kind(struct sample_decoder *d)
{
	struct nibble_model *m = sample_model_kinds(&d->model);
	uint8_t *hint = &d->hint.kind[m - &d->model.kinds[0][0][0]];

	*hint = (uint8_t)range_decode_guess(&d->rc, m, *hint);
	return *hint;
}

void sample_decoder_init(struct sample_decoder *d)
{
	memset(&d->hint, 0, sizeof(d->hint));
	d->fresh = true;
	d->corrupt = false;
	sample_model_init(&d->model);
}

enum wire_status sample_decoder_begin(struct sample_decoder *d, const uint8_t *in, uint32_t len,
				      uint64_t tick)
{
	if (d->corrupt)
		return WIRE_CORRUPT;
	range_decode_begin(&d->rc, in, len);
	if (d->fresh)
		d->model.tick = tick;
	d->fresh = false;
	return WIRE_OK;
}

enum wire_status sample_decode(struct sample_decoder *d, struct sample_event *ret)
{
	uint32_t kind, slot, next = 0;

	if (d->corrupt || d->fresh)
		return WIRE_CORRUPT;
	memset(ret, 0, sizeof(*ret));
	ret->chain = d->chain;
	kind = get_kind(d);
	if (kind >= SAMPLE_KINDS) {
		d->corrupt = true;
		return WIRE_CORRUPT;
	}
	ret->kind = (uint8_t)kind;
	ret->tick = get_tick(d, kind);
	slot = get_task(d, kind);
	ret->task = d->model.task[slot].task;
	if (sample_shapes[kind].has_value)
		get_value(d, ret, slot);
	if (sample_shapes[kind].has_next)
		next = get_next(d, ret, slot);
	if (kind == SAMPLE_TAKEN)
		get_sample(d, ret, slot);
	if (kind == SAMPLE_EXIT)
		get_spot(d, ret, slot);
	if (d->corrupt || range_decode_overrun(&d->rc)) {
		d->corrupt = true;
		return WIRE_CORRUPT;
	}
	sample_model_learn(&d->model, ret, slot, next);
	return WIRE_OK;
}

enum wire_status sample_decoder_end(struct sample_decoder *d)
{
	if (d->corrupt)
		return WIRE_CORRUPT;
	return d->rc.pos + 4 < d->rc.len ? WIRE_CORRUPT : WIRE_OK;
}
