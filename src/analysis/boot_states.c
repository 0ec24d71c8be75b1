/* SPDX-License-Identifier: MIT */
/*
 * boot_states: see boot_states.h.
 *
 * The rules for a task are the tracker's (tracker.h): a wakeup that comes while it is still on its way out
 * counts from when it has left; one who is woken twice has run in between, and nobody saw it.
 */
#include "analysis/boot_states.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One task on its way through its changes. */
struct walk {
	struct boot_states *to;
	size_t first;	/* its steps begin here */
	bool is_woken;	/* it is runnable because it was woken */
	bool is_early;	/* it was woken while it still had its CPU */
	uint32_t early; /* and by whom */
};

static int push(struct boot_states *s, struct boot_state_step step)
{
	size_t room = s->room ? s->room * 2 : 64;
	struct boot_state_step *list;

	if (s->n == s->room) {
		list = realloc(s->list, room * sizeof(*list));
		if (!list)
			return -ENOMEM;
		s->list = list;
		s->room = room;
	}
	s->list[s->n++] = step;
	return 0;
}

static struct boot_state_step *last(const struct walk *w)
{
	return w->to->n > w->first ? &w->to->list[w->to->n - 1] : NULL;
}

/* Of two who are said to have ended a wait at the same time: the first task, else an interrupt. */
static uint32_t better(uint32_t first, uint32_t second)
{
	if (first == BOOT_NONE || (first == BOOT_INTERRUPT && second != BOOT_NONE))
		return second;
	return first;
}

/* At one time the last state counts, and the first who is known to have brought it. */
static int enter(struct walk *w, uint64_t ns, uint8_t state, uint32_t whom)
{
	struct boot_state_step *l = last(w);

	if (l && l->ns >= ns) {
		l->state = state;
		l->whom = better(l->whom, whom);
		return 0;
	}
	return push(w->to, (struct boot_state_step){ .ns = ns, .state = state, .whom = whom });
}

static bool is_asleep(uint8_t state)
{
	return state == BOOT_SLEEPING || state == BOOT_DISK_WAIT || state == BOOT_STOPPED;
}

static int wake(struct walk *w, const struct boot_change *c)
{
	struct boot_state_step *l = last(w);

	if (l->state == BOOT_RUNNING) {
		w->is_early = true;
		w->early = c->whom;
		return 0;
	}
	w->is_early = false;
	if (l->state == BOOT_RUNNABLE && !w->is_woken)
		return 0; /* it was preempted on its way to sleep, or is new */
	if (l->state == BOOT_RUNNABLE)
		l->state = BOOT_UNKNOWN;
	w->is_woken = true;
	return enter(w, c->ns, BOOT_RUNNABLE, c->whom);
}

static int run(struct walk *w, const struct boot_change *c)
{
	struct boot_state_step *l = last(w);

	if (w->is_early && is_asleep(l->state)) {
		l->state = BOOT_RUNNABLE;
		l->whom = w->early;
	}
	w->is_early = w->is_woken = false;
	return enter(w, c->ns, BOOT_RUNNING, BOOT_NONE);
}

static int follow(struct walk *w, const struct boot_change *c)
{
	switch (c->type) {
	case BOOT_CHANGE_WAKE:
		return wake(w, c);
	case BOOT_CHANGE_RUN:
		return run(w, c);
	case BOOT_CHANGE_STOP:
		w->is_woken = false;
		return enter(w, c->ns, BOOT_UNKNOWN, BOOT_NONE);
	default:
		w->is_woken = false;
		return enter(w, c->ns, c->state, BOOT_NONE);
	}
}

static int follow_all(struct walk *w, const struct boot_tasks *t, const struct boot_task *k)
{
	uint64_t from_ns = k->is_forked ? k->from_ns : t->from_ns;
	size_t i;
	int r = enter(w, from_ns, k->is_forked ? BOOT_RUNNABLE : BOOT_TASK_OFF, BOOT_NONE);

	for (i = 0; i < k->n_changes && r >= 0; i++)
		r = follow(w, &k->changes[i]);
	if (r >= 0 && k->is_over)
		r = enter(w, k->to_ns, BOOT_TASK_GONE, BOOT_NONE);
	return r;
}

/* --- losses --- */

/* Where a step's state ends that lasts until the next one, and what comes then. */
struct stretch {
	struct boot_state_step step;
	uint64_t to_ns;
	bool ends_by_wakeup;
};

