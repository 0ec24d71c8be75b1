/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bsf_event: see bsf_event.h.
 *
 * A stamp is rounded to the nearest microsecond, as the kernel's own text rounds it, so that the
 * text made from records shows the stamps that the text made from events shows.
 */
#include "wire/bsf_event.h"

#define SECOND_NS 1000000000U
#define SECOND_LEVELS 34   /* 10^9 << 34 is the last that fits 64 bits */
#define DEADLINE_PRIO 255U /* -1, as the kernel's one byte holds it */

static const char code_letters[BSF_STATE_MAX + 1] = { 'R', 'S', 'D', 'T', 't', 'Z', 'X', 'I' };

/* A state without a code of its own is some sort of sleep: of the letters only P, K, W and N are
 * left, and a task in one of them does not want the CPU. */
static uint8_t code_of_letter(char letter)
{
	uint8_t code;

	if (letter == 'x')
		return BSF_STATE_X;
	for (code = 1; code <= BSF_STATE_MAX; code++)
		if (code_letters[code] == letter)
			return code;
	return BSF_STATE_S;
}

void bsf_context_init(struct bsf_context *c, const struct sched_dialect *d, uint32_t cpu)
{
	unsigned bit;

	memset(c, 0, sizeof(*c));
	c->cpu = cpu;
	c->state_mask = d->state_mask & ((1U << DIALECT_STATE_BITS) - 1);
	c->success = d->features & (DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT) ? 1 : 0;
	for (bit = DIALECT_STATE_BITS; bit-- > 0;) {
		c->state_codes[bit] = code_of_letter(d->state_letters[bit]);
		if (d->state_letters[bit] &&
		    code_letters[c->state_codes[bit]] == d->state_letters[bit])
			c->state_bits[c->state_codes[bit]] = 1ULL << bit;
	}
}

/* The kernel prints the lowest bit it has a letter for, so this is the state that counts. */
static uint8_t state_code(const struct bsf_context *c, uint64_t state)
{
	unsigned bit;

	for (bit = 0; bit < DIALECT_STATE_BITS; bit++)
		if (state & c->state_mask & 1ULL << bit)
			return c->state_codes[bit];
	return BSF_STATE_R;
}

static bool prio_fits(int32_t prio)
{
	return prio >= -1 && prio < (int32_t)DEADLINE_PRIO;
}

static int32_t prio_of(uint8_t prio)
{
	return prio == DEADLINE_PRIO ? -1 : prio;
}

bool bsf_can_hold(const struct sched_event *e)
{
	if (!prio_fits(e->task.prio))
		return false;
	switch (e->kind) {
	case SCHED_SWITCH:
		return prio_fits(e->other.prio);
	case SCHED_WAKING:
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		return e->value >= 0 && e->value <= (int32_t)BSF_CPU_MAX;
	default:
		return false;
	}
}

/* Where the second of `ns` starts. Time mostly goes on in the same second or to the next; only a
 * jump needs the long division, done by shifts because a 32-bit kernel has no other. */
static void find_second(struct bsf_context *c, uint64_t ns)
{
	int level;

	if (ns >= c->second_ns && ns - c->second_ns < 2ULL * SECOND_NS) {
		if (ns - c->second_ns >= SECOND_NS) {
			c->second_ns += SECOND_NS;
			c->second++;
		}
		return;
	}
	c->second = 0;
	c->second_ns = 0;
	for (level = SECOND_LEVELS; level >= 0; level--)
		if (ns - c->second_ns >= (uint64_t)SECOND_NS << level) {
			c->second_ns += (uint64_t)SECOND_NS << level;
			c->second += 1ULL << level;
		}
}

static bool set_time(struct bsf_context *c, uint64_t ns, struct bsf_record *r)
{
	ns += 500;
	if (ns < 500)
		return false;
	find_second(c, ns);
	r->secs = c->second;
	r->usec_rem = (uint32_t)(ns - c->second_ns) / 1000;
	return r->secs <= BSF_SECS_MAX;
}

/* The context follows who runs, also through events that have no record. */
static void follow(struct bsf_context *c, const struct sched_event *e)
{
	if (e->kind == SCHED_SWITCH) {
		c->running = e->other;
		c->running_known = true;
	} else if (e->kind == SCHED_RENAME && c->running.pid == e->task.pid) {
		memcpy(c->running.comm, e->other.comm, SCHED_COMM_LEN);
	} else if (e->kind == SCHED_SETPRIO && c->running.pid == e->task.pid) {
		c->running.prio = e->other.prio;
	}
}

static void set_switch(const struct bsf_context *c, const struct sched_event *e,
		       struct bsf_record *r)
{
	r->entry_type = BSF_SWITCH;
	r->prev_pid = e->task.pid;
	r->prev_prio = (uint8_t)e->task.prio;
	r->prev_state = state_code(c, e->state);
	memcpy(r->comm, e->task.comm, BSF_COMM_LEN);
	r->next_cpu = r->cpu;
	r->next_pid = e->other.pid;
	r->next_prio = (uint8_t)e->other.prio;
}

