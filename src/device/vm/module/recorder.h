/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder: one recording: its settings, and what each CPU needs for it.
 *
 * Everything that happens on a CPU, samples and events, is put into that CPU's ring, on that CPU, with its interrupts
 * off; so no lock is needed, and the records of a ring are in order of time. All memory is taken when a
 * recording starts, and given back when the next one starts or the device is closed: what was recorded can be read
 * after the stop.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_RECORDER_H
#define KISEKI_DEVICE_VM_MODULE_RECORDER_H

#include <linux/cpuhotplug.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/sched.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

#include "device/vm/core/vm_ring.h"
#include "device/vm/core/vm_settings.h"
#include "device/vm/module/points.h"
#include "device/vm/module/vcpus.h"
#include "wire/sample_event.h"

struct perf_event;
struct recorder;

/* Of the guest that this CPU ran last: why it was left. */
struct recorder_exit {
	pid_t tid; /* 0: not known */
	u64 reason, detail;
};

/* Whose addresses are in the record of a sample, from the last one in a guest: while its thread is inside KVM's call and on this
 * CPU, nothing that lies above the same place of the stack has changed. */
struct recorder_chain {
	pid_t tid; /* 0: nobody's */
	unsigned long stack;
	u16 n_kernel, n_user;
};

struct recorder_cpu {
	struct recorder *owner;
	struct hrtimer timer;
	struct perf_event *counter; /* NULL: the timer asks for samples */
	struct irq_work
		later; /* takes the sample that the counter asked for where nothing could be recorded */
	struct irq_work work; /* says that the ring is half full, from where nobody can be woken */
	struct vm_ring ring;
	u64 last_tick;
	u64 used_ns; /* what records took, by those that were timed */
	u32 n_records;
	u32 random;
	bool is_blind; /* no samples come of this CPU, which was said */
	bool is_signalled;
	bool is_sampled; /* in a guest, of whose exit nobody has told since */
	bool is_fresh;	 /* a sample in a guest is the last record */
	bool is_left;	 /* its exit came right behind it; to be said by the next record */
	struct recorder_exit exit;
	struct recorder_chain chain;
	union {
		struct vm_record base;
		struct vm_record_value value;
		struct vm_record_exit exit;
		struct vm_record_two two;
		struct vm_record_sample sample;
	} record; /* on its way; not on the stack, which may be nearly full where a probe is called */
};

struct recorder {
	struct vm_settings settings;
	u64 period, shortest,
		spread; /* between samples, in ns or cycles: on average; the least; how much more at random */
	struct recorder_cpu **cpus; /* by number; NULL where no CPU is possible */
	struct points points;
	struct vcpus vcpus;
	wait_queue_head_t wait;
	int hotplug; /* the state of CPU hotplug that starts the timers; negative: none */
	bool is_on;
	bool is_sampling; /* on all CPUs that there were at the start */
	bool is_heard; /* all points are open: one without the other would tell of exits without entries */
	bool is_due; /* a ring was half full, and has not been read since */
};

void recorder_init(struct recorder *r);

/* May sleep; the caller sees to it that only one of these runs. */
int recorder_start(struct recorder *r, const struct vm_settings *s);
void recorder_stop(struct recorder *r);
void recorder_done(struct recorder *r); /* stops, and gives the memory back */

/* --- records: all of it is what a guest waits for, so no call is in it that can be left out --- */

static __always_inline void recorder_put_other(struct vm_record_task *to, struct task_struct *t,
					       s32 vcpu)
{
	BUILD_BUG_ON(VM_RECORD_COMM > TASK_COMM_LEN);
	to->tid = t->pid;
	to->pid = t->tgid;
	to->vcpu = vcpu;
	/* Somebody may write the name meanwhile. */
	data_race(memcpy(to->comm, t->comm, VM_RECORD_COMM));
}

/* The running one, or the one that is about to run here. */
static __always_inline void recorder_put_task(struct recorder *r, struct vm_record_task *to,
					      struct task_struct *t)
{
	recorder_put_other(to, t, vcpus_get(&r->vcpus, t));
}

/* A record of the CPU that this runs on, all but its own fields; interrupts are off until recorder_end(). */
static __always_inline struct recorder_cpu *recorder_begin(struct recorder *r,
							   enum sample_kind kind,
							   unsigned long *irq)
{
	struct recorder_cpu *cpu;
	struct vm_record *base;
	u64 now;

	local_irq_save(*irq);
	cpu = r->cpus[smp_processor_id()];
	base = &cpu->record.base;
	/* While the kernel's clock is set, this one may go back by some nanoseconds. */
	now = ktime_get_mono_fast_ns();
	cpu->last_tick = max(cpu->last_tick, now);
	base->tick = cpu->last_tick;
	base->kind = kind;
	base->mode = 0;
	base->number = 0;
	base->size = sizeof(*base);
	recorder_put_task(r, &base->task, current);
	return cpu;
}

/* Nobody else accounts for it: it is part of what was interrupted. */
static __always_inline void recorder_time(struct recorder_cpu *cpu)
{
	u64 now;

	if (++cpu->n_records % VM_RECORD_TIMED)
		return;
	now = ktime_get_mono_fast_ns();
	if (now > cpu->record.base.tick)
		cpu->used_ns += (now - cpu->record.base.tick) * VM_RECORD_TIMED;
}

static __always_inline void recorder_end(struct recorder_cpu *cpu, unsigned long irq)
{
	struct vm_record *base = &cpu->record.base;
	bool is_fresh = base->kind == SAMPLE_TAKEN && base->mode >= SAMPLE_GUEST_KERNEL;

	if (READ_ONCE(cpu->owner->is_heard)) {
		if (cpu->is_left)
			base->kind |= VM_RECORD_LEFT;
		cpu->is_fresh = false;
		if (vm_ring_put(&cpu->ring, base)) {
			cpu->is_left = false;
			cpu->is_fresh = is_fresh;
		}
		if (vm_ring_used(&cpu->ring) < cpu->ring.size / 2) {
			cpu->is_signalled = false;
		} else if (!cpu->is_signalled) {
			cpu->is_signalled = true;
			irq_work_queue(&cpu->work);
		}
	}
	recorder_time(cpu);
	local_irq_restore(irq);
}

#endif
