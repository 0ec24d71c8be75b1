/* SPDX-License-Identifier: MIT */
/*
 * bpf_record: see bpf_record.h. Records are the kernel's: no other process can write them. Still a
 * record of a wrong length is not looked into.
 */
#include "device/agent/bpf_record.h"

#include "device/bpf/sched_record.h"

static void get_task(struct sched_task *t, uint64_t pid, const uint64_t comm[2], bool has_prio)
{
	const char *name = (const char *)comm;

	t->pid = (int32_t)(pid & RECORD_PID_MASK);
	sched_comm_set(t->comm, name, RECORD_COMM - 1);
	if (has_prio)
		t->prio = (int32_t)(uint8_t)name[RECORD_COMM - 1] - 1;
}

/* As the kernel's own events have them. */
static uint8_t context_flags(uint32_t number)
{
	return (uint8_t)((number & RECORD_HARDIRQ ? 0x08 : 0) |
			 (number & RECORD_SOFTIRQ ? 0x10 : 0) | (number & RECORD_NMI ? 0x40 : 0));
}

static bool get_one(struct sched_event *ev, const struct record_one *r, uint32_t number,
		    const struct sched_dialect *d)
{
	get_task(&ev->task, r->ids, r->comm, true);
	if (ev->kind == SCHED_EXIT) {
		ev->pid = ev->task.pid;
		ev->extra = (uint8_t)number;
	} else if (ev->kind == SCHED_SETPRIO) {
		ev->other.prio = (int32_t)number - 1;
	} else {
		ev->value = (int32_t)(number & RECORD_CPU_MASK);
		ev->flags = context_flags(number);
		/* Where the kernel's event has this field, it is always 1. */
		ev->extra = d->features & (DIALECT_SUCCESS | DIALECT_SUCCESS_SILENT) ? 1 : 0;
	}
	return true;
}

static bool get_two(struct sched_event *ev, const struct record_two *r, uint32_t number)
{
	bool is_switch = ev->kind == SCHED_SWITCH;

	get_task(&ev->task, r->ids, r->comm, is_switch);
	get_task(&ev->other, r->ids >> RECORD_PID_BITS, r->comm + 2, is_switch);
	if (ev->kind == SCHED_RENAME) {
		ev->other.pid = 0;
		ev->value = (int16_t)number;
		return true;
	}
	ev->pid = ev->task.pid;
	if (is_switch)
		ev->state = number;
	return true;
}

static bool get_path(struct sched_event *ev, const struct record_path *r, uint32_t len)
{
	size_t room = len - offsetof(struct record_path, path);

	ev->pid = ev->task.pid = (int32_t)(r->ids & RECORD_PID_MASK);
	ev->value = (int32_t)(r->ids >> RECORD_PID_BITS & RECORD_PID_MASK);
	ev->filename = r->path;
	ev->filename_len = (uint16_t)strnlen(r->path, room);
	return ev->filename_len <= SCHED_FILENAME_MAX;
}

bool bpf_record_decode(struct sched_event *ret, const void *record, uint32_t len,
		       const struct sched_dialect *d)
{
	const struct record_one *r = record;
	uint32_t number;

	if (len < offsetof(struct record_path, path))
		return false;
	number = (uint32_t)(r->ids >> RECORD_NUMBER_SHIFT);
	memset(ret, 0, sizeof(*ret));
	ret->kind = r->head & ((1U << RECORD_KIND_BITS) - 1);
	ret->tick = r->head >> RECORD_TIME_SHIFT;
	ret->pid = (int32_t)(r->ids >> RECORD_PID_BITS & RECORD_PID_MASK);
	switch (ret->kind) {
	case SCHED_SWITCH:
	case SCHED_FORK:
	case SCHED_RENAME:
		return len == sizeof(struct record_two) && get_two(ret, record, number);
	case SCHED_EXEC:
		return len <= sizeof(struct record_path) && get_path(ret, record, len);
	default:
		return ret->kind < SCHED_KINDS && len == sizeof(*r) && get_one(ret, r, number, d);
	}
}

bool bpf_record_has_loss(const void *record)
{
	const struct record_one *r = record;

	return r->head >> RECORD_LOST_BIT & 1;
}
