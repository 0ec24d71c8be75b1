/* SPDX-License-Identifier: MIT */
/* task_names: see task_names.h. */
#include "device/profile/task_names.h"

#include <string.h>

static struct task_name *row_of(struct task_names *t, int32_t tid)
{
	return t->place[(uint32_t)tid & (TASK_NAMES_ROWS - 1)];
}

struct task_name *task_names_get(struct task_names *t, int32_t tid)
{
	struct task_name *row = row_of(t, tid);
	uint32_t i;

	for (i = 0; tid && i < TASK_NAMES_WAYS; i++) {
		if (row[i].tid != tid)
			continue;
		row[i].used = ++t->clock;
		return &row[i];
	}
	return NULL;
}

struct task_name *task_names_put(struct task_names *t, int32_t tid, int32_t pid)
{
	struct task_name *row = row_of(t, tid), *n = task_names_get(t, tid);
	uint32_t i;

	if (!n) {
		for (i = 1, n = row; i < TASK_NAMES_WAYS; i++)
			if (!row[i].tid || (n->tid && t->clock - row[i].used > t->clock - n->used))
				n = &row[i];
		if (n->held)
			t->left_slot = n->held;
		memset(n, 0, sizeof(*n));
	}
	n->tid = tid;
	n->pid = pid;
	n->used = ++t->clock;
	return n;
}

uint16_t task_names_take_slot(struct task_names *t)
{
	uint16_t slot = t->left_slot;

	t->left_slot = 0;
	return slot;
}

void task_names_forget_said(struct task_names *t)
{
	struct task_name *n = t->place[0], *end = n + (size_t)TASK_NAMES_ROWS * TASK_NAMES_WAYS;

	for (; n < end; n++)
		n->is_described = n->is_old = false;
}
