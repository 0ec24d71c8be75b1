/* SPDX-License-Identifier: MIT */
/* names: see names.h. */
#include "trace/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/tasks.h"

struct names_source {
	struct trace_source source;
	struct trace_source *inner;
	struct tasks *tasks;
	struct trace_info table; /* as the first reading left it */
	bool started;
	bool is_learned; /* all that the trace tells is known; else it is learned as it comes */
	bool is_full;
	uint64_t until_ns; /* then: what came later was not learned */
	const atomic_bool *stop;
	bool idle_is_plain; /* one kernel for one CPU: its idle task has no number */
	int failed;
};

/* The filter's look at what it leaves out, and ours at what comes. */
static void learn(void *context, const struct trace_item *item)
{
	struct names_source *s = context;
	const struct sched_event *ev = &item->event;
	int r;

	if (item->type != ITEM_EVENT)
		return;
	if (ev->kind == SCHED_SWITCH &&
	    ((ev->task.pid == 0 && !strncmp(ev->task.comm, "swapper", SCHED_COMM_LEN)) ||
	     (ev->other.pid == 0 && !strncmp(ev->other.comm, "swapper", SCHED_COMM_LEN))))
		s->idle_is_plain = true;
	if (s->is_full || s->failed)
		return;
	r = tasks_add(s->tasks, item);
	if (r == -E2BIG || tasks_count(s->tasks) >= NAMES_MAX) {
		s->is_full = true;
		s->until_ns = clock_event_ns(&s->inner->info.clock, ev);
	} else if (r < 0) {
		s->failed = r;
	}
}

static int next_watched(struct names_source *s, struct trace_item *ret, struct error *e)
{
	int r = s->inner->ops->next(s->inner, ret, e);

	if (r > 0 && !s->is_learned && !s->inner->ops->watch)
		learn(s, ret);
	return s->failed ? error_set(e, -s->failed, "cannot learn names: out of memory") : r;
}

static int learn_all(struct names_source *s, struct error *e)
{
	struct error ignored = ERROR_INIT;
	struct trace_item item;
	int r;

	if (s->inner->ops->watch)
		s->inner->ops->watch(s->inner, learn, s);
	/* A pipe is found out before its events are used up. */
	r = s->inner->ops->rewind(s->inner, &ignored);
	if (r == -ESPIPE)
		return 0;
	if (r < 0) {
		*e = ignored;
		return r;
	}
	while ((r = next_watched(s, &item, e)) > 0)
		if (s->stop && atomic_load_explicit(s->stop, memory_order_relaxed))
			return error_set(e, ECANCELED, "nobody waits for the names any more");
	if (r < 0)
		return r;
	if (info_copy_tasks(&s->table, &s->inner->info) < 0)
		return error_set(e, ENOMEM, "cannot learn names: out of memory");
	tasks_set_info(s->tasks, &s->table);
	s->is_learned = true;
	if (s->inner->ops->watch)
		s->inner->ops->watch(s->inner, NULL, NULL);
	return s->inner->ops->rewind(s->inner, e);
}

static void set_comm(const struct names_source *s, struct trace_item *item)
{
	const char *name = tasks_runner(s->tasks, &item->event);
	char idle[32];

	/* The pid may have become another task, of which only the event itself can tell. */
	if (s->is_full && name != item->event.task.comm &&
	    clock_event_ns(&s->inner->info.clock, &item->event) > s->until_ns)
		name = NULL;

	memset(item->comm, 0, SCHED_COMM_LEN);
	item->comm_known = name || item->event.pid == 0;
	if (name) {
		memcpy(item->comm, name, SCHED_COMM_LEN);
	} else if (item->event.pid == 0) {
		snprintf(idle, sizeof(idle), s->idle_is_plain ? "swapper" : "swapper/%" PRIu32,
			 item->cpu);
		sched_comm_set(item->comm, idle, strlen(idle));
	}
}

static int names_next(struct trace_source *source, struct trace_item *ret, struct error *e)
{
	struct names_source *s = (struct names_source *)source;
	int r = 0;

	if (!s->started) {
		s->started = true;
		r = learn_all(s, e);
		if (r < 0)
			return r;
	}
	r = next_watched(s, ret, e);
	if (r > 0 && ret->type == ITEM_EVENT)
		set_comm(s, ret);
	if (r > 0)
		return r;
	s->source.info.skipped = s->inner->info.skipped;
	if (info_copy_tasks(&s->source.info, &s->inner->info) < 0)
		return error_set(e, ENOMEM, "cannot learn names: out of memory");
	return r;
}

static int names_rewind(struct trace_source *source, struct error *e)
{
	struct names_source *s = (struct names_source *)source;

	return s->inner->ops->rewind(s->inner, e);
}

static void names_progress(const struct trace_source *source, uint64_t *ret_done,
			   uint64_t *ret_total)
{
	const struct names_source *s = (const struct names_source *)source;

	*ret_done = 0;
	*ret_total = 0;
	if (s->inner->ops->progress)
		s->inner->ops->progress(s->inner, ret_done, ret_total);
}

static void names_free(struct trace_source *source)
{
	struct names_source *s = (struct names_source *)source;

	source_free(s->inner);
	tasks_free(s->tasks);
	info_done(&s->table);
	info_done(&s->source.info);
	free(s);
}

static const struct trace_source_ops names_ops = {
	.next = names_next,
	.rewind = names_rewind,
	.progress = names_progress,
	.free = names_free,
};

int names_source_new(struct trace_source **ret, struct trace_source *inner, const atomic_bool *stop,
		     struct error *e)
{
	struct names_source *s = calloc(1, sizeof(*s));

	if (!s || info_dup(&s->source.info, &inner->info) < 0 ||
	    info_dup(&s->table, &inner->info) < 0 || !(s->tasks = tasks_new(&inner->info))) {
		if (s) {
			info_done(&s->table);
			info_done(&s->source.info);
		}
		free(s);
		return error_set(e, ENOMEM, "cannot learn names: out of memory");
	}
	s->source.ops = &names_ops;
	s->source.info.has_comm = true;
	s->inner = inner;
	s->stop = stop;
	*ret = &s->source;
	return 0;
}
