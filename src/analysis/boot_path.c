/* SPDX-License-Identifier: MIT */
/*
 * boot_path: see boot_path.h.
 *
 * Of a wait that somebody ended, it does not matter when it began: had it begun earlier, it would have ended at the
 * same time. So the path goes on with who ended it, however far back. One exception: who ended it may have waited
 * itself, for something that nobody is known to have done (an interrupt, a timer), and since before. A kernel thread
 * that hands on what a disk has read is such a one. Then it was not its wait that took the time, but that of
 * the one who asked, and the path goes back to that.
 */
#include "analysis/boot_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX (1U << 20)
#define HOPS_MAX 64U	       /* from one to the next without time going back */
#define WAITERS_MAX 64U	       /* that are remembered */
#define WAIT_LEAST_NS 1000000U /* shorter waits that nobody ended are no steps of their own */

/* Who waited for what the path is going through now. */
struct waiter {
	uint32_t process;
	uint64_t from_ns;
	uint8_t state;
};

struct walk {
	const struct boot *boot;
	struct boot_path *path; /* backwards */
	size_t room;
	uint32_t process;
	uint64_t ns;	 /* up to here nothing is explained yet */
	uint64_t end_ns; /* of the step at hand */
	uint64_t state_ns[BOOT_STATES];
	bool is_inferred; /* of the step at hand */
	unsigned int hops;
	struct waiter waiters[WAITERS_MAX];
	size_t n_waiters;
};

