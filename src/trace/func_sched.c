/* SPDX-License-Identifier: MIT */
/*
 * func_sched: see func_sched.h.
 *
 * Both sources are in order, so it is a merge of two. An event of the scheduler is not looked at
 * before all calls up to it were given, since it is by these that threads are known. It makes up to
 * two records, and a loss one for each thread alive; these then come before anything else.
 */
#include "trace/func_sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/func_clock.h"
#include "trace/pidmap.h"

#define NO_THREAD UINT32_MAX

/* Who has a tid now. */
struct owner {
	int32_t tid;
	uint32_t thread; /* that called last, NO_THREAD: none has, or it exited */
	uint8_t waking;	 /* kind of event that woke it last, + 1; 0 since it runs */
};

struct func_sched {
	struct func_source source;
	struct func_source *calls;
	struct trace_source *sched;
	struct pidmap *owners;
	bool *watched;	       /* by thread: it has records of its own */
	uint64_t add_ns;       /* modulo 2^64: the scheduler's nanoseconds to CLOCK_MONOTONIC */
	struct func_item call; /* the next one of the calls, */
	bool has_call, calls_over;
	struct trace_item item; /* and of the scheduler's, */
	uint64_t item_tick;	/* with its tick on the axis of the calls */
	bool has_item, sched_over;
	struct func_item records[2]; /* of the scheduler's last event */
	uint32_t n_records, at_record;
	struct trace_loss loss; /* to be told of the threads alive, */
	size_t loss_owner;	/* from this owner on, */
	bool has_loss;
	struct trace_loss lasting; /* and of those that call for the first time until its end */
};

static void sched_free(struct func_source *s)
{
	struct func_sched *f = (struct func_sched *)s;

	func_source_free(f->calls);
	source_free(f->sched);
	pidmap_free(f->owners);
	free(f->watched);
	func_source_done(s);
	free(f);
}

static uint64_t tick_of(const struct func_sched *f, uint64_t ns)
{
	return func_clock_tick_at(f->calls, ns + f->add_ns);
}

static struct owner *owner_of(const struct func_sched *f, int32_t tid)
{
	struct owner *o = pidmap_get(f->owners, tid);

	return o && o->thread != NO_THREAD ? o : NULL;
}

static void add_record(struct func_sched *f, const struct owner *o, const struct func_event *ev)
{
	struct func_item *i = &f->records[f->n_records++];

	memset(i, 0, sizeof(*i));
	i->type = FUNC_ITEM_EVENT;
	i->thread = o->thread;
	i->event = *ev;
}

static void take_switch(struct func_sched *f, uint32_t cpu, const struct sched_event *ev,
			struct func_event *record)
{
	const struct owner *out = owner_of(f, ev->task.pid);
	struct owner *in = owner_of(f, ev->other.pid);

	if (out) {
		record->os = FUNC_OS_SWITCH_OUT;
		record->value = ev->state & f->sched->info.dialect.state_mask ? ev->state : 0;
		add_record(f, out, record);
	}
	if (in) {
		in->waking = 0;
		record->os = FUNC_OS_SWITCH_IN;
		record->value = cpu;
		add_record(f, in, record);
	}
}

static void take_waking(struct func_sched *f, const struct sched_event *ev,
			struct func_event *record)
{
	struct owner *woken = owner_of(f, ev->task.pid);

	if (!woken || (woken->waking && woken->waking != ev->kind + 1))
		return;
	woken->waking = (uint8_t)(ev->kind + 1);
	record->os = FUNC_OS_WAKING;
	record->value = (uint64_t)(int64_t)ev->pid;
	add_record(f, woken, record);
}

static void take_event(struct func_sched *f, uint32_t cpu, const struct sched_event *ev)
{
	struct func_event record = { .kind = FUNC_OS, .tick = f->item_tick };
	struct owner *gone;

	f->n_records = f->at_record = 0;
	switch (ev->kind) {
	case SCHED_SWITCH:
		take_switch(f, cpu, ev, &record);
		break;
	case SCHED_WAKING:
	case SCHED_WAKEUP:
	case SCHED_WAKEUP_NEW:
		take_waking(f, ev, &record);
		break;
	case SCHED_EXIT:
	case SCHED_FORK: /* the tid is another task's now, whether its owner's exit was seen or not */
		gone = owner_of(f, ev->kind == SCHED_FORK ? ev->other.pid : ev->task.pid);
		if (gone)
			gone->thread = NO_THREAD;
		break;
	default:
		break;
	}
}

