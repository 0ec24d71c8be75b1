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
	uint32_t found;	      /* where tasks_at() was last */
};

struct tasks {
	const struct trace_info *info;
	uint64_t dead_states; /* bits of prev_state of a task that never comes back */
	struct pidmap *lives;
	struct task_name *names;
	uint32_t *next; /* of the same pid, or NONE */
	size_t n, room;
};

static uint64_t dead_states(const struct sched_dialect *d)
{
	uint64_t bits = 0;
	uint32_t i;

	for (i = 0; i < DIALECT_STATE_BITS; i++)
		if (d->state_letters[i] && strchr("XxZ", d->state_letters[i]))
			bits |= 1ULL << i;
	return bits & d->state_mask;
}

void tasks_set_info(struct tasks *t, const struct trace_info *info)
{
	t->info = info;
	t->dead_states = dead_states(&info->dialect);
}

struct tasks *tasks_new(const struct trace_info *info)
{
	struct tasks *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	tasks_set_info(t, info);
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

/* Appends a name to the pid's chain: of the same life, or of the next one. */
static int add_name(struct tasks *t, struct life *life, const char comm[SCHED_COMM_LEN],
		    uint64_t ns, bool begins)
{
	const struct trace_task *known = info_get_task(t->info, life->pid);
	struct task_name *name;
	int r = make_room(t);

	if (r < 0)
		return r;
	name = &t->names[t->n];
	memset(name, 0, sizeof(*name));
	name->pid = life->pid;
	/* The table does not say which life it speaks of: a later one must bear its name. */
	if (known && (!begins || !memcmp(known->comm, comm, SCHED_COMM_LEN)))
		name->tgid = known->tgid;
	else
		name->tgid = -1;
	name->from_ns = name->to_ns = ns;
	memcpy(name->comm, comm, SCHED_COMM_LEN);
	t->next[t->n] = NONE;
	if (life->started) {
		const struct task_name *before = &t->names[life->last];

		name->life = before->life + begins;
		if (!begins)
			name->tgid = before->tgid;
		t->next[life->last] = (uint32_t)t->n;
	} else {
		life->first = life->found = (uint32_t)t->n;
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
	bool other;
	int r;

	if (pid == 0)
		return 0;
	life = pidmap_add(t->lives, pid);
	if (!life)
		return pidmap_why(t->lives);
	last = life->started ? &t->names[life->last] : NULL;
	other = !last || memcmp(last->comm, comm, SCHED_COMM_LEN);
	if (other || forked) {
		r = add_name(t, life, comm, ns, last && (forked || last->dead));
		if (r < 0)
			return r;
		last = &t->names[life->last];
		last->forked = forked;
	}
	if (ns > last->to_ns)
		last->to_ns = ns;
	return 0;
}

/* The codec bsf does not hold the names of tasks that are switched to and woken, and leaves them
 * empty. */
static int heard_unless_empty(struct tasks *t, const struct sched_task *task, uint64_t ns)
{
	return task->comm[0] ? heard(t, task->pid, task->comm, ns, false) : 0;
}

static struct task_name *last_name(const struct tasks *t, int32_t pid)
{
	const struct life *life = pidmap_get(t->lives, pid);

	return life && life->started ? &t->names[life->last] : NULL;
}

static int heard_switch(struct tasks *t, const struct sched_event *e, uint64_t ns)
{
	int r = heard(t, e->task.pid, e->task.comm, ns, false);
	struct task_name *name;

	if (r >= 0 && e->state & t->dead_states) {
		name = last_name(t, e->task.pid);
		if (name)
			name->dead = true;
	}
	return r < 0 ? r : heard_unless_empty(t, &e->other, ns);
}

static int heard_rename(struct tasks *t, const struct sched_event *e, uint64_t ns)
{
	int r = heard(t, e->task.pid, e->task.comm, ns, false);

	return r < 0 ? r : heard(t, e->task.pid, e->other.comm, ns, false);
}

static int heard_exit(struct tasks *t, const struct sched_event *e, uint64_t ns)
{
	int r = heard(t, e->task.pid, e->task.comm, ns, false);
	struct task_name *name = r < 0 ? NULL : last_name(t, e->task.pid);

	if (name)
		name->exited = true;
	return r;
}

/* An exec carries no name, but says that the task leads its group now. */
static void heard_exec(struct tasks *t, const struct sched_event *e)
{
	struct task_name *name = last_name(t, e->task.pid);

	if (name)
		name->tgid = e->task.pid;
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
		return heard_switch(t, e, ns);
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
		return heard_unless_empty(t, &e->task, ns);
	}
}

const struct task_name *tasks_at(const struct tasks *t, int32_t pid, uint64_t ns)
{
	struct life *life = pidmap_get(t->lives, pid);
	const struct task_name *name, *next;
	uint32_t i;

	if (!life || !life->started)
		return NULL;
	i = t->names[life->found].from_ns <= ns ? life->found : life->first;
	while (t->next[i] != NONE && t->names[t->next[i]].from_ns <= ns)
		i = t->next[i];
	life->found = i;
	name = &t->names[i];
	if (name->from_ns > ns)
		return name->forked ? NULL : name;
	if (!name->dead || ns <= name->to_ns)
		return name;
	/* Between two lives: it belongs to the second, if that was not forked later. */
	next = t->next[i] == NONE ? NULL : &t->names[t->next[i]];
	return next && !next->forked ? next : NULL;
}

/* Does the event name the task that ran? An empty name can be one that bsf has left out. */
static bool names_runner(const struct sched_event *e)
{
	if (e->pid != e->task.pid || e->kind == SCHED_EXEC)
		return false;
	return e->task.comm[0] || e->kind == SCHED_SWITCH || e->kind == SCHED_RENAME ||
	       e->kind == SCHED_EXIT;
}

const char *tasks_runner(const struct tasks *t, const struct sched_event *e)
{
	const struct trace_task *known;
	const struct task_name *name;

	if (e->pid == 0)
		return NULL;
	if (names_runner(e))
		return e->task.comm;
	name = tasks_at(t, e->pid, clock_event_ns(&t->info->clock, e));
	if (name)
		return name->comm;
	known = pidmap_get(t->lives, e->pid) ? NULL : info_get_task(t->info, e->pid);
	return known ? known->comm : NULL;
}

size_t tasks_count(const struct tasks *t)
{
	return t->n;
}

const struct task_name *tasks_get(const struct tasks *t, size_t i)
{
	return i < t->n ? &t->names[i] : NULL;
}
