/* SPDX-License-Identifier: MIT */
/* info: see info.h. */
#include "trace/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int info_set(char **field, const char *text, size_t len)
{
	char *copy;
	size_t i;

	if (len > TRACE_STRING_MAX)
		len = TRACE_STRING_MAX;
	copy = malloc(len + 1);
	if (!copy)
		return -ENOMEM;
	for (i = 0; i < len && text[i]; i++)
		copy[i] = (unsigned char)text[i] < 0x20 || text[i] == 0x7f ? '?' : text[i];
	copy[i] = 0;
	free(*field);
	*field = copy;
	return 0;
}

int info_init(struct trace_info *i)
{
	memset(i, 0, sizeof(*i));
	clock_init(&i->clock);
	dialect_init(&i->dialect);
	if (info_set(&i->device, "", 0) || info_set(&i->kernel, "", 0) ||
	    info_set(&i->machine, "", 0) || info_set(&i->origin, "", 0)) {
		info_done(i);
		return -ENOMEM;
	}
	return 0;
}

void info_done(struct trace_info *i)
{
	free(i->device);
	free(i->kernel);
	free(i->machine);
	free(i->origin);
	free(i->tasks);
	memset(i, 0, sizeof(*i));
}

int info_dup(struct trace_info *to, const struct trace_info *from)
{
	*to = *from;
	to->has_comm = false; /* that is the source's own promise */
	to->device = strdup(from->device);
	to->kernel = strdup(from->kernel);
	to->machine = strdup(from->machine);
	to->origin = strdup(from->origin);
	to->room_tasks = from->n_tasks;
	to->tasks = from->n_tasks ? malloc(from->n_tasks * sizeof(*to->tasks)) : NULL;
	if (!to->device || !to->kernel || !to->machine || !to->origin ||
	    (from->n_tasks && !to->tasks)) {
		info_done(to);
		return -ENOMEM;
	}
	if (from->n_tasks)
		memcpy(to->tasks, from->tasks, from->n_tasks * sizeof(*to->tasks));
	return 0;
}

int info_copy_tasks(struct trace_info *to, const struct trace_info *from)
{
	struct trace_task *tasks = NULL;

	if (from->n_tasks) {
		tasks = malloc(from->n_tasks * sizeof(*tasks));
		if (!tasks)
			return -ENOMEM;
		memcpy(tasks, from->tasks, from->n_tasks * sizeof(*tasks));
	}
	free(to->tasks);
	to->tasks = tasks;
	to->n_tasks = from->n_tasks;
	to->room_tasks = from->n_tasks;
	return 0;
}

/* Index of the first task whose pid is >= pid. */
static size_t lower_bound(const struct trace_info *i, int32_t pid)
{
	size_t lo = 0, hi = i->n_tasks, mid;

	if (hi && i->tasks[hi - 1].pid < pid)
		return hi;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (i->tasks[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int make_room(struct trace_info *i)
{
	struct trace_task *grown;
	size_t room;

	if (i->n_tasks < i->room_tasks)
		return 0;
	if (i->n_tasks >= TRACE_TASKS_MAX)
		return -E2BIG;
	room = i->room_tasks ? i->room_tasks * 2 : 64;
	grown = realloc(i->tasks, room * sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	i->tasks = grown;
	i->room_tasks = room;
	return 0;
}

int info_add_task(struct trace_info *i, int32_t pid, int32_t tgid, const char comm[SCHED_COMM_LEN])
{
	size_t at = lower_bound(i, pid);
	int r;

	if (at == i->n_tasks || i->tasks[at].pid != pid) {
		r = make_room(i);
		if (r < 0)
			return r;
		memmove(i->tasks + at + 1, i->tasks + at, (i->n_tasks - at) * sizeof(*i->tasks));
		i->n_tasks++;
	}
	i->tasks[at].pid = pid;
	i->tasks[at].tgid = tgid;
	sched_comm_set(i->tasks[at].comm, comm, SCHED_COMM_LEN);
	return 0;
}

const struct trace_task *info_get_task(const struct trace_info *i, int32_t pid)
{
	size_t at = lower_bound(i, pid);

	return at < i->n_tasks && i->tasks[at].pid == pid ? &i->tasks[at] : NULL;
}
