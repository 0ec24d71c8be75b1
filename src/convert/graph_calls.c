/* SPDX-License-Identifier: MIT */
/*
 * graph_calls: see graph_calls.h.
 *
 * A thread is gone through three times. First entries and exits are matched by depth and function. Then,
 * forward and with the stack of open entries, exits that are missing are put in. Then backward, with
 * the stack of exits that wait for their entry: those without one get it in front of the first record
 * that was before their call, and so do those whose call was before their entry's record.
 *
 * A depth is usually on a stack once. Before Linux 6.11, interrupts between a return and its record have
 * the depth of that call: then it is there several times, RUN_MAX at most, which bounds the stacks. Since
 * then they are one deeper and look like calls of what has returned: only times tell. Where an exit has
 * the time of the return, it is put in front of all that was recorded after that.
 */
#include "convert/graph_calls.h"

#include <stdlib.h>

#include "store/array.h"

struct records {
	struct graph_record *list;
	size_t n, room;
	uint64_t looks; /* at records, to find the places of timed returns */
};

#define RUN_MAX 8U
/* So many records of interrupts between a return and its record are believed where the return was not
 * timed. Where it was there may be any number, because the task may have been preempted there; but a
 * record is looked at LOOKS_MAX times at most, on average: time stays linear, whatever is read. */
#define PLACE_MAX 4096U
#define LOOKS_MAX ((uint64_t)64)
#define STACK_MAX (RUN_MAX * GRAPH_DEPTH_MAX)

struct depth_stack {
	struct graph_record at[STACK_MAX];
	size_t index[STACK_MAX]; /* of the record, in the list it is from */
	uint32_t n;
};

struct thread_key {
	const struct graph_calls *calls;
	int32_t pid, cpu;
};

void graph_calls_init(struct graph_calls *c, uint64_t slack)
{
	memset(c, 0, sizeof(*c));
	c->slack = slack;
	hashtable_init(&c->by_pid, FUNC_THREADS_MAX);
}

void graph_calls_done(struct graph_calls *c)
{
	size_t i;

	for (i = 0; i < c->n; i++)
		free(c->threads[i].records);
	free(c->threads);
	hashtable_done(&c->by_pid);
	c->threads = NULL;
	c->n = c->room = 0;
}

/* Entries of the table are numbers of threads, from 1 so that none is NULL. */
static bool is_thread(const void *entry, const void *key)
{
	const struct thread_key *k = key;
	const struct graph_thread *t = &k->calls->threads[(uintptr_t)entry - 1];

	return t->pid == k->pid && t->cpu == k->cpu;
}

int graph_calls_get_thread(struct graph_calls *c, int32_t pid, uint32_t cpu, uint32_t *ret)
{
	struct thread_key key = { c, pid, pid > 0 ? -1 : (int32_t)cpu };
	uint64_t hash = hashtable_hash_number((uint64_t)(uint32_t)pid << 32 | (uint32_t)key.cpu);
	void *found = hashtable_get(&c->by_pid, hash, is_thread, &key);
	int r;

	if (!found) {
		r = array_grow(&c->threads, c->n, &c->room, sizeof(*c->threads), FUNC_THREADS_MAX);
		if (r == 0)
			r = hashtable_add(&c->by_pid, hash, (void *)(uintptr_t)(c->n + 1));
		if (r < 0)
			return r;
		memset(&c->threads[c->n], 0, sizeof(*c->threads));
		c->threads[c->n].pid = key.pid;
		c->threads[c->n].cpu = key.cpu;
		found = (void *)(uintptr_t)++c->n;
	}
	*ret = (uint32_t)((uintptr_t)found - 1);
	return 0;
}

void graph_calls_set_comm(struct graph_calls *c, uint32_t thread, const char *text, size_t len)
{
	if (!c->threads[thread].comm[0])
		sched_comm_set(c->threads[thread].comm, text, len);
}

int graph_calls_push(struct graph_calls *c, uint32_t thread, const struct graph_record *r)
{
	struct graph_thread *t = &c->threads[thread];
	int failed = array_grow(&t->records, t->n, &t->room, sizeof(*r), GRAPH_RECORDS_MAX);

	if (failed < 0)
		return failed;
	t->records[t->n++] = *r;
	t->calls += r->kind == FUNC_ENTER || r->kind == FUNC_EXIT;
	return 0;
}

static int append(struct records *out, const struct graph_record *r)
{
	int failed = array_grow(&out->list, out->n, &out->room, sizeof(*r), GRAPH_RECORDS_MAX);

	if (failed == 0)
		out->list[out->n++] = *r;
	return failed;
}

static struct graph_record *top(struct depth_stack *s)
{
	return s->n ? &s->at[s->n - 1] : NULL;
}

