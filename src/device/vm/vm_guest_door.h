/* SPDX-License-Identifier: MIT */
/*
 * vm_guest_door: where the programs of guests come in:
 *
 *	vsock:PORT	the kernel's vsock
 *	unix:FILE	a local socket that VMMs connect to: serial ports, or a vsock that the VMM makes
 *	unix:FOLDER	local sockets in there, which VMMs made for serial ports; they are connected to as they appear
 *	tcp:HOST:PORT	addresses as numbers
 */
#ifndef KISEKI_DEVICE_VM_VM_GUEST_DOOR_H
#define KISEKI_DEVICE_VM_VM_GUEST_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define VM_GUEST_PATH 108U /* bytes of a local socket's name */

enum vm_guest_way {
	VM_GUEST_LOCAL = 0,
	VM_GUEST_VSOCK = 1,
	VM_GUEST_TCP = 2,
};

struct vm_guest_door {
	enum vm_guest_way way;
	bool is_folder;
	int fd;			  /* that listens; -1: it is a folder */
	char path[VM_GUEST_PATH]; /* of a folder, or of the socket that is to be removed; "" */
};

/* Who is at the other end, as far as the kernel knows. */
struct vm_guest_peer {
	enum vm_guest_way way;
	int32_t pid;  /* LOCAL */
	uint32_t cid; /* VSOCK */
	char text[80];
};

int vm_guest_door_open(struct vm_guest_door *d, const char *address, struct error *e);
void vm_guest_door_close(struct vm_guest_door *d);

/* A descriptor that does not wait; negative: there is nobody. */
int vm_guest_door_accept(const struct vm_guest_door *d, struct vm_guest_peer *ret);

/* The same, to a socket in a folder. */
int vm_guest_door_connect(const char *path, struct vm_guest_peer *ret);

#endif
