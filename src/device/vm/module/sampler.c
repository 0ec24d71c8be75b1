/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sampler: see sampler.h.
 *
 * In a guest is a CPU whose task has PF_VCPU: it is set right before the guest is entered, and still there when
 * the interrupt that ended the guest's run is served. A guest's registers are looked at only then.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include "device/vm/module/sampler.h"

#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kvm_host.h>
#include <linux/math64.h>
#include <linux/printk.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

#include <asm/irq_regs.h>

#include "device/vm/module/arch/arch.h"
#include "device/vm/module/compat/timer.h"
#include "device/vm/module/counter.h"
#include "device/vm/module/recorder.h"

#define KERNEL_MOST (VM_RECORD_CHAIN - 1)

/* From half of the period to one and a half of it, or as near to the period as was asked for. */
static void set_period(struct recorder *r)
{
	const struct vm_settings *s = &r->settings;
	u64 mean = s->cycles ? s->cycles : s->period_ns, reach = mean * s->jitter / 100;

	r->period = mean;
	r->shortest = mean - reach;
	r->spread = 2 * reach;
}

u64 sampler_next(struct recorder_cpu *cpu)
{
	u32 x = cpu->random;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	cpu->random = x;
	return cpu->owner->shortest + mul_u64_u32_shr(cpu->owner->spread, x, 32);
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
	if (cpu->exit.tid == current->pid)
		s->guest |= SAMPLE_GUEST_REASON;
	s->reason = cpu->exit.reason; /* nobody looks at it if it is not known */
	s->reason_detail = cpu->exit.detail;
	cpu->is_sampled = true;
	return true;
}

static void walk(struct vm_record_sample *s, struct pt_regs *regs)
{
	bool is_user = regs && user_mode(regs);

	s->n_kernel = s->n_user = 0;
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

/* The addresses of a guest's host side are the same from one sample to the next. */
static void put_chain(struct recorder_cpu *cpu, struct pt_regs *regs, bool is_guest)
{
	struct vm_record_sample *s = &cpu->record.sample;
	struct recorder_chain *c = &cpu->chain;
	unsigned long stack = regs ? kernel_stack_pointer(regs) : 0;

	/* No other record reaches to where they lie. */
	BUILD_BUG_ON(sizeof(cpu->record.exit) > offsetof(struct vm_record_sample, chain) ||
		     sizeof(cpu->record.two) > offsetof(struct vm_record_sample, chain));
	if (is_guest && c->tid == current->pid && c->stack == stack && regs &&
	    s->chain[0] == instruction_pointer(regs)) {
		s->n_kernel = c->n_kernel;
		s->n_user = c->n_user;
		return;
	}
	walk(s, regs);
	*c = (struct recorder_chain){ .stack = stack,
				      .n_kernel = s->n_kernel,
				      .n_user = s->n_user };
	if (is_guest && s->n_kernel)
		c->tid = current->pid;
}

/* Sets the timer for the next sample; how many periods this one stands for. The time of the record is the timer's. */
static u32 move_on(struct recorder_cpu *cpu)
{
	struct hrtimer *timer = &cpu->timer;
	ktime_t next = ns_to_ktime(sampler_next(cpu)), now = ns_to_ktime(cpu->last_tick);
	ktime_t due = ktime_add(hrtimer_get_expires(timer), next);

	if (due > now) {
		hrtimer_set_expires(timer, due);
		return 1;
	}
	return (u32)clamp_t(u64, hrtimer_forward(timer, now, next), 1, U32_MAX);
}

void sampler_take(struct recorder_cpu *cpu)
{
	struct recorder *r = cpu->owner;
	struct vm_record_sample *s = &cpu->record.sample;
	struct pt_regs *regs = get_irq_regs();
	unsigned long irq;
	bool is_guest;

	recorder_begin(r, SAMPLE_TAKEN, &irq);
	s->base.number = r->settings.cycles ? 1 : move_on(cpu);
	s->period_ns = r->period;
	is_guest = put_guest(cpu);
	if (!is_guest) {
		/* From `guest` on, and not by its address: more than that member is meant. */
		memset((u8 *)s + offsetof(struct vm_record_sample, guest), 0,
		       offsetof(struct vm_record_sample, chain) -
			       offsetof(struct vm_record_sample, guest));
		if (regs && user_mode(regs))
			s->base.mode = SAMPLE_USER;
		else
			s->base.mode = is_idle_task(current) ? SAMPLE_IDLE : SAMPLE_KERNEL;
	}
	put_chain(cpu, regs, is_guest);
	s->base.size = (u16)(offsetof(struct vm_record_sample, chain) +
			     (s->n_kernel + s->n_user) * sizeof(s->chain[0]));
	recorder_end(cpu, irq);
}

static enum hrtimer_restart go_off(struct hrtimer *timer)
{
	sampler_take(container_of(timer, struct recorder_cpu, timer));
	return HRTIMER_RESTART;
}

void sampler_init(struct recorder_cpu *cpu)
{
	compat_timer_setup(&cpu->timer, go_off, HRTIMER_MODE_REL_PINNED_HARD);
	counter_init(cpu);
}

static void say_blind(struct recorder_cpu *cpu, unsigned int number, int error)
{
	if (cpu->is_blind)
		return;
	cpu->is_blind = true;
	pr_warn("no samples of CPU %u: its counter of cycles cannot be had: %pe\n", number,
		ERR_PTR(error));
}

void sampler_look(struct recorder *r)
{
	unsigned int i;

	if (!r->is_on || !r->settings.cycles)
		return;
	/* A CPU that goes takes its counter along. */
	cpus_read_lock();
	for_each_online_cpu(i) if (counter_is_dead(r->cpus[i])) say_blind(r->cpus[i], i, -EBUSY);
	cpus_read_unlock();
}

/* There is one recording, and the kernel's interface for CPUs that come has no room for a pointer. */
static struct recorder *running;

static int start_cpu(unsigned int number)
{
	struct recorder_cpu *cpu = running->cpus[number];
	int error;

	if (cpu->owner->settings.cycles) {
		error = counter_start(cpu, number);
		cpu->is_blind &= error < 0;
		if (error >= 0 || !running->is_sampling)
			return error;
		/* A CPU that comes is more important than its samples. */
		say_blind(cpu, number, error);
		return 0;
	}
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
	set_period(r);
	r->hotplug =
		cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "kiseki/vm:online", start_cpu, stop_cpu);
	if (r->hotplug < 0)
		return r->hotplug;
	WRITE_ONCE(r->is_sampling, true);
	return 0;
}

void sampler_stop(struct recorder *r)
{
	if (r->hotplug >= 0)
		cpuhp_remove_state(r->hotplug);
	r->hotplug = -1;
	WRITE_ONCE(r->is_sampling, false);
}
