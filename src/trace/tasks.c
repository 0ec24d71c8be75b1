/* SPDX-License-Identifier: MIT */
/* tasks: see tasks.h. Names lie in one array; each pid knows its first and last, each name its next. */
#include "trace/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/pidmap.h"

#define NONE UINT32_MAX

struct life {
	int32_t pid; /* as pidmap wants it */
	bool started;
	uint32_t first, last; /* names */
};

struct tasks {
	const struct trace_info *info;
	struct pidmap *lives;
	struct task_name *names;
	uint32_t *next; /* of the same pid, or NONE */
	size_t n, room;
};

struct tasks *tasks_new(const struct trace_info *info)
{
	struct tasks *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->info = info;
	t->lives = pidmap_new(sizeof(struct life));
	if (!t->lives) {
		tasks_free(t);
		return NULL;
	}
	return t;
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	pidmap_free(t->lives);
	free(t->names);
	free(t->next);
	free(t);
}

static int make_room(struct tasks *t)
{
	size_t room = t->room ? t->room * 2 : 256;
	struct task_name *names;
	uint32_t *next;

	if (t->n < t->room)
		return 0;
	if (t->n >= TASKS_NAMES_MAX)
		return -E2BIG;
	names = realloc(t->names, room * sizeof(*names));
	if (names)
		t->names = names;
	next = realloc(t->next, room * sizeof(*next));
	if (next)
		t->next = next;
	if (!names || !next)
		return -ENOMEM;
	t->room = room;
	return 0;
}

/* Appends a name to the pid's chain. */
static int add_name(struct tasks *t, struct life *life, const char comm[SCHED_COMM_LEN],
		    uint64_t ns)
{
	const struct trace_task *known = info_get_task(t->info, life->pid);
	struct task_name *name;
	int r = make_room(t);

	if (r < 0)
		return r;
	name = &t->names[t->n];
	memset(name, 0, sizeof(*name));
	name->pid = life->pid;
	name->tgid = known ? known->tgid : -1;
	name->from_ns = name->to_ns = ns;
	memcpy(name->comm, comm, SCHED_COMM_LEN);
	t->next[t->n] = NONE;
	if (life->started) {
		const struct task_name *before = &t->names[life->last];

		if (!before->exited)
			name->tgid = before->tgid;
		t->next[life->last] = (uint32_t)t->n;
	} else {
		life->first = (uint32_t)t->n;
	}
	life->started = true;
	life->last = (uint32_t)t->n;
	t->n++;
	return 0;
}

/* An event at `ns` calls this pid so. */
static int heard(struct tasks *t, int32_t pid, const char comm[SCHED_COMM_LEN], uint64_t ns,
		 bool forked)
{
	struct task_name *last;
	struct life *life;
	int r;

	if (pid == 0)
		return 0;
	life = pidmap_add(t->lives, pid);
	if (!life)
		return -ENOMEM;
	last = life->started ? &t->names[life->last] : NULL;
	if (!last || memcmp(last->comm, comm, SCHED_COMM_LEN) || (forked && last->exited)) {
		r = add_name(t, life, comm, ns);
		if (r < 0)
			return r;
		last = &t->names[life->last];
		last->forked = forked;
	}
	if (ns > last->to_ns)
		last->to_ns = ns;
	return 0;
}

static int heard_rename(struct tasks *t, const struct sched_event *e, uint64_t ns)
{
	int r = heard(t, e->task.pid, e->task.comm, ns, false);

	return r < 0 ? r : heard(t, e->task.pid, e->other.comm, ns, false);
}

static int heard_exit(struct tasks *t, const struct sched_event *e, uint64_t ns)
{
	int r = heard(t, e->task.pid, e->task.comm, ns, false);
	struct life *life;

	if (r < 0)
		return r;
	life = pidmap_get(t->lives, e->task.pid);
	if (life)
		t->names[life->last].exited = true;
	return 0;
}

/* An exec carries no name, but says that the task leads its group now. */
static void heard_exec(struct tasks *t, const struct sched_event *e)
{
	struct life *life = pidmap_get(t->lives, e->task.pid);

	if (life && life->started)
		t->names[life->last].tgid = e->task.pid;
}

int tasks_add(struct tasks *t, const struct trace_item *item)
{
	const struct sched_event *e = &item->event;
	uint64_t ns;
	int r = 0;

	if (item->type != ITEM_EVENT)
		return 0;
	ns = clock_event_ns(&t->info->clock, e);
	switch (e->kind) {
	case SCHED_SWITCH:
		r = heard(t, e->task.pid, e->task.comm, ns, false);
		return r < 0 ? r : heard(t, e->other.pid, e->other.comm, ns, false);
	case SCHED_FORK:
		r = heard(t, e->task.pid, e->task.comm, ns, false);
		return r < 0 ? r : heard(t, e->other.pid, e->other.comm, ns, true);
	case SCHED_EXEC:
		heard_exec(t, e);
		return 0;
	case SCHED_RENAME:
		return heard_rename(t, e, ns);
	case SCHED_EXIT:
		return heard_exit(t, e, ns);
	default:
		return heard(t, e->task.pid, e->task.comm, ns, false);
	}
}

const struct task_name *tasks_at(const struct tasks *t, int32_t pid, uint64_t ns)
{
	const struct life *life = pidmap_get(t->lives, pid);
	uint32_t i, best;

	if (!life || !life->started)
		return NULL;
	for (i = best = life->first; i != NONE && t->names[i].from_ns <= ns; i = t->next[i])
		best = i;
	return &t->names[best];
}

size_t tasks_count(const struct tasks *t)
{
	return t->n;
}

const struct task_name *tasks_get(const struct tasks *t, size_t i)
{
	return i < t->n ? &t->names[i] : NULL;
}