static uint64_t min_ns(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static bool is_wait(const struct boot_span *s)
{
	return s->state != BOOT_RUNNING && s->state != BOOT_RUNNABLE;
}

/* The span that it was in right before this time. */
static const struct boot_span *span_before(const struct boot_process *p, uint64_t ns)
{
	size_t low = 0, high = p->n_spans, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (p->spans[middle].to_ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < p->n_spans && p->spans[low].from_ns < ns ? &p->spans[low] : NULL;
}

static void count(struct walk *w, const struct boot_span *s, uint64_t from_ns, uint64_t to_ns)
{
	struct boot_span part = *s;
	uint64_t ran_ns;

	part.from_ns = from_ns;
	part.to_ns = to_ns;
	ran_ns = min_ns(boot_span_ran(&part), to_ns - from_ns);
	w->state_ns[BOOT_RUNNING] += ran_ns;
	w->state_ns[s->state == BOOT_RUNNING ? BOOT_RUNNABLE : s->state] +=
		to_ns - from_ns - ran_ns;
}

/* The step at hand began at w->ns. */
static int put_step(struct walk *w)
{
	struct boot_path *p = w->path;
	size_t room = w->room ? w->room * 2 : 64, i;
	struct boot_step *s;

	if (w->ns < w->end_ns) {
		if (p->n_steps == w->room) {
			s = realloc(p->steps, room * sizeof(*s));
			if (!s)
				return -ENOMEM;
			p->steps = s;
			w->room = room;
		}
		s = &p->steps[p->n_steps++];
		memset(s, 0, sizeof(*s));
		s->from_ns = w->ns;
		s->to_ns = w->end_ns;
		s->process = w->process;
		s->is_inferred = w->is_inferred;
		memcpy(s->state_ns, w->state_ns, sizeof(s->state_ns));
		for (i = 1; i < BOOT_STATES; i++)
			if (s->state_ns[i] > s->state_ns[s->state])
				s->state = (uint8_t)i;
		w->is_inferred = false;
	}
	memset(w->state_ns, 0, sizeof(w->state_ns));
	w->end_ns = w->ns;
	return 0;
}

static int go_to(struct walk *w, uint32_t process, bool is_inferred)
{
	int r = put_step(w);

	w->process = process;
	w->is_inferred = is_inferred;
	return r;
}

static void remember(struct walk *w, const struct boot_span *s)
{
	if (w->n_waiters == WAITERS_MAX) {
		w->n_waiters--;
		memmove(w->waiters, w->waiters + 1, w->n_waiters * sizeof(*w->waiters));
	}
	w->waiters[w->n_waiters++] =
		(struct waiter){ .process = w->process, .from_ns = s->from_ns, .state = s->state };
}

/* The last one who began to wait between these; NULL: nobody. */
static const struct waiter *last_waiter(struct walk *w, uint64_t from_ns, uint64_t to_ns)
{
	while (w->n_waiters && w->waiters[w->n_waiters - 1].from_ns >= to_ns)
		w->n_waiters--;
	if (!w->n_waiters || w->waiters[w->n_waiters - 1].from_ns <= from_ns)
		return NULL;
	return &w->waiters[--w->n_waiters];
}

/* Whether who ended the wait can be asked what it did before. */
static bool can_follow(const struct walk *w, const struct boot_span *s)
{
	const struct boot_span *other;

	if (s->whom == BOOT_NONE || s->whom >= w->boot->n_processes || s->whom == w->process ||
	    s->to_ns != w->ns || w->hops >= HOPS_MAX)
		return false;
	other = span_before(&w->boot->processes[s->whom], w->ns);
	return other && (!is_wait(other) || other->to_ns == w->ns);
}

/* The child that ended last in that part of the wait: its parent is taken to have waited for it, unless it is known
 * that an interrupt ended the wait: a child that ends wakes its parent itself. */
static uint32_t awaited_child(const struct walk *w, const struct boot_span *s)
{
	const struct boot *b = w->boot;
	const struct boot_process *p = &b->processes[w->process], *c;
	uint32_t i, found = BOOT_NONE;

	if (s->state != BOOT_SLEEPING && s->state != BOOT_UNKNOWN)
		return BOOT_NONE;
	if (s->whom == BOOT_INTERRUPT && s->to_ns == w->ns)
		return BOOT_NONE;
	for (i = w->process + 1; i < b->n_processes && b->processes[i].depth > p->depth; i++) {
		c = &b->processes[i];
		if (c->parent != w->process || c->is_alive || c->from_ns >= w->ns ||
		    c->to_ns <= s->from_ns || c->to_ns > w->ns + c->to_error_ns)
			continue;
		if (found == BOOT_NONE || c->to_ns > b->processes[found].to_ns)
			found = i;
	}
	return found;
}

/* A wait of which nobody knows who ended it. */
static int stay(struct walk *w, const struct boot_span *s)
{
	const struct waiter *waiter = last_waiter(w, s->from_ns, w->ns);
	struct boot_span wait = *s;
	int r = 0;

	if (!waiter && w->ns - s->from_ns < WAIT_LEAST_NS) {
		count(w, s, s->from_ns, w->ns);
		w->ns = s->from_ns;
		return 0;
	}
	r = waiter ? go_to(w, waiter->process, false) : put_step(w);
	if (waiter) {
		wait.from_ns = waiter->from_ns;
		wait.state = waiter->state;
		wait.share = 0;
	}
	count(w, &wait, wait.from_ns, w->ns);
	w->ns = wait.from_ns;
	return r < 0 ? r : put_step(w);
}

static int go_through_wait(struct walk *w, const struct boot_span *s)
{
	uint32_t child;
	uint64_t ns;

	if (can_follow(w, s)) {
		w->hops++;
		remember(w, s);
		return go_to(w, s->whom, !w->boot->tells_interrupts);
	}
	child = awaited_child(w, s);
	/* A child that ended at this very moment is one hop more: time has not gone back. */
	if (child == BOOT_NONE || w->hops >= HOPS_MAX) {
		w->hops = 0;
		return stay(w, s);
	}
	ns = min_ns(w->boot->processes[child].to_ns, w->ns);
	w->hops = ns < w->ns ? 0 : w->hops + 1;
	count(w, s, ns, w->ns);
	w->ns = ns;
	return go_to(w, child, true);
}

/* 1: there is more before; 0: the path begins here. */
static int go_back(struct walk *w)
{
	const struct boot_process *p = &w->boot->processes[w->process];
	const struct boot_span *s = span_before(p, w->ns);
	int r;

	if (!s) {
		if (w->ns <= p->to_ns)
			w->ns = min_ns(w->ns, p->from_ns);
		if (p->was_there || p->parent == BOOT_NONE || w->ns > p->to_ns)
			return put_step(w);
		r = go_to(w, p->parent, false);
		/* A parent that had ended by then, as far as anybody can tell, is the end of it. */
		return r < 0 ? r : w->boot->processes[w->process].from_ns < w->ns;
	}
	if (is_wait(s)) {
		r = go_through_wait(w, s);
		return r < 0 ? r : 1;
	}
	count(w, s, s->from_ns, w->ns);
	w->ns = s->from_ns;
	w->hops = 0;
	return 1;
}

/* --- where it starts --- */

static uint32_t process_of_mark(const struct boot *b, uint64_t ns)
{
	size_t i;

	for (i = 0; i < b->n_marks; i++)
		if (b->marks[i].type == BOOT_MARK_TARGET && b->marks[i].ns == ns &&
		    b->marks[i].process != BOOT_NONE)
			return b->marks[i].process;
	return BOOT_NONE;
}

/* When it ran last before that. */
static uint64_t ran_last(const struct boot_process *p, uint64_t ns)
{
	const struct boot_span *s = span_before(p, min_ns(ns, p->to_ns));

	for (; s && s >= p->spans; s--)
		if (s->state == BOOT_RUNNING && s->share)
			return min_ns(s->to_ns, ns);
	return 0;
}

static uint32_t who_ran_last(const struct boot *b, uint64_t ns)
{
	const struct boot_process *p;
	uint32_t i, found = BOOT_NONE;
	uint64_t last_ns = 0, ran_ns;

	for (i = 0; i < b->n_processes; i++) {
		p = &b->processes[i];
		if (p->is_self || p->is_kernel || p->from_ns >= ns)
			continue;
		ran_ns = ran_last(p, ns);
		/* Of two the one that started later: the other has most likely waited for it. */
		if (ran_ns > last_ns ||
		    (ran_ns && ran_ns == last_ns && p->from_ns > b->processes[found].from_ns)) {
			last_ns = ran_ns;
			found = i;
		}
	}
	return found;
}

static void turn_round(struct boot_path *p)
{
	struct boot_step s;
	size_t i;

	for (i = 0; i < p->n_steps / 2; i++) {
		s = p->steps[i];
		p->steps[i] = p->steps[p->n_steps - 1 - i];
		p->steps[p->n_steps - 1 - i] = s;
	}
}

int boot_path_new(struct boot_path **ret, const struct boot *b, uint32_t process, uint64_t ns)
{
	CLEANUP(boot_path) struct boot_path *p = calloc(1, sizeof(*p));
	struct walk w = { .boot = b, .path = p, .process = process };
	int r = 1;

	if (!p)
		return -ENOMEM;
	if (!ns)
		ns = b->target_ns ? b->target_ns : b->to_ns;
	if (w.process == BOOT_NONE)
		w.process = process_of_mark(b, ns);
	if (w.process == BOOT_NONE)
		w.process = who_ran_last(b, ns);
	p->to_ns = ns;
	if (w.process < b->n_processes) {
		w.ns = w.end_ns = min_ns(ns, b->processes[w.process].to_ns);
		while (r == 1 && p->n_steps < STEPS_MAX)
			r = go_back(&w);
		if (r < 0)
			return r;
	}
	turn_round(p);
	*ret = take_ptr(p);
	return 0;
}

void boot_path_free(struct boot_path *p)
{
	if (!p)
		return;
	free(p->steps);
	free(p);
}
