/* SPDX-License-Identifier: MIT */
/* bucket: see bucket.h. */
#include "analysis/bucket.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS (2 * BUCKET_TASKS_MAX)

_Static_assert((SLOTS & (SLOTS - 1)) == 0, "the number of slots is a power of two");

void bucket_init(struct bucket *b, uint64_t index, const struct holder *before)
{
	memset(b, 0, offsetof(struct bucket, tasks));
	b->index = index;
	if (before)
		b->before = *before;
}

static bool is_task(const struct bucket_task *t, int32_t pid, const char *comm)
{
	return t->pid == pid && !memcmp(t->comm, comm, SCHED_COMM_LEN);
}

static uint32_t slot_of(const struct bucket *b, int32_t pid, const char *comm)
{
	uint32_t i = ((uint32_t)pid * 2654435769U) >> 9;

	for (i &= SLOTS - 1; b->slots[i]; i = (i + 1) & (SLOTS - 1))
		if (is_task(&b->tasks[b->slots[i] - 1], pid, comm))
			break;
	return i;
}

/* Adds to a task's time, not to the busy time. */
static void give(struct bucket *b, int32_t pid, const char *comm, uint64_t ns)
{
	uint32_t slot = slot_of(b, pid, comm);
	struct bucket_task *t;

	if (!b->slots[slot]) {
		if (b->n_tasks == BUCKET_TASKS_MAX) {
			b->rest_ns += ns;
			return;
		}
		t = &b->tasks[b->n_tasks++];
		memset(t, 0, sizeof(*t));
		t->pid = pid;
		memcpy(t->comm, comm, SCHED_COMM_LEN);
		b->slots[slot] = (uint16_t)b->n_tasks;
	}
	t = &b->tasks[b->slots[slot] - 1];
	t->ns += ns;
}

void bucket_add_task(struct bucket *b, int32_t pid, const char comm[SCHED_COMM_LEN], uint64_t ns)
{
	if (!ns)
		return;
	b->counts.busy_ns += ns;
	give(b, pid, comm, ns);
}

void bucket_add_time(struct bucket *b, const struct holder *h, uint64_t ns)
{
	if (h->type == HOLDER_TASK)
		bucket_add_task(b, h->pid, h->comm, ns);
	else if (h->type == HOLDER_IDLE)
		b->counts.idle_ns += ns;
	else if (h->type == HOLDER_UNKNOWN)
		b->counts.unknown_ns += ns;
}

void bucket_name(struct bucket *b, int32_t pid, const char comm[SCHED_COMM_LEN])
{
	static const char none[SCHED_COMM_LEN];
	uint32_t from = b->slots[slot_of(b, pid, none)], to = b->slots[slot_of(b, pid, comm)];

	if (!from || from == to)
		return;
	if (to) {
		b->tasks[to - 1].ns += b->tasks[from - 1].ns;
		b->tasks[from - 1] = b->tasks[--b->n_tasks];
	} else {
		memcpy(b->tasks[from - 1].comm, comm, SCHED_COMM_LEN);
	}
	bucket_index(b);
}

void bucket_add_event(struct bucket *b, enum sched_kind kind)
{
	if (kind == SCHED_SWITCH)
		b->counts.switches++;
	else if (kind == SCHED_WAKING || kind == SCHED_WAKEUP || kind == SCHED_WAKEUP_NEW)
		b->counts.wakeups++;
	else
		b->counts.others++;
}

void bucket_add_counts(struct bucket_counts *to, const struct bucket_counts *from)
{
	to->busy_ns += from->busy_ns;
	to->idle_ns += from->idle_ns;
	to->unknown_ns += from->unknown_ns;
	to->switches += from->switches;
	to->wakeups += from->wakeups;
	to->others += from->others;
	to->lost += from->lost;
	to->uncounted += from->uncounted;
}

void bucket_add(struct bucket *b, const struct bucket *other)
{
	uint32_t i;

	bucket_add_counts(&b->counts, &other->counts);
	b->rest_ns += other->rest_ns;
	for (i = 0; i < other->n_tasks; i++)
		give(b, other->tasks[i].pid, other->tasks[i].comm, other->tasks[i].ns);
}

void bucket_index(struct bucket *b)
{
	uint32_t i;

	memset(b->slots, 0, sizeof(b->slots));
	for (i = 0; i < b->n_tasks; i++)
		b->slots[slot_of(b, b->tasks[i].pid, b->tasks[i].comm)] = (uint16_t)(i + 1);
}

static int by_time(const void *pa, const void *pb)
{
	const struct bucket_task *a = pa, *b = pb;

	if (a->ns != b->ns)
		return a->ns > b->ns ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return memcmp(a->comm, b->comm, SCHED_COMM_LEN);
}

void bucket_trim(struct bucket *b)
{
	uint32_t i;

	if (b->n_tasks <= BUCKET_TASKS_KEPT)
		return;
	qsort(b->tasks, b->n_tasks, sizeof(*b->tasks), by_time);
	for (i = BUCKET_TASKS_KEPT; i < b->n_tasks; i++)
		b->rest_ns += b->tasks[i].ns;
	b->n_tasks = BUCKET_TASKS_KEPT;
	bucket_index(b);
}
