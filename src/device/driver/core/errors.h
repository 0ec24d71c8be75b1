/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * errors: the error numbers that this folder answers with (EPROTO, ECONNRESET, …), in the kernel and
 * in user space, where the tests and fuzz targets run it. Both worlds mean the same numbers.
 */
#ifndef KISEKI_DEVICE_DRIVER_CORE_ERRORS_H
#define KISEKI_DEVICE_DRIVER_CORE_ERRORS_H

#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#endif