/* How many at the top have this depth. */
static uint32_t run_length(const struct depth_stack *s, uint32_t depth)
{
	uint32_t n = 0;

	while (n < s->n && s->at[s->n - 1 - n].depth == depth)
		n++;
	return n;
}

static void push(struct depth_stack *s, const struct graph_record *r, size_t index)
{
	uint32_t run = run_length(s, r->depth), oldest;

	/* The oldest of too many of one depth is not waited for any longer; where there is no room and
	 * none of that depth, the last of all. */
	if (s->n == STACK_MAX || run >= RUN_MAX) {
		oldest = s->n - run - !run;
		s->n--;
		memmove(&s->at[oldest], &s->at[oldest + 1], (s->n - oldest) * sizeof(s->at[0]));
		memmove(&s->index[oldest], &s->index[oldest + 1],
			(s->n - oldest) * sizeof(s->index[0]));
	}
	s->index[s->n] = index;
	s->at[s->n++] = *r;
}

static bool began_after(const struct graph_record *exit, uint64_t tick)
{
	return !exit->matched && exit->call_tick != GRAPH_NO_TICK && exit->call_tick > tick;
}

/* --- which exit belongs to which entry --- */

static void match(struct graph_thread *t, struct depth_stack *open)
{
	struct graph_record *r;
	uint32_t run, i;
	size_t at;

	open->n = 0;
	for (at = 0; at < t->n; at++) {
		r = &t->records[at];
		if (r->kind != FUNC_ENTER && r->kind != FUNC_EXIT)
			continue;
		while (open->n && top(open)->depth > r->depth)
			open->n--;
		if (r->kind == FUNC_ENTER) {
			push(open, r, at);
			continue;
		}
		run = run_length(open, r->depth);
		for (i = 0; i < run && open->at[open->n - 1 - i].value != r->value; i++)
			;
		if (i == run)
			continue;
		open->n -= i + 1;
		r->matched = t->records[open->index[open->n]].matched = true;
	}
}

/* --- forward: exits that are missing --- */

/* Where a return that was timed belongs: in front of all that was recorded after it, back to `first`,
 * behind which nothing is open: an entry there has its exit behind it. Going back, `pending` calls have
 * their entry still to come, and none is cut through. A gap moves only with what is in front of it, since
 * the return may have been in it. */
static size_t find_return(struct records *out, size_t first, const struct graph_record *r)
{
	size_t at = out->n, pending = 0, i;
	const struct graph_record *x;

	for (i = out->n; i > first && out->looks < LOOKS_MAX * out->n; i--, out->looks++) {
		x = &out->list[i - 1];
		if (x->kind == GRAPH_LOSS)
			continue;
		if (x->tick < r->tick || (x->tick == r->tick && !pending))
			break;
		if (x->kind == FUNC_EXIT && !x->matched && !began_after(x, r->tick))
			break;
		if (x->kind == FUNC_EXIT && x->matched)
			pending++;
		else if (x->kind == FUNC_ENTER)
			pending--;
		if (!pending)
			at = i - 1;
	}
	return at;
}

/* What the exit is put in front of came after it. Where only the time of its record is known, that is an
 * upper bound that lies nearer. */
static int insert(struct records *out, size_t at, struct graph_record r)
{
	uint64_t late = 0;
	int failed;

	if (at < out->n && out->list[at].tick < r.tick)
		late = r.tick - out->list[at].tick;
	r.tick -= late;
	if (r.call_tick != GRAPH_NO_TICK)
		r.call_tick -= late < r.call_tick ? late : r.call_tick;
	failed = append(out, &r);
	if (failed == 0) {
		memmove(&out->list[at + 1], &out->list[at],
			(out->n - 1 - at) * sizeof(out->list[0]));
		out->list[at] = r;
	}
	return failed;
}

/* The tick of the last record in front of this place. A loss is none: it has the stamp of the record that it
 * was noticed with, which may tell of something earlier. */
static uint64_t tick_before(const struct records *out, size_t at)
{
	while (at && out->list[at - 1].kind == GRAPH_LOSS)
		at--;
	return at ? out->list[at - 1].tick : 0;
}

/* The call on top was over at this tick, or at the last record before it. */
static int close_top(struct depth_stack *open, uint64_t tick, struct records *out)
{
	struct graph_record r = *top(open);
	size_t enter = open->index[--open->n], at;

	out->list[enter].matched = true;
	r.kind = FUNC_EXIT;
	r.tick = tick;
	r.call_tick = GRAPH_NO_TICK;
	r.matched = r.moved = true;
	at = find_return(out, enter + 1, &r);
	if (tick_before(out, at) > tick)
		r.tick = tick_before(out, at);
	return insert(out, at, r);
}

/* Exits that were worked out, and stand in front of where a return is put, have upper bounds as their times.
 * It tells nearer ones: they were over when it returned, and those of no greater depth when it was called,
 * if that was after them. */
