/* SPDX-License-Identifier: MIT */
/* wake_chain: see wake_chain.h. */
#include "collector/wake_chain.h"

#include <errno.h>
#include <string.h>

#include "analysis/json_value.h"
#include "collector/detail.h"

#define WINDOW_EVENTS 20000U /* of the first window, about */
#define WINDOW_EVENTS_MAX 500000U
#define READ_EVENTS_MAX 2000000U /* of all windows */
#define WINDOW_NS_LEAST 1000000U
#define WINDOW_GROWTH 4U

enum chain_end {
	CHAIN_GOES_ON = 0,
	CHAIN_IDLE,
	CHAIN_START,
	CHAIN_LOSS,
	CHAIN_LONG,
};

static const char *const end_words[] = { NULL, "idle", "start", "loss", "long" };

static const char *const state_words[SPAN_STATES] = {
	"unknown",	   "running", "runnable", "preempted", "sleeping",
	"uninterruptible", "stopped", "dead",	  "idle",      "unborn",
};

struct chain {
	struct store *store;
	struct wake_chain_query q;
	uint64_t first_ns; /* of the run */
	uint64_t window_ns;
	uint64_t read;
	struct detail *detail; /* of the window, */
	const struct spans *s; /* and its spans */
	int32_t pid;
	uint64_t at_ns; /* the task's last wakeup up to here is searched */
	bool seen;	/* something is known of the first task */
	json_t *steps;
	enum chain_end end;
};

/* --- windows --- */

static int read_window(struct chain *c, struct error *e)
{
	struct detail_query q = { .run = c->q.run.number,
				  .to_ns = c->at_ns + 1,
				  .limit = WINDOW_EVENTS_MAX,
				  .is_over = c->q.is_over,
				  .context = c->q.context };
	int r;

	q.from_ns = c->at_ns > c->first_ns + c->window_ns ? c->at_ns - c->window_ns : c->first_ns;
	detail_free(c->detail);
	c->detail = NULL;
	c->s = NULL;
	r = detail_open(&c->detail, c->store, &q, e);
	if (r >= 0)
		r = detail_read(c->detail, &c->s, e);
	if (r >= 0)
		c->read += c->s->events;
	return r;
}

/* A window that ends where the chain is and is longer than the last. Sets the end if there is none:
 * all was read, or enough. */
static int grow_window(struct chain *c, struct error *e)
{
	int r;

	if (c->s && c->s->from_ns <= c->first_ns) {
		c->end = CHAIN_START;
		return 0;
	}
	if (c->read >= READ_EVENTS_MAX) {
		c->end = CHAIN_LONG;
		return 0;
	}
	if (c->s)
		c->window_ns = c->window_ns > UINT64_MAX / WINDOW_GROWTH
				       ? UINT64_MAX
				       : c->window_ns * WINDOW_GROWTH;
	r = read_window(c, e);
	if (r != -EFBIG)
		return r;
	c->end = CHAIN_LONG;
	return 0;
}

/* --- one step --- */

/* When something is known of a task for the first time. */
static uint64_t known_from(const struct spans *s, const struct span_task *t)
{
	uint64_t at_ns = s->from_ns;
	size_t i;

	for (i = 0; i < t->n_spans; i++) {
		const struct span *one = &s->spans[t->first_span + i];

		if (one->state != SPAN_UNKNOWN && one->state != SPAN_UNBORN)
			return at_ns;
		at_ns += one->length_ns;
	}
	return UINT64_MAX;
}

/* The pid's task at a time: the last that was born by then, else the first. */
static uint32_t find_task(const struct spans *s, int32_t pid, uint64_t at_ns)
{
	uint32_t found = TRACKER_NONE, i;

	for (i = 0; i < s->n_tasks; i++)
		if (s->tasks[i].shown && s->tasks[i].pid == pid &&
		    (found == TRACKER_NONE || known_from(s, &s->tasks[i]) <= at_ns))
			found = i;
	return found;
}

/* What the task was right before a time, and since when; NULL at the window's start. */
static const struct span *span_before(const struct spans *s, uint32_t task, uint64_t ns,
				      uint64_t *ret_from_ns)
{
	const struct span_task *t = &s->tasks[task];
	const struct span *found = NULL;
	uint64_t at_ns = s->from_ns;
	size_t i;

	for (i = 0; i < t->n_spans && at_ns < ns; i++) {
		found = &s->spans[t->first_span + i];
		*ret_from_ns = at_ns;
		at_ns += found->length_ns;
	}
	return at_ns < ns ? NULL : found;
}

/* Is there time of which nothing is known, within the window, not before its start? */
static bool is_lost_since(const struct spans *s, uint32_t task, uint64_t from_ns, uint64_t to_ns)
{
	const struct span_task *t = &s->tasks[task];
	uint64_t at_ns = s->from_ns, length_ns;
	size_t i;

	for (i = 0; i < t->n_spans && at_ns < to_ns; i++) {
		length_ns = s->spans[t->first_span + i].length_ns;
		if (s->spans[t->first_span + i].state == SPAN_UNKNOWN && at_ns > s->from_ns &&
		    at_ns + length_ns > from_ns)
			return true;
		at_ns += length_ns;
	}
	return at_ns > s->from_ns && at_ns < to_ns;
}

