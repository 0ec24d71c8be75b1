/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * trace_flags: an event's flags and preempt count, as the kernel's own events have them.
 *
 * The kernel's function for it is not for modules, what it asks is. The numbers are what the kernel
 * has shown to user space since 2.6, and are declared in different places; so they are said here
 * again.
 *
 *	5.15	the upper half of the preempt count is how often migration is disabled, and both
 *		halves stop at 15; before, it was the count's low byte
 *	5.17	0x80: softirqs are disabled (and not because one is served)
 *	6.13	0x02: rescheduling was asked for, lazily; before, that interrupts' state is not known,
 *		which none of our architectures says
 *	7.0	tracepoints no longer disable preemption around their probes (SRCU guards them); before,
 *		a probe of a preemptible kernel sees a count that is one above that of the event
 */
#ifndef KISEKI_DEVICE_DRIVER_COMPAT_TRACE_FLAGS_H
#define KISEKI_DEVICE_DRIVER_COMPAT_TRACE_FLAGS_H

#include <linux/irqflags.h>
#include <linux/kconfig.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/version.h>

#define COMPAT_FLAG_IRQS_OFF 0x01U
#define COMPAT_FLAG_RESCHED_LAZY 0x02U
#define COMPAT_FLAG_RESCHED 0x04U
#define COMPAT_FLAG_HARDIRQ 0x08U
#define COMPAT_FLAG_SOFTIRQ 0x10U
#define COMPAT_FLAG_PREEMPT_RESCHED 0x20U
#define COMPAT_FLAG_NMI 0x40U
#define COMPAT_FLAG_BH_OFF 0x80U

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 0, 0)
#define COMPAT_TRACEPOINT_COUNT (IS_ENABLED(CONFIG_PREEMPTION) ? 1U : 0U)
#else
#define COMPAT_TRACEPOINT_COUNT 0U
#endif

/* `irq`: the interrupts' state before the probe changed it. */
static inline u8 compat_trace_flags(unsigned long irq)
{
	unsigned int count = preempt_count(), flags = 0;

	if (irqs_disabled_flags(irq))
		flags |= COMPAT_FLAG_IRQS_OFF;
	if (count & NMI_MASK)
		flags |= COMPAT_FLAG_NMI;
	if (count & HARDIRQ_MASK)
		flags |= COMPAT_FLAG_HARDIRQ;
	if (in_serving_softirq())
		flags |= COMPAT_FLAG_SOFTIRQ;
	if (tif_need_resched())
		flags |= COMPAT_FLAG_RESCHED;
	if (test_preempt_need_resched())
		flags |= COMPAT_FLAG_PREEMPT_RESCHED;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 17, 0)
	if (softirq_count() >> (SOFTIRQ_SHIFT + 1))
		flags |= COMPAT_FLAG_BH_OFF;
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	if (IS_ENABLED(CONFIG_ARCH_HAS_PREEMPT_LAZY) && tif_test_bit(TIF_NEED_RESCHED_LAZY))
		flags |= COMPAT_FLAG_RESCHED_LAZY;
#endif
	return (u8)flags;
}

static inline u8 compat_preempt_count(void)
{
	unsigned int count = preempt_count() - COMPAT_TRACEPOINT_COUNT;
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
	return (u8)count;
#else
	unsigned int pinned = 0;

#ifdef CONFIG_SMP
	pinned = current->migration_disabled;
#endif
	return (u8)(min(count & 0xff, 0xfU) | min(pinned, 0xfU) << 4);
#endif
}

#endif
