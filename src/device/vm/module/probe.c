/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * probe: see probe.h.
 *
 * A probe of the scheduler may hold a run queue's lock: nothing here wakes, sleeps, allocates or takes a lock.
 *
 * The exit that a sample's own interrupt caused is not kept as the reason that later samples tell, and if nothing was
 * recorded in between it is no record of its own (vm_record.h): what it would say the sample has said, and to say it again would be a
 * third of what a sample costs.
 */
#include "device/vm/module/probe.h"

#include <linux/kvm_host.h>
#include <linux/sched.h>

#include "device/driver/compat/signature.h"
#include "device/driver/compat/task_state.h"
#include "device/vm/module/arch/arch.h"
#include "device/vm/module/compat/kvm_events.h"
#include "device/vm/module/recorder.h"

/* --- the scheduler's --- */

/* The running thread leaves its CPU, or KVM's call. */
static void forget_chain(struct recorder *r)
{
	unsigned long irq;

	local_irq_save(irq);
	r->cpus[smp_processor_id()]->chain.tid = 0;
	local_irq_restore(irq);
}

static void take_switch(struct recorder *r, struct task_struct *next, u64 state)
{
	struct recorder_cpu *cpu;
	unsigned long irq;

	forget_chain(r);
	if (!r->settings.switches)
		return;
	cpu = recorder_begin(r, SAMPLE_SWITCH, &irq);
	cpu->record.base.number = (u32)state;
	recorder_put_task(r, &cpu->record.two.next, next);
	cpu->record.two.spare = 0;
	cpu->record.base.size = sizeof(cpu->record.two);
	recorder_end(cpu, irq);
}

/* 0 is a task that could go on. */
static void switch_with_state(void *data, bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int state)
{
	take_switch(data, next, preempt ? 0 : compat_state_from(false, state, prev));
}

static void switch_without_state(void *data, bool preempt, struct task_struct *prev,
				 struct task_struct *next)
{
	take_switch(data, next, preempt ? 0 : compat_state_of(false, prev));
}

static void probe_wakeup(void *data, struct task_struct *woken)
{
	struct recorder *r = data;
	struct recorder_cpu *cpu;
	unsigned long irq;
	s32 vcpu;

	if (!r->settings.switches)
		return;
	/* It may still run on another CPU, and leave KVM's call while it is looked at. What it
	 * was, it was seen as when it last ran. */
	vcpu = vcpus_remember(&r->vcpus, woken);
	if (vcpu == SAMPLE_NO_VCPU)
		return;
	cpu = recorder_begin(r, SAMPLE_WAKE, &irq);
	cpu->record.base.number = task_cpu(woken);
	recorder_put_other(&cpu->record.two.next, woken, vcpu);
	cpu->record.two.spare = 0;
	cpu->record.base.size = sizeof(cpu->record.two);
	recorder_end(cpu, irq);
}

static void end_with_group(void *data, struct task_struct *t, bool group_dead)
{
	vcpus_forget(&((struct recorder *)data)->vcpus, t);
}

static void end_without_group(void *data, struct task_struct *t)
{
	vcpus_forget(&((struct recorder *)data)->vcpus, t);
}

/* --- KVM's --- */

static void put_value(struct recorder *r, enum sample_kind kind, u64 value, u64 detail)
{
	struct recorder_cpu *cpu;
	unsigned long irq;

	if (!r->settings.exits)
		return;
	cpu = recorder_begin(r, kind, &irq);
	cpu->record.value.value = value;
	cpu->record.value.detail = detail;
	cpu->record.base.size = sizeof(cpu->record.value);
	recorder_end(cpu, irq);
}

static void take_entry(struct recorder *r)
{
	struct recorder_cpu *cpu;
	unsigned long irq;

	vcpus_learn(&r->vcpus);
	if (!r->settings.exits)
		return;
	cpu = recorder_begin(r, SAMPLE_ENTRY, &irq);
	cpu->is_sampled = false;
	recorder_end(cpu, irq);
}

static void put_exit(struct recorder *r, struct kvm_vcpu *vcpu, const struct arch_exit *e)
{
	struct recorder_cpu *cpu;
	struct vm_record_exit *x;
	struct arch_guest g = { 0 };
	unsigned long irq;

	if (!r->settings.exits)
		return;
	cpu = recorder_begin(r, SAMPLE_EXIT, &irq);
	x = &cpu->record.exit;
	if (vcpu)
		arch_read_guest(vcpu, &g);
	if (g.known)
		x->base.mode = g.is_user ? SAMPLE_GUEST_USER : SAMPLE_GUEST_KERNEL;
	x->value = e->reason;
	x->detail = e->detail;
	x->guest_pc = g.pc;
	x->guest_table = g.table;
	x->guest_context = g.context;
	x->guest_task = g.task;
	x->guest = g.known;
	x->spare = 0;
	x->base.size = sizeof(*x);
	recorder_end(cpu, irq);
}

/* Whether it is the exit of the sample before it; else it is kept for later samples. */
static bool is_own(struct recorder_cpu *cpu, const struct arch_exit *e, bool is_known)
{
	bool is_own = cpu->is_sampled && e->is_interrupt;

	if (!is_own) {
		cpu->exit.tid = is_known ? current->pid : 0;
		cpu->exit.reason = e->reason;
		cpu->exit.detail = e->detail;
	}
	cpu->is_sampled = false;
	return is_own;
}

/* `told` is what the tracepoint says of it, where that is anything. */
static void take_exit(struct recorder *r, long told)
{
	struct kvm_vcpu *vcpu = vcpus_find(&r->vcpus, current);
	struct arch_exit e = { 0 };
	struct recorder_cpu *cpu;
	unsigned long irq;
	bool is_known = vcpu && arch_read_exit(vcpu, told, &e), is_left;

	local_irq_save(irq);
	cpu = r->cpus[smp_processor_id()];
	is_left = is_own(cpu, &e, is_known) && cpu->is_fresh && !e.detail &&
		  cpu->record.base.task.tid == current->pid && r->settings.exits;
	cpu->is_left |= is_left;
	local_irq_restore(irq);
	if (!is_left)
		put_exit(r, vcpu, &e);
}

/* Which arguments a kernel's KVM calls with is in compat/kvm_events.h. */
COMPAT_KVM_ENTRY(probe_entry)
{
	take_entry(data);
}

COMPAT_KVM_EXIT(probe_exit)
{
	take_exit(data, COMPAT_KVM_EXIT_TOLD);
}

static void probe_outside(void *data, __u32 reason, int error)
{
	forget_chain(data);
	put_value(data, SAMPLE_OUTSIDE, reason, error < 0 ? (u64)-error : 0);
}

static void probe_poll(void *data, __u64 ns, bool waited, bool valid)
{
	put_value(data, SAMPLE_POLL, ns, waited);
}

static const struct points_probe probes[] = {
	{ "sched_switch",
	  COMPAT_SWITCH_HAS_STATE ? (void *)switch_with_state : (void *)switch_without_state,
	  true },
	{ "sched_wakeup", probe_wakeup, true },
	{ "sched_process_exit",
	  COMPAT_EXIT_HAS_GROUP_DEAD ? (void *)end_with_group : (void *)end_without_group, true },
	{ "kvm_entry", probe_entry, false },
	{ "kvm_exit", probe_exit, false },
	{ "kvm_userspace_exit", probe_outside, false },
	{ "kvm_vcpu_wakeup", probe_poll, false },
	{ NULL, NULL, false },
};

const struct points_probe *probe_list(void)
{
	BUILD_BUG_ON(ARRAY_SIZE(probes) - 1 > POINTS_MOST);
	return probes;
}