static void take_loss(struct func_sched *f, const struct trace_loss *loss)
{
	const struct trace_clock *c = &f->sched->info.clock;

	f->loss = *loss;
	f->loss.from_tick = f->item_tick;
	f->loss.to_tick = tick_of(f, clock_ns(c, loss->to_tick));
	f->loss_owner = 0;
	f->has_loss = true;
	if (f->loss.to_tick > f->lasting.to_tick)
		f->lasting = f->loss;
}

static void set_loss(struct func_item *i, uint32_t thread, const struct trace_loss *loss)
{
	memset(i, 0, sizeof(*i));
	i->type = FUNC_ITEM_LOSS;
	i->thread = thread;
	i->loss = *loss;
	i->os_only = true;
}

/* The next record of the scheduler's side that is already made: NULL if there is none. */
static const struct func_item *peek_record(struct func_sched *f)
{
	struct func_item *i = &f->records[0];
	const struct owner *o;

	if (f->at_record < f->n_records)
		return &f->records[f->at_record];
	for (; f->has_loss && f->loss_owner < pidmap_count(f->owners); f->loss_owner++) {
		o = pidmap_at(f->owners, f->loss_owner);
		if (o->thread == NO_THREAD)
			continue;
		set_loss(i, o->thread, &f->loss);
		return i;
	}
	f->has_loss = false;
	return NULL;
}

static void pop_record(struct func_sched *f)
{
	if (f->at_record < f->n_records)
		f->at_record++;
	else
		f->loss_owner++;
}

static bool is_watch(const struct func_item *i)
{
	return i->type == FUNC_ITEM_EVENT && i->event.kind == FUNC_OS &&
	       i->event.os == FUNC_OS_WATCH;
}

static void set_watched(struct func_sched *f, int32_t tid)
{
	struct owner *o = owner_of(f, tid);

	f->watched[f->call.thread] = true;
	if (o && o->thread == f->call.thread)
		o->thread = NO_THREAD;
}

/* A call's thread has its tid from now on. 0 or -ENOMEM. */
static int follow_call(struct func_sched *f)
{
	const struct func_thread *t = &f->source.threads[f->call.thread];
	struct owner *o;
	bool is_new;

	if (is_watch(&f->call))
		set_watched(f, t->tid);
	/* Streams of a CPU have no tid, nor has what stands for threads without a slot. */
	if (f->call.type != FUNC_ITEM_EVENT || f->call.event.kind == FUNC_OS || t->cpu >= 0 ||
	    !t->tid || f->watched[f->call.thread])
		return 0;
	is_new = !pidmap_get(f->owners, t->tid);
	o = pidmap_add(f->owners, t->tid);
	if (!o)
		return -ENOMEM;
	is_new = is_new || o->thread != f->call.thread;
	if (!is_new)
		return 0;
	o->waking = 0;
	o->thread = f->call.thread;
	if (f->lasting.to_tick > f->call.event.tick) {
		f->at_record = 0;
		f->n_records = 1;
		set_loss(&f->records[0], o->thread, &f->lasting);
	}
	return 0;
}

/* 1: there is a next call; 0: there is none. */
static int peek_call(struct func_sched *f, struct error *e)
{
	int r;

	if (f->has_call || f->calls_over)
		return f->has_call;
	r = f->calls->ops->next(f->calls, &f->call, e);
	f->has_call = r == 1;
	f->calls_over = r == 0;
	return r;
}

static int peek_item(struct func_sched *f, struct error *e)
{
	const struct trace_clock *c = &f->sched->info.clock;
	const struct trace_item *i = &f->item;
	int r;

	if (f->has_item || f->sched_over)
		return f->has_item;
	r = f->sched->ops->next(f->sched, &f->item, e);
	f->has_item = r == 1;
	f->sched_over = r == 0;
	if (r != 1)
		return r;
	if (i->type == ITEM_EVENT)
		f->item_tick = tick_of(f, clock_event_ns(c, &i->event));
	else /* 0: nothing came before */
		f->item_tick = i->loss.from_tick ? tick_of(f, clock_ns(c, i->loss.from_tick)) : 0;
	return 1;
}

