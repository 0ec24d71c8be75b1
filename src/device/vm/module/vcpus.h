/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vcpus: which threads run virtual CPUs, and which.
 *
 * A thread that is inside KVM's call to run has KVM's preempt notifier on it, and the virtual CPU is around that: this
 * is true of any task, running, waiting or asleep, and asks KVM for nothing that it does not export. Others
 * use such notifiers as well (other hypervisors do), so the one of a thread that enters a guest is taken for KVM's,
 * and only those with the same functions are believed.
 *
 * Between two such calls, when the VMM's own code works, a thread has none. So what was seen is kept in a table
 * of fixed size: sets of a few places, chosen by the thread's number. Where more threads want to be in a set than
 * it has places, one is forgotten until it is seen the next time.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_VCPUS_H
#define KISEKI_DEVICE_VM_MODULE_VCPUS_H

#include <linux/preempt.h>
#include <linux/sched.h>

#define VCPUS_SETS 2048U
#define VCPUS_WAYS 4U

struct kvm_vcpu;

struct vcpus {
	const struct preempt_ops *ops; /* KVM's; NULL: not seen yet */
	u64 (*sets)[VCPUS_WAYS];       /* thread << 32 | virtual CPU + 1; 0: free */
};

int vcpus_init(struct vcpus *v);
void vcpus_done(struct vcpus *v);

/* The running thread is about to enter a guest. */
void vcpus_learn(struct vcpus *v);

/* The virtual CPU that a thread is inside KVM's call with; NULL: it is not. Borrowed: of the running thread, or of one
 * that cannot run now. */
struct kvm_vcpu *vcpus_find(const struct vcpus *v, struct task_struct *t);

/* The number of the virtual CPU that a thread runs, now or the last time it did; SAMPLE_NO_VCPU. */
s32 vcpus_get(struct vcpus *v, struct task_struct *t);

/* The thread is gone, and its number may be used again. */
void vcpus_forget(struct vcpus *v, struct task_struct *t);

#endif
