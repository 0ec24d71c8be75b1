/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * task_state: the prev_state that the kernel's own event would have.
 *
 * It is the highest of the bits that are reported, or TASK_REPORT_MAX alone for a task that was
 * preempted. Which bits those are, and how the states that are not reported are folded into them
 * (idle since 4.14, waiting for an RT lock since 5.15, frozen since 6.1), is left to the kernel's
 * functions: they are inline, and differ only in what they are given.
 *
 *	5.14	the word is called __state and has 32 bits
 *	5.18	sched_switch hands over the word as it was when the switch was decided: a task may be
 *		woken, and its word changed, before a probe looks. __task_state_index() takes it
 */
#ifndef KISEKI_DEVICE_DRIVER_COMPAT_TASK_STATE_H
#define KISEKI_DEVICE_DRIVER_COMPAT_TASK_STATE_H

#include <linux/sched.h>
#include <linux/types.h>
#include <linux/version.h>

static inline u64 compat_state_bit(unsigned int index)
{
	return index ? 1ULL << (index - 1) : 0;
}

/* Of a kernel whose sched_switch hands no state over. */
static inline u64 compat_state_of(bool preempt, struct task_struct *prev)
{
	return preempt ? TASK_REPORT_MAX : compat_state_bit(task_state_index(prev));
}

/* Of one that does. */
static inline u64 compat_state_from(bool preempt, unsigned int state, struct task_struct *prev)
{
	if (preempt)
		return TASK_REPORT_MAX;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 18, 0)
	return compat_state_bit(__task_state_index(state, prev->exit_state));
#else
	/* An older kernel that took over the argument: it has the states of its time. */
	if ((state & TASK_IDLE) == TASK_IDLE)
		return TASK_REPORT_IDLE;
	return compat_state_bit(fls((state | prev->exit_state) & TASK_REPORT));
#endif
}

#endif