/* Prev is the waker. Where the trace has not shown it yet, it gets the name that the kernel prints
 * for a task it does not know. */
static void set_wakeup(const struct bsf_context *c, const struct sched_event *e,
		       struct bsf_record *r)
{
	bool known = c->running_known && c->running.pid == e->pid;

	r->entry_type = e->kind == SCHED_WAKING	  ? BSF_WAKING
			: e->kind == SCHED_WAKEUP ? BSF_WAKEUP
						  : BSF_WAKEUP_NEW;
	r->prev_pid = e->pid;
	if (known && prio_fits(c->running.prio))
		r->prev_prio = (uint8_t)c->running.prio;
	if (known)
		memcpy(r->comm, c->running.comm, BSF_COMM_LEN);
	else if (e->pid == 0)
		memcpy(r->comm, "<idle>", 6);
	else
		memcpy(r->comm, "<...>", 5);
	r->next_cpu = (uint16_t)e->value;
	r->next_pid = e->task.pid;
	r->next_prio = (uint8_t)e->task.prio;
}

bool bsf_from_event(struct bsf_context *c, const struct sched_event *e, uint64_t ns,
		    struct bsf_record *ret)
{
	bool held = bsf_can_hold(e) && c->cpu <= BSF_CPU_MAX;

	memset(ret, 0, sizeof(*ret));
	held = held && set_time(c, ns, ret);
	if (held) {
		ret->cpu = (uint16_t)c->cpu;
		ret->entry_pid = e->pid;
		if (e->kind == SCHED_SWITCH)
			set_switch(c, e, ret);
		else
			set_wakeup(c, e, ret);
	}
	follow(c, e);
	return held;
}

uint32_t bsf_event_lacks(const struct bsf_context *c, const struct sched_event *e, uint64_t ns)
{
	struct bsf_context copy = *c;
	struct bsf_record r;
	struct sched_event back;
	uint32_t lacks = 0;

	if (!bsf_from_event(&copy, e, ns, &r))
		return BSF_LACK_EVENT;
	bsf_to_event(c, &r, &back);
	if (back.tick != ns)
		lacks |= BSF_LACK_TIME;
	if (e->flags || e->preempt_count)
		lacks |= BSF_LACK_FLAGS;
	if (back.state != e->state)
		lacks |= BSF_LACK_STATE;
	if (memcmp(back.task.comm, e->task.comm, SCHED_COMM_LEN) ||
	    memcmp(back.other.comm, e->other.comm, SCHED_COMM_LEN))
		lacks |= BSF_LACK_NAME;
	if (back.extra != e->extra)
		lacks |= BSF_LACK_SUCCESS;
	return lacks;
}

void bsf_to_event(const struct bsf_context *c, const struct bsf_record *r, struct sched_event *ret)
{
	static const uint8_t kinds[BSF_TYPE_MAX + 1] = { SCHED_SWITCH, SCHED_WAKEUP, SCHED_WAKING,
							 SCHED_WAKEUP_NEW };

	memset(ret, 0, sizeof(*ret));
	ret->kind = kinds[r->entry_type & BSF_TYPE_MAX];
	ret->tick = r->secs * SECOND_NS + (uint64_t)r->usec_rem * 1000;
	ret->pid = r->entry_pid;
	if (ret->kind == SCHED_SWITCH) {
		ret->state = c->state_bits[r->prev_state & BSF_STATE_MAX];
		ret->task.pid = r->prev_pid;
		ret->task.prio = prio_of(r->prev_prio);
		memcpy(ret->task.comm, r->comm, SCHED_COMM_LEN);
		ret->other.pid = r->next_pid;
		ret->other.prio = prio_of(r->next_prio);
		return;
	}
	ret->task.pid = r->next_pid;
	ret->task.prio = prio_of(r->next_prio);
	ret->value = r->next_cpu;
	ret->extra = c->success;
}

const char *bsf_next_comm(const struct bsf_entry *first, size_t count, size_t i)
{
	int32_t pid = first[i].rec.next_pid;
	const struct bsf_record *r;
	size_t reach;

	for (reach = 1; reach <= BSF_NAME_REACH && reach < count - i; reach++) {
		r = &first[i + reach].rec;
		if (r->entry_type == BSF_SWITCH && r->prev_pid == pid)
			return r->comm;
	}
	for (reach = 1; reach <= BSF_NAME_REACH && reach <= i; reach++) {
		r = &first[i - reach].rec;
		if (r->entry_type == BSF_SWITCH && r->prev_pid == pid)
			return r->comm;
	}
	return NULL;
}
