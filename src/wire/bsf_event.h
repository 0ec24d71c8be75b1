/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * bsf_event: scheduler events as BSF records and back (docs/format/bsf.md, sections 8 and 9).
 *
 * A BSF record holds less than the kernel's event: switches and wakeups only, one name, whole
 * microseconds, eight states, no flags. On the other hand it wants the name and priority of the
 * task that wakes, which the kernel's wakeup does not carry; they are known from the switch that
 * brought that task to the CPU. So the mapping has a context for each CPU, which sees all events.
 */
#ifndef KISEKI_WIRE_BSF_EVENT_H
#define KISEKI_WIRE_BSF_EVENT_H

#include "wire/bsf.h"
#include "wire/dialect.h"
#include "wire/sched_event.h"

/* What an event has and its record has not. */
enum bsf_lack {
	BSF_LACK_EVENT = 1 << 0,   /* no record at all: fork, exec, …, or a value out of range */
	BSF_LACK_TIME = 1 << 1,	   /* nanoseconds below the microsecond */
	BSF_LACK_FLAGS = 1 << 2,   /* flags or preempt count that are not 0 */
	BSF_LACK_STATE = 1 << 3,   /* state bits beyond the eight states, such as R+ */
	BSF_LACK_NAME = 1 << 4,	   /* name of the next or of the woken task */
	BSF_LACK_SUCCESS = 1 << 5, /* a wakeup's success that is not the usual value */
};

struct bsf_context {
	uint64_t state_mask;
	uint64_t state_bits[BSF_STATE_MAX + 1];	 /* of each code */
	uint8_t state_codes[DIALECT_STATE_BITS]; /* of each bit */
	uint8_t success;			 /* what wakeups of this kernel carry */
	bool running_known;
	uint32_t cpu;
	uint64_t second_ns; /* the second of the last event, to divide rarely */
	uint64_t second;
	struct sched_task running; /* who runs on this CPU */
};

/* One context for each CPU of a trace, and for each direction. */
void bsf_context_init(struct bsf_context *c, const struct sched_dialect *d, uint32_t cpu);

/* Is there a record for this event? Time and CPU apart: 9,999,999,999 s and CPU 999 are the last. */
bool bsf_can_hold(const struct sched_event *e);

/* The record of an event at `ns` of the trace's clock. Every event of the CPU should pass here, so
 * that the context knows who runs. False: it has none. */
bool bsf_from_event(struct bsf_context *c, const struct sched_event *e, uint64_t ns,
		    struct bsf_record *ret);

/* What bsf_to_event(bsf_from_event(e)) lacks: enum bsf_lack bits, 0 if it is the same event. */
uint32_t bsf_event_lacks(const struct bsf_context *c, const struct sched_event *e, uint64_t ns);

/* The event of a record, with nanoseconds as its ticks. The name of the next or woken task, which
 * no record holds, stays empty: bsf_next_comm() and then the trace's task table may know it. */
void bsf_to_event(const struct bsf_context *c, const struct bsf_record *r, struct sched_event *ret);

/* The name of the next task of entry i of a decoded block, as the nearest switch away from that
 * task tells it, after the entry if there is one, else before. Wakeups are not asked: their waker's
 * name can be a guess. NULL if there is none within BSF_NAME_REACH records. */
#define BSF_NAME_REACH 256U
const char *bsf_next_comm(const struct bsf_entry *first, size_t count, size_t i);

#endif
