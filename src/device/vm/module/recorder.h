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

struct recorder_cpu {
	struct recorder *owner;
	struct hrtimer timer;
	struct perf_event *counter; /* NULL: the timer asks for samples */
	struct irq_work
		later; /* takes the sample that the counter asked for where nothing could be recorded */
	struct irq_work work; /* says that the ring is half full, from where nobody can be woken */
	struct vm_ring ring;
	u64 last_tick;
	u32 random;
	bool is_signalled;
	bool is_sampled; /* in a guest, which has not been left since */
	struct recorder_exit exit;
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
	struct recorder_cpu **cpus; /* by number; NULL where no CPU is possible */
	struct points points;
	struct vcpus vcpus;
	wait_queue_head_t wait;
	int hotplug; /* the state of CPU hotplug that starts the timers; negative: none */
	bool is_on;
	bool is_heard; /* all points are open: one without the other would tell of exits without entries */
	bool is_due; /* a ring was half full, and has not been read since */
};

void recorder_init(struct recorder *r);

/* May sleep; the caller sees to it that only one of these runs. */
int recorder_start(struct recorder *r, const struct vm_settings *s);
void recorder_stop(struct recorder *r);
void recorder_done(struct recorder *r); /* stops, and gives the memory back */

/* A record of the CPU that this runs on, all but its own fields; interrupts are off until recorder_end(). */
struct recorder_cpu *recorder_begin(struct recorder *r, enum sample_kind kind, unsigned long *irq);
void recorder_end(struct recorder_cpu *cpu, unsigned long irq);

void recorder_put_task(struct recorder *r, struct vm_record_task *to, struct task_struct *t);

#endif
