/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * socket: addresses as the kernel's socket functions want them.
 *
 *	6.19	kernel_connect() and its like take a struct sockaddr_unsized, of which only the name is
 *		new; before, a struct sockaddr
 */
#ifndef KISEKI_DEVICE_DRIVER_COMPAT_SOCKET_H
#define KISEKI_DEVICE_DRIVER_COMPAT_SOCKET_H

#include <linux/socket.h>

/* A pointer that becomes whichever of the two is asked for. */
static inline void *compat_address(struct sockaddr_storage *a)
{
	return a;
}

#endif
