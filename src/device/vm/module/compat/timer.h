/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * timer: how a high-resolution timer is set up.
 *
 *	6.13	hrtimer_setup() takes the function as well
 *	6.15	hrtimer_init() is gone
 */
#ifndef KISEKI_DEVICE_VM_MODULE_COMPAT_TIMER_H
#define KISEKI_DEVICE_VM_MODULE_COMPAT_TIMER_H

#include <linux/hrtimer.h>
#include <linux/version.h>

static inline void compat_timer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *),
				      enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(timer, function, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(timer, CLOCK_MONOTONIC, mode);
	timer->function = function;
#endif
}

#endif
