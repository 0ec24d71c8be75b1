/* SPDX-License-Identifier: MIT */
/*
 * ctf_plan: how to turn an event of one CTF event class into a struct sched_event.
 *
 * A trace has thousands of event classes (every system call has two) and a handful matter, so each
 * class is looked at once: its name decides the kind, its members are matched with ctf_layout, and
 * the result is kept under the class's address, which libbabeltrace2 keeps alive as long as the
 * graph lives.
 */
#ifndef KISEKI_CONVERT_CTF_PLAN_H
#define KISEKI_CONVERT_CTF_PLAN_H

#include <babeltrace2/babeltrace.h>

#include "base/error.h"
#include "convert/ctf_layout.h"
#include "trace/source.h"

#define CTF_CLASSES_MAX (1U << 18)
#define CTF_UNREAD_MAX 96U

enum ctf_use {
	CTF_SKIP,      /* an event that is not ours */
	CTF_EVENT,     /* one of enum sched_kind */
	CTF_STATEDUMP, /* lttng_statedump_process_state: a task's name and process */
	CTF_UNREAD,    /* one of enum sched_kind whose fields are not understood */
	CTF_LOSS,      /* kiseki_loss: an entry of the ledger in our own export */
};

struct ctf_plan {
	const bt_event_class *event_class;
	enum ctf_use use;
	enum sched_kind kind;
	bool has_extra;
	bool long_is_32;		 /* prev_state is 32 bits wide */
	int16_t cpu_member;		 /* of the payload: perf_cpu; -1: none */
	int16_t members[CTF_FIELDS_MAX]; /* of the payload, by the layout's order; -1: none */
};

struct ctf_plans {
	struct ctf_plan *table; /* open addressing, room is a power of two */
	size_t n;
	size_t room;
	char unread[CTF_UNREAD_MAX]; /* the first class of CTF_UNREAD and why; empty: none */
};

void ctf_plans_done(struct ctf_plans *p);

/* *ret is the class's plan, borrowed until the next call. */
int ctf_plans_get(struct ctf_plans *p, const bt_event_class *event_class,
		  const struct ctf_plan **ret, struct error *e);

/* The CPU that the event itself tells, as those of perf do. */
bool ctf_plan_cpu(const struct ctf_plan *p, const bt_event *event, int64_t *ret);

/* Fills all of *ret that the payload knows. The filename is borrowed from the event. */
void ctf_plan_decode(const struct ctf_plan *p, const bt_event *event, uint32_t prio_offset,
		     struct sched_event *ret);

/* The task that a CTF_STATEDUMP event describes. */
void ctf_plan_decode_task(const struct ctf_plan *p, const bt_event *event, struct trace_task *ret);

/* The loss that a CTF_LOSS event describes, stamps in cycles. */
void ctf_plan_decode_loss(const struct ctf_plan *p, const bt_event *event, struct trace_loss *ret);

/* A member of a structure field as a number; false if there is none or it is no integer. */
bool ctf_field_int(const bt_field *structure, const char *name, int64_t *ret);

#endif