static void take_item(struct func_sched *f)
{
	f->has_item = false;
	/* A trace that has no switches tells nobody whether a thread runs. */
	f->source.watched |= f->item.type == ITEM_EVENT && f->item.event.kind == SCHED_SWITCH;
	if (f->item.type == ITEM_EVENT)
		take_event(f, f->item.cpu, &f->item.event);
	else
		take_loss(f, &f->item.loss);
}

static int give_call(struct func_sched *f, struct func_item *ret, struct error *e)
{
	int r = follow_call(f);

	if (r < 0)
		return error_set(e, r, "cannot follow the threads: %s", strerror(-r));
	*ret = f->call;
	f->has_call = false;
	f->source.watched &= f->has_item;
	return 1;
}

static int sched_next(struct func_source *s, struct func_item *ret, struct error *e)
{
	struct func_sched *f = (struct func_sched *)s;
	const struct func_item *record;
	int r;

	while (!(record = peek_record(f))) {
		r = peek_call(f, e);
		if (r >= 0)
			r = peek_item(f, e);
		if (r < 0)
			return r;
		if (f->has_item && (!f->has_call || f->item_tick < func_item_tick(&f->call)))
			take_item(f);
		else
			return f->has_call ? give_call(f, ret, e) : 0;
	}
	*ret = *record;
	pop_record(f);
	return 1;
}

static int sched_rewind(struct func_source *s, struct error *e)
{
	struct func_sched *f = (struct func_sched *)s;
	struct pidmap *owners = pidmap_new(sizeof(struct owner));
	int r = f->calls->ops->rewind(f->calls, e);

	if (r == 0)
		r = f->sched->ops->rewind(f->sched, e);
	if (r == 0 && !owners)
		r = error_set(e, ENOMEM, "out of memory");
	if (r < 0) {
		pidmap_free(owners);
		return r;
	}
	pidmap_free(f->owners);
	f->owners = owners;
	f->has_call = f->calls_over = f->has_item = f->sched_over = f->has_loss = false;
	f->source.watched = false;
	memset(f->watched, 0, f->source.n_threads * sizeof(*f->watched));
	f->n_records = f->at_record = 0;
	memset(&f->lasting, 0, sizeof(f->lasting));
	return 0;
}

static void sched_progress(const struct func_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct func_sched *f = (const struct func_sched *)s;

	*ret_done = *ret_total = 0;
	if (f->calls->ops->progress)
		f->calls->ops->progress(f->calls, ret_done, ret_total);
}

static const struct func_source_ops sched_ops = {
	.next = sched_next,
	.rewind = sched_rewind,
	.progress = sched_progress,
	.free = sched_free,
};

int func_sched_offset(const struct trace_clock *a, const struct trace_clock *b, uint64_t *ret_ns,
		      struct error *e)
{
	if (!strcmp(a->name, b->name) && a->name[0]) {
		*ret_ns = 0;
		return 0;
	}
	if (a->has_realtime && b->has_realtime) {
		*ret_ns = (uint64_t)b->realtime_off_ns - (uint64_t)a->realtime_off_ns;
		return 0;
	}
	return error_set(
		e, EXDEV,
		"cannot lay the scheduler's events beside the calls: their clocks (%s, %s) "
		"have nothing in common",
		b->name[0] ? b->name : "not named", a->name[0] ? a->name : "not named");
}

int func_sched_new(struct func_source *calls, struct trace_source *sched, struct func_source **ret,
		   struct error *e)
{
	struct func_sched *f = calloc(1, sizeof(*f));
	int r;

	if (!f) {
		func_source_free(calls);
		source_free(sched);
		return error_set(e, ENOMEM, "out of memory");
	}
	f->source.ops = &sched_ops;
	f->calls = calls;
	f->sched = sched;
	f->owners = pidmap_new(sizeof(struct owner));
	f->watched = calloc(calls->n_threads + 1, sizeof(*f->watched));
	r = f->owners && f->watched ? func_source_dup(&f->source, calls) : -ENOMEM;
	r = r < 0 ? error_set(e, r, "%s", strerror(-r))
		  : func_sched_offset(&calls->clock, &sched->info.clock, &f->add_ns, e);
	if (r < 0) {
		sched_free(&f->source);
		return r;
	}
	*ret = &f->source;
	return 0;
}
