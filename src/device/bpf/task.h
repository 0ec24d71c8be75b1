/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * task: what programs want to know of a task, where kernels differ. For programs only, behind the helpers of libbpf.
 */
#ifndef KISEKI_DEVICE_BPF_TASK_H
#define KISEKI_DEVICE_BPF_TASK_H

#include "device/bpf/kernel.h"

/* The kernel's numbers, the same from 4.14 to today (include/linux/sched.h). */
#define TASK_UNINTERRUPTIBLE 0x0002U
#define TASK_REPORT 0x007fU
#define TASK_REPORT_IDLE 0x0080U
#define TASK_REPORT_MAX 0x0100U
#define TASK_IDLE 0x0402U
#define TASK_RTLOCK_WAIT 0x1000U
#define TASK_FROZEN 0x8000U

/* 5.18 hands the state over, because the task may be woken, and its state changed, before it is
 * read here; older kernels have nothing better than what is read. */
static __always_inline uint32_t task_state_before(uint64_t *ctx, const struct task_struct *prev,
						  bool is_handed_over)
{
	const struct task_struct___old_state *old = (const void *)prev;
	const struct task_struct___state *now = (const void *)prev;

	if (is_handed_over)
		return (uint32_t)ctx[3];
	if (bpf_core_field_exists(now->__state))
		return now->__state;
	return (uint32_t)old->state;
}

/* As the kernel's own event computes prev_state: the highest bit of those that are reported. */
static __always_inline uint32_t task_state_reported(uint64_t *ctx, const struct task_struct *prev,
						    bool is_handed_over)
{
	uint32_t state = task_state_before(ctx, prev, is_handed_over);
	uint32_t reported = (state | (uint32_t)prev->exit_state) & TASK_REPORT;

	if ((state & TASK_IDLE) == TASK_IDLE)
		reported = TASK_REPORT_IDLE;
	if (state & (TASK_RTLOCK_WAIT | TASK_FROZEN))
		reported = TASK_UNINTERRUPTIBLE;
	reported |= reported >> 1;
	reported |= reported >> 2;
	reported |= reported >> 4;
	return reported - (reported >> 1);
}

/* The CPU of a task has been in three places. */
static __always_inline uint32_t task_cpu(const struct task_struct *t)
{
	const struct task_struct___cpu *with_cpu = (const void *)t;
	const struct task_struct___stack *with_stack = (const void *)t;
	uint32_t cpu = 0;

	if (bpf_core_field_exists(with_cpu->cpu))
		return with_cpu->cpu;
	if (bpf_core_field_exists(t->thread_info))
		return t->thread_info.cpu;
	bpf_core_read(&cpu, sizeof(cpu), &((const struct thread_info *)with_stack->stack)->cpu);
	return cpu;
}

#endif
