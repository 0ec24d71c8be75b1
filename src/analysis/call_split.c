/* SPDX-License-Identifier: MIT */
/* call_split: see call_split.h. */
#include "analysis/call_split.h"

#include <string.h>

/* So many function events against what the records say, and the records are not believed. Skew of
 * the clocks makes a few; a thread that really runs makes thousands. */
#define DOUBTS_MAX 16U

/* Bits of a task's state that say that it sleeps or is gone. What is left of a preempted one, R or
 * R+, is 0 or a bit above them, whatever the kernel's version. */
#define STATE_OFF 0xffU

const char *const call_part_words[CALL_PARTS] = {
	[CALL_USER] = "user",	    [CALL_KERNEL] = "kernel",	[CALL_PREEMPTED] = "preempted",
	[CALL_BLOCKED] = "blocked", [CALL_UNKNOWN] = "unknown",
};

void call_split_init(struct call_split_state *s, bool kernel)
{
	memset(s, 0, sizeof(*s));
	s->kernel = kernel;
}

static void leave_cpu(struct call_split_state *s, uint64_t state)
{
	s->running = false;
	s->runnable = !(state & STATE_OFF) || s->waking;
	s->waking = false;
}

static void wake(struct call_split_state *s)
{
	if (s->running)
		s->waking = true;
	else
		s->runnable = true;
}

/* The first record of a thread tells what it did before, too, but only from now on is it believed:
 * it may have been off its CPU any number of times. */
static void begin(struct call_split_state *s, const struct func_event *ev)
{
	if (s->known)
		return;
	s->known = s->any = true;
	s->running = ev->os != FUNC_OS_WAKING;
	s->runnable = s->in_call = s->waking = false;
	s->may_call = s->calls;
	s->nested = 0;
}

/* What is recorded from here on; what it was doing, the next record or call tells. */
static void set_watch(struct call_split_state *s, uint64_t value)
{
	call_split_lose(s);
	s->watched = value & FUNC_WATCH_SWITCHES;
	s->calls = value & FUNC_WATCH_SYSCALLS;
	s->gap = !value;
	s->any = true;
}

static void enter_kernel(struct call_split_state *s, const struct func_event *ev)
{
	s->running = true; /* only who has a CPU gets here */
	s->waking = false;
	s->may_call &= ev->os != FUNC_OS_SYSCALL;
	if (ev->os == FUNC_OS_SYSCALL)
		s->in_call = true;
	else
		s->nested++;
}

static void leave_kernel(struct call_split_state *s, const struct func_event *ev)
{
	s->running = true;
	s->waking = false;
	if (ev->os == FUNC_OS_SYSCALL_RETURN)
		s->in_call = s->may_call = false;
	else if (s->nested)
		s->nested--;
}

void call_split_push(struct call_split_state *s, const struct func_event *ev)
{
	if (ev->os == FUNC_OS_WATCH)
		set_watch(s, ev->value);
	if (ev->os > FUNC_OS_INTERRUPT_RETURN || s->gap)
		return; /* it says nothing about the CPU, or nothing that can be relied on */
	begin(s, ev);
	s->doubts = 0;
	switch (ev->os) {
	case FUNC_OS_SWITCH_IN:
		s->running = true;
		s->waking = false;
		break;
	case FUNC_OS_SWITCH_OUT:
		leave_cpu(s, ev->value);
		break;
	case FUNC_OS_WAKING:
		wake(s);
		break;
	case FUNC_OS_SYSCALL:
	case FUNC_OS_INTERRUPT:
		enter_kernel(s, ev);
		break;
	default:
		leave_kernel(s, ev);
	}
}

static void start(struct call_split_state *s)
{
	const struct func_event on = { .kind = FUNC_OS, .os = FUNC_OS_SWITCH_IN };

	call_split_push(s, &on);
}

void call_split_start(struct call_split_state *s)
{
	if (!s->any)
		start(s);
}

void call_split_see(struct call_split_state *s)
{
	if (!s->known && s->watched)
		start(s);
	if (!s->known)
		return;
	if (s->running)
		s->may_call = false;
	if (s->running && (s->kernel || (!s->in_call && !s->nested))) {
		s->waking = false; /* it went on running: that waking led to no switch */
		return;
	}
	if (++s->doubts >= DOUBTS_MAX)
		call_split_lose(s);
}

void call_split_lose(struct call_split_state *s)
{
	s->known = false;
	s->doubts = 0;
}

enum call_part call_split_get(const struct call_split_state *s)
{
	if (!s->known)
		return CALL_UNKNOWN;
	if (!s->running)
		return s->runnable ? CALL_PREEMPTED : CALL_BLOCKED;
	if (s->kernel || s->in_call || s->nested)
		return CALL_KERNEL;
	return s->may_call ? CALL_UNKNOWN : CALL_USER;
}
