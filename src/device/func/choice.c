/* SPDX-License-Identifier: MIT */
/*
 * choice: see choice.h.
 *
 * Frames that longjmp passed over are closed by the next return of a call outside of them; and where
 * frames run out, those are dropped that lie deeper in the stack than the thread does. Calls for
 * which there is no frame even then are counted as lost.
 */
#include "device/func/choice.h"

#include "device/func/slot.h"

enum choice_state {
	CHOICE_LEFT_OUT = 0,
	CHOICE_WAITS = 1,    /* to last long enough */
	CHOICE_RECORDED = 2, /* its entry is */
	CHOICE_GOES = 3,     /* it was too short: left out, as soon as `filtered` has changed */
};

enum choice_role {
	ROLE_TREE = 1,	 /* RULE_TREE means it */
	ROLE_HIDES = 2,	 /* what it calls is left out */
	ROLE_SAMPLE = 4, /* a tree of which one of so many is taken */
};

static uint16_t find_bits(struct gate *g, uint64_t function)
{
	const struct maps_range *r;
	uint16_t bits = 0;

	if (!g->maps || !gate_lock(g))
		return 0;
	r = g->maps ? maps_find(g->maps, function) : NULL; /* there may be none after a fork */
	if (!r && g->maps) {
		gate_map(g);
		r = maps_find(g->maps, function);
	}
	if (r)
		bits = rules_find(&gate_settings.rules, maps_path(g->maps, r),
				  function - r->from + r->offset);
	gate_unlock(g);
	return bits;
}

/* What the rules say of a function, asked once. */
static uint16_t get_bits(struct gate *g, struct choice *c, uint64_t function)
{
	uint32_t at = ((uint32_t)function ^ (uint32_t)(function >> 32)) * 0x9e3779b1U >> 21;

	if (!gate_settings.rules.n)
		return 0;
	if (c->generation != gate_generation(g)) {
		c->generation = gate_generation(g);
		memset(c->function, 0, sizeof(c->function));
	}
	if (c->function[at] != function) {
		c->bits[at] = find_bits(g, function);
		c->function[at] = function;
	}
	return c->bits[at];
}

static void start(struct gate *g)
{
	__atomic_store_n(&g->running, 1, __ATOMIC_RELAXED);
}

static void stop(struct gate *g)
{
	__atomic_store_n(&g->running, 0, __ATOMIC_RELAXED);
}

static bool is_running(const struct gate *g)
{
	return __atomic_load_n(&g->running, __ATOMIC_RELAXED);
}

