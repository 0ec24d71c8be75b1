/* SPDX-License-Identifier: MIT */
/*
 * vm_time: each virtual CPU's time on the host's axis, every moment in exactly one class.
 *
 * The borders are events: switches, wakeups, entries into the guest and exits, the way out to the VMM's own code, the end of
 * a halt. So the classes of a virtual CPU add up to its wall time by construction, from its first event to its end
 * or the trace's, and samples play no part in it. Where events were lost it says *unknown* until the next event tells
 * what the virtual CPU does; it never guesses.
 *
 * The listener gets segments of one virtual CPU in order, without gap or overlap. Those between an exit and the next entry
 * come together, because the end of a halt says how long it was polled for. A sample in a guest cuts a segment in two and
 * comes between them.
 */
#ifndef KISEKI_ANALYSIS_VM_TIME_H
#define KISEKI_ANALYSIS_VM_TIME_H

#include "base/cleanup.h"
#include "trace/clock.h"
#include "trace/sample_pace.h"
#include "trace/sample_source.h"

#define VM_VCPUS_MAX (1U << 16)
#define VM_CPUS_MAX 4096U
#define VM_CPU_NONE UINT32_MAX

/* Of marks (marks.h) that its readers leave. */
#define VM_MARK_EVERY 65536U		   /* items */
#define VM_MARKS_MAX 4096U		   /* of a run */
#define VM_MARKS_BYTES_MAX (64U * 1048576) /* of all marks of a run */

/* What a virtual CPU's time went to. */
enum vm_class {
	VM_UNKNOWN = 0,
	VM_GUEST = 1,
	VM_KERNEL = 2,	/* the kernel worked for it: type 2 */
	VM_OUTSIDE = 3, /* so did the VMM's program: type 2 */
	VM_STEAL = 4,	/* it could run, and another had its CPU: type 1 */
	VM_WAITING =
		5, /* it was woken, and another still had the CPU: type 1, as run_delay counts it */
	VM_HALT = 6,   /* its guest had nothing to do */
	VM_POLL = 7,   /* nor then, and the kernel looked out for work instead of sleeping */
	VM_ASLEEP = 8, /* the VMM waited for something else: a lock, a disk */
	VM_CLASSES = 9,
};
extern const char *const vm_class_words[VM_CLASSES];

struct vm_vcpu {
	int32_t tid, pid;
	int32_t number; /* in its machine; SAMPLE_NO_VCPU: not known */
	char comm[SCHED_COMM_LEN];
	uint64_t first_tick; /* of its first event */
	uint64_t end_tick;   /* what was told of it ends here */
	bool is_gone;	     /* the thread has ended */
};

struct vm_segment {
	uint32_t vcpu; /* its index */
	uint8_t kind;  /* enum vm_class */
	bool ours;     /* the exit was caused by a sample's own interrupt */
	uint32_t cpu;  /* where it ran or waits; VM_CPU_NONE: not known */
	uint64_t from_tick, to_tick;
	bool is_exit;	 /* the guest was left at its begin */
	bool has_reason; /* why the guest was last left: */
	uint64_t reason, detail;
	struct sample_task
		culprit; /* STEAL, WAITING: who had the CPU; tid 0: nobody, -1: not known */
};

struct vm_time_listener {
	int (*segment)(void *data, const struct vm_segment *s);
	/* A sample while the virtual CPU's thread had the CPU, in its guest or not; or an exit or a switch that says where the
	 * guest was. `now` is what the virtual CPU does, its to_tick is not known. May be NULL. */
	int (*sample)(void *data, const struct vm_segment *now, const struct sample_item *item);
};

struct vm_time;

struct vm_time_options {
	const struct trace_clock *clock;
	enum sample_exits exits;
	const struct vm_time_listener *listener;
	void *data;
	const struct sample_pace *pace; /* NULL: it never paused */
};

int vm_time_new(struct vm_time **ret, const struct vm_time_options *o);
void vm_time_free(struct vm_time *t);
DEFINE_CLEANUP(vm_time, vm_time_free)

/* A copy as it is now, which goes on with another listener. o NULL: one to be kept, with little memory, which only takes copies
 * of itself. -ENOMEM. */
int vm_time_dup(struct vm_time **ret, const struct vm_time *t, const struct vm_time_options *o);

/* 0; what the listener returned below 0; -ENOMEM, -E2BIG: more virtual CPUs than VM_VCPUS_MAX. */
int vm_time_put(struct vm_time *t, const struct sample_item *item);

/* The trace ends at this tick: what is open ends there. */
int vm_time_end(struct vm_time *t, uint64_t tick);

size_t vm_time_count(const struct vm_time *t);
const struct vm_vcpu *vm_time_get(const struct vm_time *t, uint32_t vcpu);

/* Whether it is the first of its machine: whoever asks for machines takes these. */
bool vm_time_is_first(const struct vm_time *t, uint32_t vcpu);

#endif
