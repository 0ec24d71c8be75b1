/* SPDX-License-Identifier: MIT */
/*
 * call_stack: see call_stack.h.
 *
 * `open` counts the open calls of each function that the thread ever called, in a small hash: whether
 * a call is recursive, and whether an exit names anything that is open, is known without walking down
 * a stack that may be a million calls deep. It has one entry for each function, never one for each call.
 */
#include "analysis/call_stack.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/array.h"

#define OPEN_LEAST 64U
#define OPEN_MAX (1U << 24)

struct open_count {
	uint32_t function1; /* the function + 1; 0: free */
	uint32_t n;
};

struct call_stack {
	struct call_stack_options o;
	struct call_split_state state;
	struct call *calls;
	size_t n, room;
	uint64_t beyond; /* open calls that are too deep to follow */
	struct open_count *open;
	size_t n_open, open_room; /* open_room is a power of two */
	uint64_t now_ns;
	bool started;
};

const char *const call_end_words[CALL_ENDS] = {
	[CALL_RETURNED] = "returned",
	[CALL_UNWOUND] = "unwound",
	[CALL_CUT] = "cut",
	[CALL_OPEN] = "open",
};

int call_stack_new(struct call_stack **ret, const struct call_stack_options *o)
{
	struct call_stack *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->o = *o;
	call_split_init(&s->state, o->kernel);
	*ret = s;
	return 0;
}

void call_stack_free(struct call_stack *s)
{
	if (!s)
		return;
	free(s->calls);
	free(s->open);
	free(s);
}

/* --- how many calls of a function are open --- */

static struct open_count *find_open(struct open_count *table, size_t room, uint32_t function)
{
	size_t at = (function * 0x9e3779b1U) & (room - 1);

	while (table[at].function1 && table[at].function1 != function + 1)
		at = (at + 1) & (room - 1);
	return &table[at];
}

static int grow_open(struct call_stack *s)
{
	size_t room = s->open_room ? 2 * s->open_room : OPEN_LEAST, i;
	struct open_count *wider;

	if (room > OPEN_MAX)
		return -E2BIG;
	wider = calloc(room, sizeof(*wider));
	if (!wider)
		return -ENOMEM;
	for (i = 0; i < s->open_room; i++)
		if (s->open[i].function1)
			*find_open(wider, room, s->open[i].function1 - 1) = s->open[i];
	free(s->open);
	s->open = wider;
	s->open_room = room;
	return 0;
}

/* The function's count, made if it is new. */
static int get_open(struct call_stack *s, uint32_t function, struct open_count **ret)
{
	struct open_count *c;
	int r;

	if ((s->n_open + 1) * 4 > s->open_room * 3) {
		r = grow_open(s);
		if (r < 0)
			return r;
	}
	c = find_open(s->open, s->open_room, function);
	if (!c->function1) {
		c->function1 = function + 1;
		s->n_open++;
	}
	*ret = c;
	return 0;
}

static bool is_open(const struct call_stack *s, uint32_t function)
{
	return s->open_room && find_open(s->open, s->open_room, function)->n > 0;
}

/* --- time --- */

static void pass(struct call_stack *s, uint64_t ns)
{
	if (s->started && ns > s->now_ns && s->n)
		s->calls[s->n - 1].local.ns[call_split_get(&s->state)] += ns - s->now_ns;
	if (!s->started || ns > s->now_ns)
		s->now_ns = ns;
	s->started = true;
}

/* --- calls --- */

static int push(struct call_stack *s, uint32_t function)
{
	struct open_count *open = NULL;
	struct call_at at = { .thread = s->o.thread, .ns = s->now_ns };
	struct call *c;
	int r = get_open(s, function, &open);

	if (r >= 0)
		r = array_grow(&s->calls, s->n, &s->room, sizeof(*s->calls), CALL_DEPTH_MAX);
	if (r < 0)
		return r;
	c = &s->calls[s->n];
	memset(c, 0, sizeof(*c));
	c->function = function;
	c->recursive = open->n++ > 0;
	c->begin_ns = s->now_ns;
	at.depth = (uint32_t)s->n++;
	at.call = c;
	at.caller = at.depth ? c - 1 : NULL;
	s->o.counts->calls++;
	return s->o.listener->begin ? s->o.listener->begin(s->o.data, &at) : 0;
}