static void lower_bounds(struct records *out, size_t at, const struct graph_record *r,
			 uint64_t call)
{
	uint64_t most = r->tick, least;
	struct graph_record *x;
	size_t first = at;

	while (first && out->list[first - 1].moved && out->list[first - 1].tick > call)
		first--;
	least = tick_before(out, first);
	for (; at > first; at--) {
		x = &out->list[at - 1];
		if (!r->matched && x->depth <= r->depth)
			most = call;
		if (x->tick > most)
			x->tick = most > least ? most : least;
	}
}

static int take_enter(struct depth_stack *open, const struct graph_record *r, struct records *out)
{
	int failed = 0;

	while (failed == 0 && open->n &&
	       (top(open)->depth > r->depth ||
		(top(open)->depth == r->depth && !top(open)->matched)))
		failed = close_top(open, r->tick, out);
	if (failed < 0)
		return failed;
	push(open, r, out->n);
	return append(out, r);
}

/* Where one belongs that was not timed: in front of calls of its own depth that stand behind its entry,
 * at `from`, because they were interrupts between the return and its record. */
static size_t find_place(const struct records *out, size_t from, const struct graph_record *r)
{
	size_t at = out->n, i;

	if (out->n > PLACE_MAX && from < out->n - PLACE_MAX)
		from = out->n - PLACE_MAX;
	while (at > from && out->list[at - 1].kind == FUNC_EXIT &&
	       out->list[at - 1].depth == r->depth && out->list[at - 1].matched) {
		for (i = at - 1; i > from && (out->list[i].kind != FUNC_ENTER ||
					      out->list[i].depth != r->depth);
		     i--)
			;
		if (i == from)
			break;
		at = i;
	}
	/* Where there are no entries, exits say when they were called. */
	while (at && out->n - at < PLACE_MAX && !r->matched &&
	       out->list[at - 1].kind == FUNC_EXIT && out->list[at - 1].depth >= r->depth &&
	       began_after(&out->list[at - 1], r->tick))
		at--;
	return at;
}

static int take_exit(struct depth_stack *open, const struct graph_record *r, struct records *out)
{
	/* Of two calls at one depth the other one ended before this one began. */
	uint64_t before = r->call_tick < r->tick ? r->call_tick : r->tick;
	const struct graph_record *t;
	bool found = false;
	size_t from = out->n, first = 0;
	int failed = 0;

	while (failed == 0 && !found && (t = top(open)) && t->depth >= r->depth) {
		found = r->matched && t->depth == r->depth && t->value == r->value;
		if (found)
			from = open->index[--open->n];
		else if (t->depth == r->depth && t->matched)
			break;
		else
			failed = close_top(open, t->depth == r->depth ? before : r->tick, out);
	}
	if (failed < 0)
		return failed;
	if (!r->timed)
		return insert(out, find_place(out, from, r), *r);
	if (found)
		first = from + 1;
	else if (open->n)
		first = open->index[open->n - 1] + 1;
	first = find_return(out, first, r);
	lower_bounds(out, first, r, before);
	return insert(out, first, *r);
}

static int add_exits(const struct graph_thread *t, struct depth_stack *open, struct records *out)
{
	const struct graph_record *r;
	size_t i;
	int failed = 0;

	open->n = 0;
	for (i = 0; i < t->n && failed == 0; i++) {
		r = &t->records[i];
		if (r->kind == FUNC_ENTER)
			failed = take_enter(open, r, out);
		else if (r->kind == FUNC_EXIT)
			failed = take_exit(open, r, out);
		else
			failed = append(out, r);
	}
	return failed;
}

/* --- backward: entries that are missing, and the moments of calls --- */

/* The exit on top gets its entry here, in front of what was written last, which is that exit or something
 * before it. One that does not say when it was called stays alone. */
static int open_top(struct depth_stack *wait, struct records *out)
{
	struct graph_record r = *top(wait);
	uint64_t next_tick = out->list[out->n - 1].tick;

	wait->n--;
	if (r.matched || r.call_tick == GRAPH_NO_TICK)
		return 0;
	r.kind = FUNC_ENTER;
	r.tick = r.call_tick < next_tick ? r.call_tick : next_tick;
	r.moved = true;
	return append(out, &r);
}

/* Was the call that ended with r below that of an exit that waits for its entry? */
static bool is_inside(const struct graph_record *r, const struct graph_record *exit, uint64_t slack)
{
	if (r->depth > exit->depth)
		return !began_after(exit, r->tick);
	return r->depth == exit->depth && r->call_tick != GRAPH_NO_TICK &&
	       exit->call_tick != GRAPH_NO_TICK && r->call_tick > exit->call_tick + slack;
}

