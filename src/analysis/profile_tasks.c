/* SPDX-License-Identifier: MIT */
/* profile_tasks: see profile_tasks.h. */
#include "analysis/profile_tasks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/array.h"

/* An entry of either table; the index leads to the row. */
struct process_row {
	struct profile_process shown;
	uint32_t id;
};

struct thread_row {
	struct profile_thread shown;
	uint32_t id;
};

void profile_tasks_init(struct profile_tasks *t, const struct sample_source *source)
{
	memset(t, 0, sizeof(*t));
	t->source = source;
	hashtable_init(&t->process_table, PROFILE_TASKS_MAX);
	hashtable_init(&t->thread_table, PROFILE_TASKS_MAX);
}

void profile_tasks_done(struct profile_tasks *t)
{
	size_t i;

	for (i = 0; i < t->n_processes; i++)
		free(t->processes[i]);
	for (i = 0; i < t->n_threads; i++)
		free(t->threads[i]);
	free(t->processes);
	free(t->threads);
	hashtable_done(&t->process_table);
	hashtable_done(&t->thread_table);
	memset(t, 0, sizeof(*t));
}

static bool is_process(const void *entry, const void *key)
{
	const struct profile_process *a = entry, *b = key;

	return a->pid == b->pid && a->life == b->life;
}

static bool is_thread(const void *entry, const void *key)
{
	const struct profile_thread *a = entry, *b = key;

	return a->tid == b->tid && a->process == b->process;
}

static void name_process(struct profile_tasks *t, struct profile_process *p, uint64_t tick)
{
	const char *told = sample_spaces_comm(t->source->spaces, p->pid, tick);
	const struct trace_task *known = info_get_task(&t->source->info, p->pid);
	char comm[SCHED_COMM_LEN] = { 0 };

	if (told)
		sched_comm_set(comm, told, strnlen(told, sizeof(comm)));
	else if (known && !p->life)
		memcpy(comm, known->comm, sizeof(comm));
	p->settled = comm[0] != '\0';
	if (p->settled)
		comm_format(comm, p->name);
}

static int get_process(struct profile_tasks *t, const struct sample_event *ev, uint32_t *ret)
{
	struct profile_process key = { .pid = ev->task.pid };
	struct process_row *row;
	uint64_t hash;
	int r;

	key.life = sample_spaces_life(t->source->spaces, key.pid, ev->tick);
	hash = hashtable_hash_number((uint64_t)key.life << 32 | (uint32_t)key.pid);
	row = hashtable_get(&t->process_table, hash, is_process, &key);
	if (row) {
		*ret = row->id;
		return 0;
	}
	r = array_grow(&t->processes, t->n_processes, &t->room_processes, sizeof(*t->processes),
		       PROFILE_TASKS_MAX);
	if (r < 0)
		return r;
	row = calloc(1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->shown = key;
	row->id = (uint32_t)t->n_processes;
	name_process(t, &row->shown, ev->tick);
	r = hashtable_add(&t->process_table, hash, row);
	if (r < 0) {
		free(row);
		return r;
	}
	t->processes[t->n_processes++] = &row->shown;
	*ret = row->id;
	return 0;
}

static int get_thread(struct profile_tasks *t, uint32_t process, int32_t tid, uint32_t *ret)
{
	struct profile_thread key = { .process = process, .tid = tid };
	uint64_t hash = hashtable_hash_number((uint64_t)process << 32 | (uint32_t)tid);
	struct thread_row *row = hashtable_get(&t->thread_table, hash, is_thread, &key);
	int r;

	if (row) {
		*ret = row->id;
		return 0;
	}
	r = array_grow(&t->threads, t->n_threads, &t->room_threads, sizeof(*t->threads),
		       PROFILE_TASKS_MAX);
	if (r < 0)
		return r;
	row = calloc(1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	row->shown = key;
	row->id = (uint32_t)t->n_threads;
	r = hashtable_add(&t->thread_table, hash, row);
	if (r < 0) {
		free(row);
		return r;
	}
	t->threads[t->n_threads++] = &row->shown;
	*ret = row->id;
	return 0;
}

int profile_tasks_find(struct profile_tasks *t, const struct sample_event *ev, uint32_t *ret)
{
	struct profile_process *p;
	struct profile_thread *thread;
	uint32_t process, id;
	int r = get_process(t, ev, &process);

	if (r >= 0)
		r = get_thread(t, process, ev->task.tid, &id);
	if (r < 0)
		return r;
	thread = t->threads[id];
	p = t->processes[process];
	if (memcmp(thread->comm, ev->task.comm, SCHED_COMM_LEN) != 0 || !thread->name[0]) {
		memcpy(thread->comm, ev->task.comm, SCHED_COMM_LEN);
		comm_format(thread->comm, thread->name);
		/* The first thread's name is the process's; another's only while there is none. */
		if (thread->tid == p->pid || (!p->settled && !p->name[0])) {
			t->renamed += p->name[0] && strcmp(p->name, thread->name) != 0;
			memcpy(p->name, thread->name, sizeof(p->name));
		}
		p->settled |= thread->tid == p->pid;
	}
	*ret = id;
	return 0;
}

const struct profile_process *profile_tasks_process(const struct profile_tasks *t, uint32_t thread)
{
	return t->processes[t->threads[thread]->process];
}

const char *profile_process_format(const struct profile_process *p, bool numbered,
				   char text[PROFILE_TASK_TEXT])
{
	const char *name = p->name[0] ? p->name : "?";

	if (!numbered)
		snprintf(text, PROFILE_TASK_TEXT, "%s", name);
	else if (p->life)
		snprintf(text, PROFILE_TASK_TEXT, "%s (%" PRId32 "#%" PRIu32 ")", name, p->pid,
			 p->life + 1);
	else
		snprintf(text, PROFILE_TASK_TEXT, "%s (%" PRId32 ")", name, p->pid);
	return text;
}

const char *profile_thread_format(const struct profile_thread *t, bool numbered,
				  char text[PROFILE_TASK_TEXT])
{
	const char *name = t->name[0] ? t->name : "?";

	if (numbered)
		snprintf(text, PROFILE_TASK_TEXT, "%s (%" PRId32 ")", name, t->tid);
	else
		snprintf(text, PROFILE_TASK_TEXT, "%s", name);
	return text;
}
