/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * signature: with which arguments the scheduler's tracepoints call their probes.
 *
 *	sched_switch		preempt, prev, next		5.10 to 5.17
 *				preempt, prev, next, prev_state	5.18 (its first candidates had
 *								prev_state in front of prev)
 *	sched_process_exit	task				up to 6.15
 *				task, group_dead		6.16
 *
 * All others are the same in all kernels from 5.10 on. A probe is registered as a pointer to nothing in
 * particular: with wrong arguments it would compile, and read rubbish. So the kernel's declaration,
 * which every tracepoint's header has for this purpose, decides which form is registered, and fails
 * the build where it knows neither.
 */
#ifndef KISEKI_DEVICE_DRIVER_COMPAT_SIGNATURE_H
#define KISEKI_DEVICE_DRIVER_COMPAT_SIGNATURE_H

#include <linux/binfmts.h>
#include <linux/sched.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>

/* Does the event call its probes with these arguments, behind the probe's own pointer? */
#define COMPAT_CALLS(event, ...)                                                                   \
	__builtin_types_compatible_p(typeof(check_trace_callback_type_##event),                    \
				     void(void (*)(void *, __VA_ARGS__)))

#define COMPAT_SWITCH_HAS_STATE                                                                    \
	COMPAT_CALLS(sched_switch, bool, struct task_struct *, struct task_struct *, unsigned int)
#define COMPAT_EXIT_HAS_GROUP_DEAD COMPAT_CALLS(sched_process_exit, struct task_struct *, bool)

#define COMPAT_TASK struct task_struct *
static_assert(COMPAT_SWITCH_HAS_STATE ||
	      COMPAT_CALLS(sched_switch, bool, COMPAT_TASK, COMPAT_TASK));
static_assert(COMPAT_EXIT_HAS_GROUP_DEAD || COMPAT_CALLS(sched_process_exit, COMPAT_TASK));
static_assert(COMPAT_CALLS(sched_waking, COMPAT_TASK));
static_assert(COMPAT_CALLS(sched_wakeup, COMPAT_TASK));
static_assert(COMPAT_CALLS(sched_wakeup_new, COMPAT_TASK));
static_assert(COMPAT_CALLS(sched_process_fork, COMPAT_TASK, COMPAT_TASK));
static_assert(COMPAT_CALLS(sched_process_exec, COMPAT_TASK, pid_t, struct linux_binprm *));
static_assert(COMPAT_CALLS(sched_pi_setprio, COMPAT_TASK, COMPAT_TASK));
static_assert(COMPAT_CALLS(task_rename, COMPAT_TASK, const char *));
#undef COMPAT_TASK

#endif