/* One stretch, with what was lost in it cut out. *at: the first loss that may matter. */
static int cut(struct boot_states *to, const struct boot_tasks *t, const struct stretch *s,
	       size_t *at)
{
	struct boot_state_step step = s->step;
	bool is_safe = step.state == BOOT_RUNNING || step.state == BOOT_TASK_GONE;
	uint64_t until_ns;
	size_t i;
	int r = push(to, step);

	while (*at < t->n_losses && t->losses[*at].to_ns <= step.ns)
		(*at)++;
	for (i = *at; !is_safe && i < t->n_losses && t->losses[i].from_ns < s->to_ns && r >= 0;
	     i++) {
		struct boot_state_step lost = { .ns = t->losses[i].from_ns,
						.whom = BOOT_NONE,
						.state = BOOT_UNKNOWN };

		until_ns = t->losses[i].to_ns;
		if (until_ns <= to->list[to->n - 1].ns)
			continue;
		if (lost.ns <= to->list[to->n - 1].ns)
			to->list[to->n - 1].state = BOOT_UNKNOWN;
		else
			r = push(to, lost);
		if (!is_asleep(step.state) || !s->ends_by_wakeup)
			return r;
		lost.ns = until_ns;
		lost.state = step.state;
		if (r >= 0 && until_ns < s->to_ns)
			r = push(to, lost);
	}
	return r;
}

/* Losses overlap: the union of those that do, so that each stretch meets them in order. */
static int cut_all(struct walk *w, const struct boot_tasks *t)
{
	size_t n = w->to->n - w->first, i, at = 0;
	_cleanup_free_ struct boot_state_step *old = malloc((n + 1) * sizeof(*old));
	struct stretch s;
	int r = 0;

	if (!old)
		return -ENOMEM;
	memcpy(old, w->to->list + w->first, n * sizeof(*old));
	w->to->n = w->first;
	for (i = 0; i < n && r >= 0; i++) {
		s.step = old[i];
		s.to_ns = i + 1 < n ? old[i + 1].ns : t->to_ns;
		/* The end of the trace ends no sleep. */
		s.ends_by_wakeup = i + 1 == n || old[i + 1].state == BOOT_RUNNABLE;
		r = cut(w->to, t, &s, &at);
	}
	return r;
}

int boot_states_add(struct boot_states *s, const struct boot_tasks *t, uint32_t task)
{
	struct walk w = { .to = s, .first = s->n };
	size_t i;
	int r = follow_all(&w, t, &t->list[task]);

	if (r >= 0 && t->n_losses)
		r = cut_all(&w, t);
	for (i = w.first; i < s->n; i++)
		s->list[i].before = i == w.first ? BOOT_TASK_GONE : s->list[i - 1].state;
	return r;
}

/* --- several tasks --- */

static int by_time(const void *a, const void *b)
{
	const struct boot_state_step *x = a, *y = b;

	return x->ns < y->ns ? -1 : x->ns > y->ns;
}

static uint8_t state_of_all(const size_t count[BOOT_TASK_STATES])
{
	static const uint8_t order[] = {
		BOOT_RUNNING,  BOOT_UNKNOWN, BOOT_RUNNABLE, BOOT_DISK_WAIT,
		BOOT_SLEEPING, BOOT_STOPPED, BOOT_ZOMBIE,   BOOT_TASK_OFF,
	};
	size_t i;

	for (i = 0; i < sizeof(order); i++)
		if (count[order[i]])
			return order[i];
	return BOOT_TASK_GONE;
}

static size_t sum(const size_t count[BOOT_TASK_STATES])
{
	size_t i, n = 0;

	for (i = 0; i < BOOT_TASK_STATES; i++)
		n += count[i];
	return n;
}

void boot_states_merge(struct boot_states *s)
{
	size_t count[BOOT_TASK_STATES] = { 0 };
	struct boot_state_step step;
	size_t i = 0, n = 0;

	if (s->n)
		qsort(s->list, s->n, sizeof(*s->list), by_time);
	while (i < s->n) {
		step = (struct boot_state_step){ .ns = s->list[i].ns, .whom = BOOT_NONE };
		for (; i < s->n && s->list[i].ns == step.ns; i++) {
			if (s->list[i].before != BOOT_TASK_GONE)
				count[s->list[i].before]--;
			count[s->list[i].state]++;
			step.whom = better(step.whom, s->list[i].whom);
		}
		count[BOOT_TASK_GONE] = 0;
		s->most = sum(count) > s->most ? sum(count) : s->most;
		step.state = state_of_all(count);
		/* A thread that is woken while others run ends nothing. */
		if (n && s->list[n - 1].state == step.state)
			continue;
		if (n && !is_asleep(s->list[n - 1].state) && s->list[n - 1].state != BOOT_TASK_OFF)
			step.whom = BOOT_NONE;
		s->list[n++] = step;
	}
	s->n = n;
}

void boot_states_done(struct boot_states *s)
{
	free(s->list);
	memset(s, 0, sizeof(*s));
}