/* A wakeup of a task that ran or could run already has brought nothing about. */
static bool is_cause(const struct spans *s, const struct span_wakeup *w)
{
	uint64_t from_ns;
	const struct span *before = span_before(s, w->task, w->ns, &from_ns);

	if (!before || before->state == SPAN_UNKNOWN)
		return true;
	if (before->state == SPAN_RUNNING)
		return w->ran_ns;
	return before->state != SPAN_WOKEN && before->state != SPAN_PREEMPTED;
}

static const struct span_wakeup *find_wakeup(const struct spans *s, uint32_t task, uint64_t at_ns)
{
	size_t i;

	for (i = s->n_wakeups; i > 0; i--)
		if (s->wakeups[i - 1].task == task && s->wakeups[i - 1].ns <= at_ns &&
		    is_cause(s, &s->wakeups[i - 1]))
			return &s->wakeups[i - 1];
	return NULL;
}

/* The CPU on which the task was at a time. */
static json_t *cpu_json(const struct spans *s, uint32_t task, uint64_t ran_ns)
{
	uint64_t from_ns;
	const struct span *run = ran_ns ? span_before(s, task, ran_ns + 1, &from_ns) : NULL;

	return run && run->state == SPAN_RUNNING ? json_value_count(run->cpu) : json_null();
}

static json_t *ns_json(uint64_t ns)
{
	return ns ? json_value_count(ns) : json_null();
}

static int put_step(struct chain *c, const struct span_wakeup *w)
{
	const struct spans *s = c->s;
	const struct span_task *task = &s->tasks[w->task];
	const struct span_task *waker = w->waker == TRACKER_NONE ? NULL : &s->tasks[w->waker];
	uint64_t from_ns = 0;
	const struct span *before = span_before(s, w->task, w->ns, &from_ns);
	bool whole = before && (from_ns > s->from_ns || from_ns <= c->first_ns);
	uint8_t state = before ? before->state : SPAN_UNKNOWN;
	json_t *o = json_object();

	json_object_set_new(o, "pid", json_integer(task->pid));
	json_object_set_new(o, "comm", json_value_comm(task->comm));
	json_object_set_new(o, "woken_ns", json_value_count(w->ns));
	json_object_set_new(o, "ran_ns", ns_json(w->ran_ns));
	json_object_set_new(o, "cpu", cpu_json(s, w->task, w->ran_ns));
	json_object_set_new(o, "state_before", json_string(state_words[state]));
	json_object_set_new(o, "slept_ns",
			    whole && state && state != SPAN_UNBORN
				    ? json_value_count(w->ns - from_ns)
				    : json_null());
	json_object_set_new(o, "waker_pid", waker ? json_integer(waker->pid) : json_null());
	json_object_set_new(o, "waker_comm", waker ? json_value_comm(waker->comm) : json_null());
	json_object_set_new(o, "waker_cpu", json_value_count(w->cpu));
	json_object_set_new(o, "waker_softirq", json_boolean(w->softirq));
	return json_array_append_new(c->steps, o);
}

/* Finds the wakeup that is asked for in the window, and goes on to who caused it. False: it is not
 * in the window. */
static bool step(struct chain *c)
{
	uint32_t task = find_task(c->s, c->pid, c->at_ns);
	const struct span_wakeup *w;

	if (task == TRACKER_NONE)
		return false;
	c->seen = true;
	w = find_wakeup(c->s, task, c->at_ns);
	if (is_lost_since(c->s, task, w ? w->ns : c->s->from_ns, c->at_ns)) {
		c->end = CHAIN_LOSS;
		return true;
	}
	if (!w)
		return false;
	put_step(c, w);
	if (w->waker == TRACKER_NONE) {
		c->end = CHAIN_IDLE;
		return true;
	}
	c->pid = c->s->tasks[w->waker].pid;
	c->at_ns = w->ns;
	if (json_array_size(c->steps) >= c->q.limit)
		c->end = CHAIN_LONG;
	return true;
}

/* --- the chain --- */

static int begin(struct chain *c, struct error *e)
{
	uint64_t length_ns = c->q.last_ns - c->q.first_ns, each_ns;

	c->first_ns = c->q.first_ns;
	if (c->at_ns < c->first_ns)
		return error_set(e, ENOENT, "run %u begins later than that", c->q.run.number);
	if (c->at_ns - c->first_ns > length_ns)
		c->at_ns = c->first_ns + length_ns;
	each_ns = length_ns / (c->q.run.events + 1) + 1;
	c->window_ns = each_ns * WINDOW_EVENTS;
	if (c->window_ns < WINDOW_NS_LEAST)
		c->window_ns = WINDOW_NS_LEAST;
	return 0;
}

static int follow(struct chain *c, struct error *e)
{
	int r = 0;

	while (r >= 0 && c->end == CHAIN_GOES_ON)
		if (!c->s || !step(c))
			r = grow_window(c, e);
	return r;
}

int wake_chain_make(struct store *s, const struct wake_chain_query *q, json_t **ret,
		    struct error *e)
{
	struct chain c = { .store = s, .q = *q, .pid = q->pid, .at_ns = q->at_ns };
	int r = begin(&c, e);

	c.steps = json_array();
	if (r >= 0)
		r = follow(&c, e);
	detail_free(c.detail);
	if (r >= 0 && !c.seen)
		r = error_set(e, ENOENT, "nothing is known of task %d at that time", q->pid);
	if (r < 0) {
		json_decref(c.steps);
		return r;
	}
	*ret = json_pack("{sI si sI so ss}", "run", (json_int_t)q->run.number, "pid", (int)q->pid,
			 "at_ns", (json_int_t)q->at_ns, "steps", c.steps, "ends", end_words[c.end]);
	return 0;
}
