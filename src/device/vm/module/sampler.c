/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler: see sampler.h.
 *
 * In a guest is a CPU whose task has PF_VCPU: it is set right before the guest is entered, and still there when
 * the interrupt that ended the guest's run is served. A guest's registers are looked at only then.
 */
#include "device/vm/module/sampler.h"

#include <linux/kvm_host.h>
#include <linux/math64.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include <asm/irq_regs.h>

#include "device/vm/module/arch/arch.h"
#include "device/vm/module/compat/timer.h"
#include "device/vm/module/counter.h"
#include "device/vm/module/recorder.h"

#define KERNEL_MOST (VM_RECORD_CHAIN - 1)

/* In ns or in cycles. */
static u64 mean_period(const struct vm_settings *s)
{
	return s->cycles ? s->cycles : s->period_ns;
}

/* From half of the period to one and a half of it, or as near to the period as was asked for. */
u64 sampler_next(struct recorder_cpu *cpu)
{
	const struct vm_settings *s = &cpu->owner->settings;
	u64 mean = mean_period(s), reach = mean * s->jitter / 100;
	u32 x = cpu->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	cpu->random = x;
	return mean - reach + mul_u64_u32_shr(2 * reach, x, 32);
}

/* false: the thread is in none after all. */
static bool put_guest(struct recorder_cpu *cpu)
{
	struct vm_record_sample *s = &cpu->record.sample;
	struct kvm_vcpu *vcpu = vcpus_find(&cpu->owner->vcpus, current);
	struct arch_guest g = { 0 };

	if (!(current->flags & PF_VCPU) || !vcpu)
		return false;
	arch_read_guest(vcpu, &g);
	s->base.mode = g.is_user ? SAMPLE_GUEST_USER : SAMPLE_GUEST_KERNEL;
	s->guest = g.known;
	s->guest_pc = g.pc;
	s->guest_table = g.table;
	s->guest_context = g.context;
	s->guest_task = g.task;
	if (cpu->exit.tid == current->pid) {
		s->guest |= SAMPLE_GUEST_REASON;
		s->reason = cpu->exit.reason;
		s->reason_detail = cpu->exit.detail;
	}
	cpu->is_sampled = true;
	return true;
}

static void put_chain(struct vm_record_sample *s, struct pt_regs *regs)
{
	bool is_user = regs && user_mode(regs);

	if (regs && !is_user)
		s->n_kernel = (u16)arch_walk(regs, s->chain, KERNEL_MOST);
	/* Where the program called the kernel, if it is one. */
	if (!is_user && current->mm && !(current->flags & (PF_KTHREAD | PF_IO_WORKER)))
		regs = task_pt_regs(current);
	else if (!is_user)
		return;
	s->chain[s->n_kernel] = instruction_pointer(regs);
	s->n_user = 1;
}

void sampler_take(struct recorder_cpu *cpu, u32 periods)
{
	struct recorder *r = cpu->owner;
	struct vm_record_sample *s = &cpu->record.sample;
	struct pt_regs *regs = get_irq_regs();
	unsigned long irq;

	recorder_begin(r, SAMPLE_TAKEN, &irq);
	memset((u8 *)s + sizeof(s->base), 0,
	       offsetof(struct vm_record_sample, chain) - sizeof(s->base));
	s->base.number = periods;
	s->period_ns = mean_period(&r->settings);
	if (!put_guest(cpu)) {
		if (regs && user_mode(regs))
			s->base.mode = SAMPLE_USER;
		else
			s->base.mode = is_idle_task(current) ? SAMPLE_IDLE : SAMPLE_KERNEL;
	}
	put_chain(s, regs);
	s->base.size = (u16)(offsetof(struct vm_record_sample, chain) +
			     (s->n_kernel + s->n_user) * sizeof(s->chain[0]));
	recorder_end(cpu, irq);
}

static enum hrtimer_restart go_off(struct hrtimer *timer)
{
	struct recorder_cpu *cpu = container_of(timer, struct recorder_cpu, timer);
	u64 periods = hrtimer_forward_now(timer, ns_to_ktime(sampler_next(cpu)));

	sampler_take(cpu, (u32)min_t(u64, periods, U32_MAX));
	return HRTIMER_RESTART;
}

void sampler_init(struct recorder_cpu *cpu)
{
	compat_timer_setup(&cpu->timer, go_off, HRTIMER_MODE_REL_PINNED_HARD);
	counter_init(cpu);
}

/* There is one recording, and the kernel's interface for CPUs that come has no room for a pointer. */
static struct recorder *running;

static int start_cpu(unsigned int number)
{
	struct recorder_cpu *cpu = running->cpus[number];

	if (cpu->owner->settings.cycles)
		return counter_start(cpu, number);
	hrtimer_start(&cpu->timer, ns_to_ktime(sampler_next(cpu)), HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static int stop_cpu(unsigned int number)
{
	counter_stop(running->cpus[number]);
	hrtimer_cancel(&running->cpus[number]->timer);
	return 0;
}

int sampler_start(struct recorder *r)
{
	running = r;
	r->hotplug =
		cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kiseki/vm:online", start_cpu, stop_cpu);
	return r->hotplug < 0 ? r->hotplug : 0;
}

void sampler_stop(struct recorder *r)
{
	if (r->hotplug >= 0)
		cpuhp_remove_state(r->hotplug);
	r->hotplug = -1;
}
