/* SPDX-License-Identifier: MIT */
/* ks_item: see ks_item.h. The numbers of kinds and causes are part of the wire format, so both sides have the same. */
#include "library/ks_item.h"

#include <assert.h>
#include <string.h>

#include "trace/word.h"
#include "wire/loss.h"

static_assert((int)KS_SETPRIO == (int)SCHED_SETPRIO, "kinds are those of the wire");
static_assert((int)KS_LOSS_STORE + 1 == (int)LOSS_CAUSES, "causes are those of the wire");
static_assert(KS_COMM_LEN == SCHED_COMM_LEN, "names are as long as the kernel's");
static_assert(KS_COUNT_UNKNOWN == LOSS_UNKNOWN, "a count that nobody knows");

static void task_from(struct ks_task *ret, const struct sched_task *t)
{
	ret->pid = t->pid;
	ret->prio = t->prio;
	memcpy(ret->comm, t->comm, sizeof(ret->comm));
}

static void task_to(struct sched_task *ret, const struct ks_task *t)
{
	ret->pid = t->pid;
	ret->prio = t->prio;
	sched_comm_set(ret->comm, t->comm, strnlen(t->comm, sizeof(t->comm)));
}

void ks_event_from(struct ks_event *ret, const struct sched_event *ev)
{
	memset(ret, 0, sizeof(*ret));
	ret->tick = ev->tick;
	ret->state = ev->state;
	ret->filename = ev->filename;
	ret->filename_len = ev->filename_len;
	ret->tick_off_ns = ev->tick_off_ns;
	ret->pid = ev->pid;
	ret->value = ev->value;
	ret->kind = ev->kind;
	ret->flags = ev->flags;
	ret->preempt_count = ev->preempt_count;
	ret->extra = ev->extra;
	task_from(&ret->task, &ev->task);
	task_from(&ret->other, &ev->other);
}

bool ks_event_to(struct sched_event *ret, const struct ks_event *ev)
{
	if (ev->kind >= SCHED_KINDS || ev->filename_len > SCHED_FILENAME_MAX ||
	    (ev->filename_len && (!ev->filename || ev->kind != SCHED_EXEC)))
		return false;
	memset(ret, 0, sizeof(*ret));
	ret->tick = ev->tick;
	ret->state = ev->state;
	ret->filename = ev->filename_len ? ev->filename : NULL;
	ret->filename_len = (uint16_t)ev->filename_len;
	ret->tick_off_ns = ev->tick_off_ns;
	ret->pid = ev->pid;
	ret->value = ev->value;
	ret->kind = ev->kind;
	ret->flags = ev->flags;
	ret->preempt_count = ev->preempt_count;
	ret->extra = ev->extra;
	task_to(&ret->task, &ev->task);
	task_to(&ret->other, &ev->other);
	return true;
}

const char *ks_kind_get_word(uint32_t kind)
{
	return kind < SCHED_KINDS ? word_kind(kind) : NULL;
}

const char *ks_cause_get_word(uint32_t cause)
{
	return cause < LOSS_CAUSES ? word_cause(cause) : NULL;
}

const char *ks_version(void)
{
	return KISEKI_VERSION;
}
