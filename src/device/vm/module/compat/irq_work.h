/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * irq_work: one whose function runs in the interrupt itself. With PREEMPT_RT others are left to a
 * thread, in which nobody knows any more what was interrupted.
 *
 *	5.11	IRQ_WORK_INIT_HARD(); before, the flag was set by hand
 */
#ifndef KISEKI_DEVICE_VM_MODULE_COMPAT_IRQ_WORK_H
#define KISEKI_DEVICE_VM_MODULE_COMPAT_IRQ_WORK_H

#include <linux/irq_work.h>

static inline void compat_irq_work_setup_hard(struct irq_work *work,
					      void (*function)(struct irq_work *))
{
#ifdef IRQ_WORK_INIT_HARD
	*work = IRQ_WORK_INIT_HARD(function);
#else
	init_irq_work(work, function);
	atomic_set(&work->flags, IRQ_WORK_HARD_IRQ);
#endif
}

#endif
