/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fields: what the kernel's own events have, and had, beside what their probes are given.
 *
 *	5.14	wakeups lose `success`, which was always 1 since 4.3
 *	6.14	task_rename loses its pid (back with 7.0, and in late 6.18); a probe knows it always
 */
#ifndef KISEKI_DEVICE_DRIVER_COMPAT_FIELDS_H
#define KISEKI_DEVICE_DRIVER_COMPAT_FIELDS_H

#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 14, 0)
#define COMPAT_WAKEUP_SUCCESS 1
#else
#define COMPAT_WAKEUP_SUCCESS 0
#endif

#endif