static int put_exit(struct depth_stack *wait, const struct graph_record *r, uint64_t slack,
		    struct records *out)
{
	int failed = 0;

	while (failed == 0 && wait->n && !top(wait)->matched && !is_inside(r, top(wait), slack))
		failed = open_top(wait, out);
	if (failed < 0)
		return failed;
	push(wait, r, 0);
	return append(out, r);
}

/* The entry of the exit on top. If the call was before it was recorded, the exit goes on waiting: what
 * was recorded in between is below it. */
static int settle(struct depth_stack *wait, const struct graph_record *r, uint64_t slack,
		  struct records *out)
{
	struct graph_record enter = *r, *exit = top(wait);
	uint64_t next_tick = out->list[out->n - 1].tick;

	if (exit->call_tick != GRAPH_NO_TICK && exit->call_tick + slack < r->tick) {
		exit->matched = false;
		return 0;
	}
	wait->n--;
	if (exit->call_tick != GRAPH_NO_TICK && exit->call_tick <= r->tick + slack) {
		enter.tick = exit->call_tick < next_tick ? exit->call_tick : next_tick;
		enter.moved = true;
	}
	return append(out, &enter);
}

/* An entry that stays open has no exit of its depth or a lower one behind it: all that wait began later. */
static int put_enter(struct depth_stack *wait, const struct graph_record *r, uint64_t slack,
		     struct records *out)
{
	const struct graph_record *t;
	int failed = 0;

	while (failed == 0 && (t = top(wait))) {
		if (r->matched && t->matched && t->depth == r->depth && t->value == r->value)
			return settle(wait, r, slack, out);
		failed = open_top(wait, out);
	}
	return failed < 0 ? failed : append(out, r);
}

/* What is no call stays in front of those that began after `before`. Calls that began where records
 * are missing begin behind the gap. */
static int put_other(struct depth_stack *wait, const struct graph_record *r, uint64_t before,
		     struct records *out)
{
	int failed = 0;

	while (failed == 0 && wait->n && began_after(top(wait), before))
		failed = open_top(wait, out);
	return failed < 0 ? failed : append(out, r);
}

static int add_enters(const struct records *in, struct depth_stack *wait, uint64_t slack,
		      struct records *out)
{
	const struct graph_record *r;
	size_t i;
	int failed = 0;

	wait->n = 0;
	for (i = in->n; i-- > 0 && failed == 0;) {
		r = &in->list[i];
		if (r->kind == FUNC_EXIT)
			failed = put_exit(wait, r, slack, out);
		else if (r->kind == FUNC_ENTER)
			failed = put_enter(wait, r, slack, out);
		else if (r->kind == GRAPH_LOSS)
			failed = put_other(wait, r, i ? in->list[i - 1].tick : 0, out);
		else
			failed = put_other(wait, r, r->tick, out);
	}
	while (failed == 0 && wait->n)
		failed = open_top(wait, out);
	return failed;
}

/* Into the order of time. A loss is noticed with the record behind it, and is not later than what that one
 * tells of; what was worked out does not step back behind what was read. */
static void turn_around(struct records *r)
{
	struct graph_record swap;
	size_t i, j;

	for (i = 0, j = r->n; i + 1 < j; i++) {
		swap = r->list[i];
		r->list[i] = r->list[--j];
		r->list[j] = swap;
	}
	for (i = r->n; i-- > 1;)
		if (r->list[i - 1].kind == GRAPH_LOSS && r->list[i - 1].tick > r->list[i].tick)
			r->list[i - 1].tick = r->list[i].tick;
	for (i = 1; i < r->n; i++)
		if (r->list[i].moved && r->list[i].tick < r->list[i - 1].tick)
			r->list[i].tick = r->list[i - 1].tick;
}

static int finish_thread(struct graph_calls *c, struct graph_thread *t, struct depth_stack *stack)
{
	struct records forward = { .n = 0 }, backward = { .n = 0 };
	int r;

	match(t, stack);
	r = add_exits(t, stack, &forward);
	free(t->records);
	t->records = NULL;
	t->n = t->room = 0;
	if (r == 0)
		r = add_enters(&forward, stack, c->slack, &backward);
	free(forward.list);
	turn_around(&backward);
	t->records = backward.list;
	t->n = backward.n;
	t->room = backward.room;
	return r;
}

int graph_calls_finish(struct graph_calls *c)
{
	struct depth_stack *stack = malloc(sizeof(*stack));
	size_t i, kept = 0;
	int r = stack ? 0 : -ENOMEM;

	for (i = 0; i < c->n; i++) {
		if (c->threads[i].calls && r == 0) {
			r = finish_thread(c, &c->threads[i], stack);
			c->threads[kept++] = c->threads[i];
		} else {
			free(c->threads[i].records);
		}
	}
	c->n = kept;
	free(stack);
	return r;
}
