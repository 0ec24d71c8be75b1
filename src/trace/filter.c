/* SPDX-License-Identifier: MIT */
/*
 * filter: see filter.h.
 *
 * With a begin in time, the inner source is sought to a little before it: by as much as a
 * tick_off_ns can move an event, which also shows most CPUs' running task before the range begins.
 * At the end, items of the range may still come after the first one beyond it, because a loss stands
 * anywhere in its interval: reading stops when every CPU has passed the end, or TAIL_NS later.
 */
#include "trace/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

#define LEAD_NS ((uint64_t)INT32_MAX)
#define TAIL_NS (10ULL * 1000000000)
#define CACHE_SLOTS 256U

/* Who runs on a CPU, as the last switch said, and whether its name matches. */
struct running {
	bool known;
	bool past_end;
	int32_t pid;
	char comm[SCHED_COMM_LEN];
};

struct cached {
	bool used;
	bool match;
	char comm[SCHED_COMM_LEN];
};

struct filter_source {
	struct trace_source source;
	struct trace_source *inner;
	struct trace_filter filter;
	struct running *running; /* TRACE_CPUS_MAX of them */
	uint32_t cpus_past_end;
	bool started;
	bool ended;
	uint64_t from_ns, to_ns;
	uint64_t now_ns; /* of the event that is looked at */
	void (*seen)(void *context, const struct trace_item *item); /* NULL: nobody watches */
	void *seen_context;
	struct cached cache[CACHE_SLOTS];
};

void filter_init(struct trace_filter *f)
{
	memset(f, 0, sizeof(*f));
}

void filter_done(struct trace_filter *f)
{
	size_t i;

	for (i = 0; i < f->n_comms; i++)
		free(f->comms[i]);
	free(f->comms);
	free(f->pids);
	free(f->lives);
	memset(f, 0, sizeof(*f));
}

bool filter_is_empty(const struct trace_filter *f)
{
	return !f->from.given && !f->to.given && !f->cpus_given && !f->kinds && !f->n_pids &&
	       !f->n_comms && !f->n_lives;
}

