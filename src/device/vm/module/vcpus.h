/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * vcpus: which threads run virtual CPUs, and which.
 *
 * A thread that is inside KVM's call to run has KVM's preempt notifier on it, and the virtual CPU is
 * around that. Nothing is asked of KVM that it does not export. Others use such notifiers as well
 * (other hypervisors do), so the first one of a thread that enters a guest is taken for KVM's, and
 * only those with the same functions are believed, until KVM is unloaded.
 *
 * Between two such calls, when the VMM's own code works, a thread has none. So what was seen is kept in a table
 * of fixed size: sets of a few places, chosen by the thread's number. Where more threads want to be in a set than
 * it has places, one is forgotten until it is seen the next time.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_VCPUS_H
#define KISEKI_DEVICE_VM_MODULE_VCPUS_H

#include <linux/kvm_host.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#define VCPUS_SETS 2048U
#define VCPUS_WAYS 4U

struct vcpus {
	const struct preempt_ops *ops; /* KVM's; NULL: not seen yet */
	u64 (*sets)[VCPUS_WAYS];       /* thread << 32 | virtual CPU + 1; 0: free */
};

int vcpus_init(struct vcpus *v);
void vcpus_done(struct vcpus *v);

/* The running thread is about to enter a guest. KVM puts its notifier on a thread when it calls
 * KVM to run, and a new one goes to the front: so there it is the first, whoever else has one. */
static inline void vcpus_learn(struct vcpus *v)
{
	struct hlist_node *n;

	if (likely(READ_ONCE(v->ops)))
		return;
	n = current->preempt_notifiers.first;
	if (n)
		WRITE_ONCE(v->ops, hlist_entry(n, struct preempt_notifier, link)->ops);
}

/* The virtual CPU that a thread is inside KVM's call with; NULL: it is not. Borrowed. Only of
 * the running thread, or the one that is about to run here: nobody but a thread itself changes
 * its notifiers, and of any other one they may be gone while they are looked at. */
static inline struct kvm_vcpu *vcpus_find(const struct vcpus *v, struct task_struct *t)
{
	const struct preempt_ops *ops = READ_ONCE(v->ops);
	struct preempt_notifier *n;

	/* Who ends takes its machine down, and is inside with each virtual CPU in turn. */
	if (!ops || t->flags & PF_EXITING)
		return NULL;
	hlist_for_each_entry(n, &t->preempt_notifiers,
			     link) if (n->ops == ops) return container_of(n, struct kvm_vcpu,
									  preempt_notifier);
	return NULL;
}

/* The table: a word, as above; of a thread, the number that was kept last. */
void vcpus_keep(struct vcpus *v, u64 word);
s32 vcpus_remember(const struct vcpus *v, struct task_struct *t);

/* The number of the virtual CPU that a thread, as of vcpus_find(), runs, now or the last time it
 * did; SAMPLE_NO_VCPU. */
static inline s32 vcpus_get(struct vcpus *v, struct task_struct *t)
{
	struct kvm_vcpu *vcpu = vcpus_find(v, t);
	s32 number;
	u64 word;

	if (!vcpu)
		return vcpus_remember(v, t);
	number = READ_ONCE(vcpu->vcpu_id);
	word = (u64)(u32)t->pid << 32 | (u32)(number + 1);
	if (READ_ONCE(v->sets[(u32)t->pid % VCPUS_SETS][0]) != word)
		vcpus_keep(v, word);
	return number;
}

/* KVM leaves: another one has its functions elsewhere, and no thread has a virtual CPU any more. */
void vcpus_unlearn(struct vcpus *v);

/* The thread is gone, and its number may be used again. */
void vcpus_forget(struct vcpus *v, struct task_struct *t);

#endif
