/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* sched_event: see sched_event.h. */
#include "wire/sched_event.h"

static const struct {
	const char *word, *event;
} kinds[SCHED_KINDS] = {
	[SCHED_SWITCH] = { "switch", "sched_switch" },
	[SCHED_WAKING] = { "waking", "sched_waking" },
	[SCHED_WAKEUP] = { "wakeup", "sched_wakeup" },
	[SCHED_WAKEUP_NEW] = { "wakeup_new", "sched_wakeup_new" },
	[SCHED_FORK] = { "fork", "sched_process_fork" },
	[SCHED_EXEC] = { "exec", "sched_process_exec" },
	[SCHED_EXIT] = { "exit", "sched_process_exit" },
	[SCHED_RENAME] = { "rename", "task_rename" },
	[SCHED_SETPRIO] = { "setprio", "sched_pi_setprio" },
};

const char *sched_kind_word(uint32_t kind)
{
	return kind < SCHED_KINDS ? kinds[kind].word : NULL;
}

const char *sched_kind_event(uint32_t kind)
{
	return kind < SCHED_KINDS ? kinds[kind].event : NULL;
}

static bool task_equal(const struct sched_task *a, const struct sched_task *b)
{
	return a->pid == b->pid && a->prio == b->prio && !memcmp(a->comm, b->comm, SCHED_COMM_LEN);
}

bool sched_event_equal(const struct sched_event *a, const struct sched_event *b)
{
	return a->tick == b->tick && a->tick_off_ns == b->tick_off_ns && a->kind == b->kind &&
	       a->pid == b->pid && a->flags == b->flags && a->preempt_count == b->preempt_count &&
	       a->state == b->state && a->value == b->value && a->extra == b->extra &&
	       task_equal(&a->task, &b->task) && task_equal(&a->other, &b->other) &&
	       a->filename_len == b->filename_len &&
	       (!a->filename_len || !memcmp(a->filename, b->filename, a->filename_len));
}

void sched_comm_set(char comm[SCHED_COMM_LEN], const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < SCHED_COMM_LEN && i < len && name[i]; i++)
		comm[i] = name[i];
	memset(comm + i, 0, SCHED_COMM_LEN - i);
}