static int pop(struct call_stack *s, enum call_end end)
{
	struct call *c = &s->calls[--s->n];
	struct call_at at = { .thread = s->o.thread, .ns = s->now_ns, .end = end, .call = c };

	at.depth = (uint32_t)s->n;
	at.caller = s->n ? c - 1 : NULL;
	find_open(s->open, s->open_room, c->function)->n--;
	if (at.caller)
		at.caller->children_ns += s->now_ns - c->begin_ns;
	s->o.counts->ends[end]++;
	call_split_add(&s->o.counts->local, &c->local);
	return s->o.listener->end ? s->o.listener->end(s->o.data, &at) : 0;
}

static int pop_all(struct call_stack *s, enum call_end end)
{
	int r = 0;

	s->beyond = 0;
	while (r >= 0 && s->n)
		r = pop(s, end);
	return r;
}

int call_stack_enter(struct call_stack *s, uint64_t ns, uint32_t function)
{
	pass(s, ns);
	call_split_see(&s->state);
	if (s->n < CALL_DEPTH_MAX)
		return push(s, function);
	s->beyond++;
	s->o.counts->too_deep++;
	return 0;
}

int call_stack_exit(struct call_stack *s, uint64_t ns, uint32_t function)
{
	int r = 0;

	pass(s, ns);
	call_split_see(&s->state);
	if (s->beyond) {
		s->beyond--;
		return 0;
	}
	if (!is_open(s, function)) {
		s->o.counts->orphans++;
		return 0;
	}
	while (r >= 0 && s->calls[s->n - 1].function != function)
		r = pop(s, CALL_UNWOUND);
	return r < 0 ? r : pop(s, CALL_RETURNED);
}

void call_stack_os(struct call_stack *s, uint64_t ns, const struct func_event *ev)
{
	pass(s, ns);
	call_split_push(&s->state, ev);
}

void call_stack_watch(struct call_stack *s)
{
	call_split_start(&s->state);
}

int call_stack_lose(struct call_stack *s, uint64_t ns)
{
	pass(s, ns);
	call_split_lose(&s->state);
	return pop_all(s, CALL_CUT);
}

void call_stack_lose_os(struct call_stack *s, uint64_t ns)
{
	pass(s, ns);
	call_split_lose(&s->state);
}

int call_stack_finish(struct call_stack *s)
{
	return pop_all(s, CALL_OPEN);
}

void call_stack_wait(struct call_stack *s, uint64_t ns)
{
	pass(s, ns);
}

int call_stack_start(struct call_stack *s, uint64_t ns, const struct call_listener *listener)
{
	struct call_at at = { .thread = s->o.thread };
	int r = 0;
	size_t i;

	s->o.listener = listener;
	pass(s, ns);
	for (i = 0; r >= 0 && i < s->n; i++) {
		struct call *c = &s->calls[i];

		c->carried = true;
		c->begin_ns = at.ns = s->now_ns;
		c->children_ns = 0;
		memset(&c->local, 0, sizeof(c->local));
		at.depth = (uint32_t)i;
		at.call = c;
		at.caller = i ? c - 1 : NULL;
		s->o.counts->calls++;
		r = listener->begin ? listener->begin(s->o.data, &at) : 0;
	}
	return r;
}

void call_stack_set_address(struct call_stack *s, uint64_t address, uint32_t generation)
{
	if (!s->n || s->beyond)
		return;
	s->calls[s->n - 1].address = address;
	s->calls[s->n - 1].generation = generation;
}

const struct call *call_stack_get(const struct call_stack *s, size_t *ret_n)
{
	*ret_n = s->n;
	return s->calls;
}

bool call_stack_has_os(const struct call_stack *s)
{
	return s->state.any;
}

size_t call_stack_depth(const struct call_stack *s)
{
	return s->n;
}
