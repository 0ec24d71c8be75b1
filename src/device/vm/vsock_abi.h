/* SPDX-License-Identifier: MIT */
/*
 * vsock_abi: the kernel's address of a socket between a machine and its host, and of a local socket. It never changes; a C
 * library that comes without the kernel's headers can so be used as it is.
 */
#ifndef KISEKI_DEVICE_VM_VSOCK_ABI_H
#define KISEKI_DEVICE_VM_VSOCK_ABI_H

#include <stdint.h>

#define VSOCK_FAMILY 40
#define VSOCK_CID_ANY UINT32_MAX
#define VSOCK_CID_HOST 2U
#define VSOCK_CID_GUESTS 3U /* the first that a guest may have */

struct vsock_address {
	uint16_t family;
	uint16_t zero;
	uint32_t port, cid;
	uint8_t flags, zeros[3];
};

_Static_assert(sizeof(struct vsock_address) == 16, "as the kernel has it");

/* What SO_PEERCRED gives. */
struct vsock_peer {
	int32_t pid;
	uint32_t uid, gid;
};

#endif