/* One more event may be recorded; the last one turns recording off. */
static bool take_ticket(struct gate *g)
{
	uint32_t left;

	if (!gate_settings.limit)
		return true;
	do {
		left = __atomic_load_n(&g->left, __ATOMIC_RELAXED);
		if (!left)
			return false;
	} while (!__atomic_compare_exchange_n(&g->left, &left, left - 1, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	if (left == 1)
		word_put(g->header + FUNC_BUFFER_AT_ON, 0);
	return true;
}

static bool record(struct gate *g, struct slot *t, uint8_t kind, uint64_t function, uint64_t tick)
{
	struct func_event ev = { .tick = tick, .value = function, .kind = kind };

	if (!take_ticket(g)) {
		slot_filter(t, 1);
		return false;
	}
	slot_push(g, t, &ev);
	return true;
}

/* The frames that wait up to this one have waited long enough. */
static void release(struct gate *g, struct slot *t, uint32_t depth)
{
	struct choice *c = &t->choice;

	for (; c->waiting < depth; c->waiting++) {
		struct choice_frame *f = &c->frame[c->waiting];

		if (f->state == CHOICE_WAITS && record(g, t, FUNC_ENTER, f->function, f->tick))
			f->state = CHOICE_RECORDED;
		else if (f->state == CHOICE_WAITS)
			f->state = CHOICE_LEFT_OUT;
	}
}

/* The innermost frame ends; whether something is recorded of that is the caller's. */
static struct choice_frame *pop(struct choice *c)
{
	struct choice_frame *f = &c->frame[--c->depth];

	c->trees -= !!(f->role & ROLE_TREE);
	c->hidden -= !!(f->role & ROLE_HIDES);
	c->sampling -= !!(f->role & ROLE_SAMPLE);
	if (c->waiting > c->depth)
		c->waiting = c->depth;
	return f;
}

/* The innermost frame was left without a return. */
static void drop(struct gate *g, struct slot *t, uint64_t tick)
{
	struct choice *c = &t->choice;
	struct choice_frame *f = &c->frame[c->depth - 1];

	if (f->state == CHOICE_WAITS && tick - f->tick >= g->min_ticks)
		release(g, t, c->depth);
	else if (f->state == CHOICE_WAITS)
		slot_filter(t, 1);
	pop(c);
}

/* What this call means for those inside of it. */
static void take_role(struct choice *c, struct choice_frame *f)
{
	const struct settings *s = &gate_settings;
	bool sampled = f->bits & RULE_SAMPLE || c->depth == s->sample_depth;

	if (f->bits & RULE_TREE) {
		if (!c->trees++)
			c->root = c->depth;
		f->role |= ROLE_TREE;
	}
	if (s->sample > 1 && sampled && !c->sampling) {
		c->sampling++;
		f->role |= ROLE_SAMPLE;
		if (c->turn++ % s->sample)
			f->role |= ROLE_HIDES;
	}
	if (f->bits & RULE_NOTREE)
		f->role |= ROLE_HIDES;
	c->hidden += !!(f->role & ROLE_HIDES);
}

/* Is a call of this function at this depth to be recorded, its time aside? */
static bool is_wanted(const struct gate *g, const struct choice *c, uint16_t bits, uint32_t depth)
{
	const struct settings *s = &gate_settings;

	if (!is_running(g) || c->hidden || bits & RULE_NOT)
		return false;
	if (s->rules.bits & RULE_ONLY && !(bits & RULE_ONLY))
		return false;
	if (s->rules.bits & RULE_TREE) {
		if (!c->trees)
			return false;
		depth -= c->root - 1;
	}
	return !s->depth || depth <= s->depth;
}

/* It waits, and counts when it no longer does. */
static void park(struct slot *t, struct choice_frame *f)
{
	slot_settle(t);
	f->state = CHOICE_WAITS;
}

static void enter(struct gate *g, struct slot *t, const struct func_event *ev, uintptr_t sp)
{
	struct choice *c = &t->choice;
	struct choice_frame *f;

	if (c->depth == CHOICE_FRAMES)
		while (c->depth && c->frame[c->depth - 1].sp < sp)
			drop(g, t, ev->tick);
	if (c->depth == CHOICE_FRAMES) {
		c->over++;
		slot_lose(t);
		return;
	}
	f = &c->frame[c->depth];
	f->function = ev->value;
	f->tick = ev->tick;
	f->sp = sp;
	f->bits = get_bits(g, c, ev->value);
	f->role = 0;
	f->state = CHOICE_LEFT_OUT;
	c->depth++;
	take_role(c, f);
	if (f->bits & RULE_START_ENTRY)
		start(g);
	if (!is_wanted(g, c, f->bits, c->depth))
		slot_filter(t, 1);
	else if (g->min_ticks)
		park(t, f);
	else if (record(g, t, FUNC_ENTER, ev->value, ev->tick))
		f->state = CHOICE_RECORDED;
	if (c->waiting == c->depth - 1 && f->state != CHOICE_WAITS)
		c->waiting = c->depth;
	if (f->bits & RULE_STOP_ENTRY)
		stop(g);
}

/* A call that waited was too short: it and its return are left out. Frame and count cannot change at once, and who is left by a jump in
 * between must not count the call again: so the frame says what to look at. */
static void leave_out(struct slot *t, struct choice_frame *f)
{
	t->choice.filtered = (uint32_t)word_get64(&t->filtered);
	IN_ORDER();
	f->state = CHOICE_GOES;
	IN_ORDER();
	slot_filter(t, 2);
	IN_ORDER();
}

/* The return of a call that has a frame. */
static void leave(struct gate *g, struct slot *t, const struct func_event *ev)
{
	struct choice *c = &t->choice;
	struct choice_frame *f = &c->frame[c->depth - 1];

	if (f->state == CHOICE_WAITS && ev->tick - f->tick >= g->min_ticks && is_running(g))
		release(g, t, c->depth);
	if (f->state == CHOICE_RECORDED && is_running(g)) {
		record(g, t, FUNC_EXIT, ev->value, ev->tick);
	} else if (f->state == CHOICE_WAITS) {
		leave_out(t, f);
	} else {
		slot_filter(t, 1);
		if (f->state == CHOICE_RECORDED) {
			func_hook_pass_exit(&t->hook, ev->value);
			slot_break(t);
		}
	}
	pop(c);
}

/* The return of a call that began before recording did. */
static void leave_unknown(struct gate *g, struct slot *t, const struct func_event *ev,
			  uint16_t bits)
{
	if (is_wanted(g, &t->choice, bits, t->choice.depth + 1) &&
	    !(gate_settings.rules.bits & RULE_TREE))
		record(g, t, FUNC_EXIT, ev->value, ev->tick);
	else
		slot_filter(t, 1);
}

static void leave_any(struct gate *g, struct slot *t, const struct func_event *ev, uintptr_t sp)
{
	struct choice *c = &t->choice;
	uint16_t bits = get_bits(g, c, ev->value);
	uint32_t at;

	if (c->over && c->frame[c->depth - 1].sp <= sp)
		c->over = 0; /* it was left in one go */
	if (c->over) {
		c->over--;
		slot_lose(t);
		return;
	}
	for (at = c->depth; at && c->frame[at - 1].function != ev->value; at--)
		;
	while (at && c->depth > at)
		drop(g, t, ev->tick);
	if (at)
		leave(g, t, ev);
	else
		leave_unknown(g, t, ev, bits);
	if (bits & RULE_START_EXIT)
		start(g);
	if (bits & RULE_STOP_EXIT)
		stop(g);
}

/* It waited, and nobody has counted it yet. */
static bool is_pending(const struct slot *t, const struct choice_frame *f)
{
	if (f->state == CHOICE_GOES)
		return (uint32_t)word_get64(&t->filtered) == t->choice.filtered;
	return f->state == CHOICE_WAITS;
}

/* No signal comes in between: who is left by a jump halfway would count a frame twice. */
void choice_reset(struct slot *t)
{
	struct choice *c = &t->choice;
	struct sys_signals held;

	sys_hold_signals(&held);
	for (; c->depth; c->depth--)
		if (is_pending(t, &c->frame[c->depth - 1]))
			word_add64(&t->lost, 1);
	memset(c, 0, offsetof(struct choice, frame));
	sys_release_signals(&held);
}

void choice_push(struct gate *g, struct slot *t, const struct func_event *ev, uintptr_t sp)
{
	if (ev->kind == FUNC_ENTER)
		enter(g, t, ev, sp);
	else
		leave_any(g, t, ev, sp);
}