int filter_add_pid(struct trace_filter *f, int32_t pid)
{
	size_t room = f->room_pids ? f->room_pids * 2 : 16;
	int32_t *grown;

	if (f->n_pids >= FILTER_PIDS_MAX)
		return -E2BIG;
	if (f->n_pids == f->room_pids) {
		grown = realloc(f->pids, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		f->pids = grown;
		f->room_pids = room;
	}
	f->pids[f->n_pids++] = pid;
	return 0;
}

int filter_add_comm(struct trace_filter *f, const char *pattern, size_t len)
{
	if (f->n_comms >= FILTER_COMMS_MAX || len >= FILTER_COMM_LEN)
		return -E2BIG;
	if (!f->comms) {
		f->comms = calloc(FILTER_COMMS_MAX, sizeof(*f->comms));
		if (!f->comms)
			return -ENOMEM;
	}
	f->comms[f->n_comms] = strndup(pattern, len);
	if (!f->comms[f->n_comms])
		return -ENOMEM;
	f->n_comms++;
	return 0;
}

static int compare_pids(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool pid_matches(const struct trace_filter *f, int32_t pid)
{
	return f->n_pids && bsearch(&pid, f->pids, f->n_pids, sizeof(pid), compare_pids);
}

static bool any_pattern_matches(const struct trace_filter *f, const char comm[SCHED_COMM_LEN])
{
	char name[SCHED_COMM_LEN + 1] = { 0 };
	size_t i;

	memcpy(name, comm, SCHED_COMM_LEN);
	for (i = 0; i < f->n_comms; i++)
		if (!fnmatch(f->comms[i], name, 0))
			return true;
	return false;
}

void filter_settle(struct trace_filter *f)
{
	if (f->n_pids)
		qsort(f->pids, f->n_pids, sizeof(*f->pids), compare_pids);
}

bool filter_has_task(const struct trace_filter *f, int32_t pid, const char comm[SCHED_COMM_LEN],
		     uint64_t ns)
{
	if (!f->n_pids && !f->n_comms && !f->n_lives)
		return true;
	return pid_matches(f, pid) || filter_has_life(f, pid, ns) || any_pattern_matches(f, comm);
}

/* Patterns are slow and names few, so the answers are kept. */
static bool comm_matches(struct filter_source *s, const char comm[SCHED_COMM_LEN])
{
	struct cached *c;
	uint32_t hash = 2166136261U, i;

	if (!s->filter.n_comms)
		return false;
	for (i = 0; i < SCHED_COMM_LEN; i++)
		hash = (hash ^ (uint8_t)comm[i]) * 16777619U;
	c = &s->cache[(hash ^ hash >> 16) % CACHE_SLOTS];
	if (!c->used || memcmp(c->comm, comm, SCHED_COMM_LEN)) {
		memcpy(c->comm, comm, SCHED_COMM_LEN);
		c->match = any_pattern_matches(&s->filter, comm);
		c->used = true;
	}
	return c->match;
}

static bool task_matches(struct filter_source *s, const struct sched_task *t)
{
	return pid_matches(&s->filter, t->pid) || filter_has_life(&s->filter, t->pid, s->now_ns) ||
	       comm_matches(s, t->comm);
}

/* A task that the event names by its pid alone. */
static bool bare_pid_matches(struct filter_source *s, uint32_t cpu, int32_t pid)
{
	const struct running *r = &s->running[cpu];
	const struct trace_task *t;

	if (pid_matches(&s->filter, pid) || filter_has_life(&s->filter, pid, s->now_ns))
		return true;
	if (!s->filter.n_comms)
		return false;
	if (r->known && r->pid == pid)
		return comm_matches(s, r->comm);
	t = info_get_task(&s->inner->info, pid);
	return t && comm_matches(s, t->comm);
}

static bool tasks_match(struct filter_source *s, uint32_t cpu, const struct sched_event *e)
{
	if (!s->filter.n_pids && !s->filter.n_comms && !s->filter.n_lives)
		return true;
	if (bare_pid_matches(s, cpu, e->pid))
		return true;
	switch (e->kind) {
	case SCHED_SWITCH:
	case SCHED_FORK:
		return task_matches(s, &e->task) || task_matches(s, &e->other);
	case SCHED_EXEC:
		return bare_pid_matches(s, cpu, e->task.pid) || bare_pid_matches(s, cpu, e->value);
	case SCHED_RENAME:
		return task_matches(s, &e->task) || comm_matches(s, e->other.comm);
	default:
		return task_matches(s, &e->task);
	}
}

static void follow(struct filter_source *s, uint32_t cpu, const struct sched_event *e)
{
	struct running *r = &s->running[cpu];

	if (e->kind == SCHED_SWITCH) {
		r->known = true;
		r->pid = e->other.pid;
		memcpy(r->comm, e->other.comm, SCHED_COMM_LEN);
	} else if (e->kind == SCHED_RENAME && r->known && r->pid == e->task.pid) {
		memcpy(r->comm, e->other.comm, SCHED_COMM_LEN);
	}
}

static bool cpu_passes(const struct trace_filter *f, uint32_t cpu)
{
	return !f->cpus_given || f->cpus[cpu / 64] >> (cpu % 64) & 1;
}

static bool event_passes(struct filter_source *s, const struct trace_item *item)
{
	const struct sched_event *e = &item->event;
	uint64_t ns = clock_event_ns(&s->source.info.clock, e);
	bool pass;

	s->now_ns = ns;
	pass = ns >= s->from_ns && ns < s->to_ns && cpu_passes(&s->filter, item->cpu) &&
	       (!s->filter.kinds || s->filter.kinds >> e->kind & 1) && tasks_match(s, item->cpu, e);

	if (s->filter.n_comms)
		follow(s, item->cpu, e);
	return pass;
}

static bool loss_passes(struct filter_source *s, const struct trace_item *item)
{
	const struct trace_clock *clock = &s->source.info.clock;
	uint64_t from = item->loss.from_tick ? clock_ns(clock, item->loss.from_tick) : 0;

	s->running[item->cpu].known = false;
	return cpu_passes(&s->filter, item->cpu) && from < s->to_ns &&
	       clock_ns(clock, item->loss.to_tick) >= s->from_ns;
}

static uint64_t item_ns(const struct filter_source *s, const struct trace_item *item)
{
	const struct trace_clock *clock = &s->source.info.clock;

	if (item->type == ITEM_EVENT)
		return clock_event_ns(clock, &item->event);
	return clock_ns(clock, item->loss.from_tick ? item->loss.from_tick : item->loss.to_tick);
}

static uint64_t absolute(const struct filter_time *t, uint64_t start_ns)
{
	if (!t->relative)
		return t->ns;
	return t->ns > UINT64_MAX - start_ns ? UINT64_MAX : start_ns + t->ns;
}

/* Settles the range, for which the first item's time is needed if it is relative, and skips to its
 * begin. 1: *item is to be looked at; 0: it is too early, read on. */
static int start(struct filter_source *s, const struct trace_item *item, struct error *e)
{
	const struct trace_filter *f = &s->filter;
	uint64_t start_ns = item_ns(s, item);
	uint64_t seek_ns;
	int r;

	s->started = true;
	s->from_ns = f->from.given ? absolute(&f->from, start_ns) : 0;
	s->to_ns = f->to.given ? absolute(&f->to, start_ns) : UINT64_MAX;
	seek_ns = s->from_ns > LEAD_NS ? s->from_ns - LEAD_NS : 0;
	if (!s->inner->ops->seek || seek_ns <= start_ns)
		return 1;
	r = s->inner->ops->seek(s->inner, clock_tick_at(&s->source.info.clock, seek_ns), e);
	return r < 0 ? r : 0;
}

/* May reading stop? */
static bool is_past_end(struct filter_source *s, const struct trace_item *item)
{
	struct running *r = &s->running[item->cpu];
	uint64_t ns = item_ns(s, item);

	if (ns < s->to_ns || s->to_ns == UINT64_MAX)
		return false;
	if (item->type == ITEM_EVENT && !r->past_end) {
		r->past_end = true;
		s->cpus_past_end++;
	}
	return s->cpus_past_end >= s->source.info.cpus || ns - s->to_ns >= TAIL_NS;
}

static int end(struct filter_source *s, int r, struct error *e)
{
	s->ended = true;
	s->source.info.skipped = s->inner->info.skipped;
	if (info_copy_tasks(&s->source.info, &s->inner->info) < 0)
		return error_set(e, ENOMEM, "cannot filter: out of memory");
	return r;
}

static int filter_next(struct trace_source *source, struct trace_item *ret, struct error *e)
{
	struct filter_source *s = (struct filter_source *)source;
	int r = s->started ? 0 : filter_find_lives(&s->filter, s->inner, e);

	if (r < 0)
		return r;
	while (!s->ended) {
		r = s->inner->ops->next(s->inner, ret, e);
		if (r <= 0)
			return end(s, r, e);
		if (ret->cpu >= TRACE_CPUS_MAX)
			return error_set(e, EBADMSG, "cannot filter: no CPU %u", ret->cpu);
		if (!s->started) {
			r = start(s, ret, e);
			if (r < 0)
				return r;
			if (r == 0)
				continue;
		}
		if (is_past_end(s, ret))
			return end(s, 0, e);
		if (s->seen)
			s->seen(s->seen_context, ret);
		if (ret->type == ITEM_EVENT ? event_passes(s, ret) : loss_passes(s, ret))
			return 1;
	}
	return 0;
}

static void forget(struct filter_source *s)
{
	memset(s->running, 0, TRACE_CPUS_MAX * sizeof(*s->running));
	s->cpus_past_end = 0;
	s->ended = false;
}

static int filter_rewind(struct trace_source *source, struct error *e)
{
	struct filter_source *s = (struct filter_source *)source;
	int r = s->inner->ops->rewind(s->inner, e);

	if (r < 0)
		return r;
	forget(s);
	s->started = false;
	return 0;
}

/* The range must be settled first: it may depend on the first item. */
static int filter_seek(struct trace_source *source, uint64_t tick, struct error *e)
{
	struct filter_source *s = (struct filter_source *)source;
	uint64_t first = 0, lead;
	struct trace_item item;
	int r;

	if (!s->started) {
		r = filter_find_lives(&s->filter, s->inner, e);
		if (r >= 0)
			r = s->inner->ops->next(s->inner, &item, e);
		if (r <= 0)
			return r < 0 ? r : 0;
		r = start(s, &item, e);
		if (r < 0)
			return r;
	}
	lead = s->from_ns > LEAD_NS ? s->from_ns - LEAD_NS : 0;
	if (lead)
		first = clock_tick_at(&s->source.info.clock, lead);
	forget(s);
	return s->inner->ops->seek(s->inner, tick > first ? tick : first, e);
}

static void filter_progress(const struct trace_source *source, uint64_t *ret_done,
			    uint64_t *ret_total)
{
	const struct filter_source *s = (const struct filter_source *)source;

	*ret_done = 0;
	*ret_total = 0;
	if (s->inner->ops->progress)
		s->inner->ops->progress(s->inner, ret_done, ret_total);
}

static void filter_watch(struct trace_source *source,
			 void (*seen)(void *context, const struct trace_item *item), void *context)
{
	struct filter_source *s = (struct filter_source *)source;

	s->seen = seen;
	s->seen_context = context;
}

static void filter_free(struct trace_source *source)
{
	struct filter_source *s = (struct filter_source *)source;

	source_free(s->inner);
	filter_done(&s->filter);
	info_done(&s->source.info);
	free(s->running);
	free(s);
}

static const struct trace_source_ops filter_ops = {
	.next = filter_next,
	.rewind = filter_rewind,
	.watch = filter_watch,
	.progress = filter_progress,
	.free = filter_free,
};
static const struct trace_source_ops filter_ops_seek = {
	.next = filter_next,
	.rewind = filter_rewind,
	.watch = filter_watch,
	.seek = filter_seek,
	.progress = filter_progress,
	.free = filter_free,
};

int filter_source_new(struct trace_source **ret, struct trace_source *inner, struct trace_filter *f,
		      struct error *e)
{
	_cleanup_free_ struct running *running = calloc(TRACE_CPUS_MAX, sizeof(*running));
	_cleanup_free_ struct filter_source *s = calloc(1, sizeof(*s));

	if (!s || !running || info_dup(&s->source.info, &inner->info) < 0)
		return error_set(e, ENOMEM, "cannot filter: out of memory");
	s->source.ops = inner->ops->seek ? &filter_ops_seek : &filter_ops;
	s->inner = inner;
	s->filter = *f;
	filter_settle(&s->filter);
	if (f->kinds)
		s->source.info.dialect.kinds &= f->kinds;
	s->running = take_ptr(running);
	filter_init(f);
	*ret = &s->source;
	s = NULL;
	return 0;
}
