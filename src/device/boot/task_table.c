/* SPDX-License-Identifier: MIT */
/* task_table: see task_table.h. Chains by pid, of row numbers; pids come in a row, so they spread well. */
#include "device/boot/task_table.h"

#include <errno.h>
#include <string.h>

int task_table_new(struct task_table **ret, uint32_t size, struct error *e)
{
	CLEANUP(task_table) struct task_table *t = calloc(1, sizeof(*t));

	if (size < TASK_TABLE_LEAST || size > TASK_TABLE_MOST)
		return error_set(e, EINVAL, "cannot make a table of %u processes", size);
	if (t) {
		t->size = size;
		for (t->buckets = 16; t->buckets < size;)
			t->buckets *= 2;
		t->rows = calloc(size, sizeof(*t->rows));
		t->heads = calloc(t->buckets, sizeof(*t->heads));
	}
	if (!t || !t->rows || !t->heads)
		return error_set(e, ENOMEM, "cannot make a table of %u processes: out of memory",
				 size);
	*ret = take_ptr(t);
	return 0;
}

static void close_files(struct task *task)
{
	cleanup_closep(&task->fd);
	cleanup_closep(&task->stat_fd);
	task->fd = task->stat_fd = -1;
}

void task_table_free(struct task_table *t)
{
	struct task *task;
	uint32_t at = 0;

	if (!t)
		return;
	while (t->rows && (task = task_table_next(t, &at)))
		close_files(task);
	free(t->rows);
	free(t->heads);
	free(t);
}

static uint32_t *chain_of(const struct task_table *t, uint32_t pid)
{
	return &t->heads[pid & (t->buckets - 1)];
}

struct task *task_table_find(const struct task_table *t, uint32_t pid)
{
	uint32_t i = *chain_of(t, pid);

	while (i && t->rows[i - 1].pid != pid)
		i = t->rows[i - 1].next;
	return i ? &t->rows[i - 1] : NULL;
}

struct task *task_table_add(struct task_table *t, uint32_t pid)
{
	uint32_t *chain = chain_of(t, pid), i = t->free;
	struct task *task;

	if (!pid || (!i && t->high == t->size))
		return NULL;
	if (i)
		t->free = t->rows[i - 1].next;
	else
		i = ++t->high;
	task = &t->rows[i - 1];
	memset(task, 0, sizeof(*task));
	task->pid = task->group = pid;
	task->fd = task->stat_fd = -1;
	task->next = *chain;
	*chain = i;
	t->n++;
	return task;
}

void task_table_drop(struct task_table *t, struct task *task)
{
	uint32_t number = (uint32_t)(task - t->rows) + 1, *link = chain_of(t, task->pid);

	while (*link != number)
		link = &t->rows[*link - 1].next;
	*link = task->next;
	close_files(task);
	memset(task, 0, sizeof(*task));
	task->fd = task->stat_fd = -1;
	task->next = t->free;
	t->free = number;
	t->n--;
}

struct task *task_table_next(const struct task_table *t, uint32_t *at)
{
	while (*at < t->high && !t->rows[*at].pid)
		(*at)++;
	return *at < t->high ? &t->rows[(*at)++] : NULL;
}
