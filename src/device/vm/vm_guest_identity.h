/* SPDX-License-Identifier: MIT */
/*
 * vm_guest_identity: which machine speaks. A machine is the process of its VMM, and a guest must not speak for another.
 *
 * A VMM has a descriptor of KVM. At a local socket the kernel tells the process at the other end; a vsock of the kernel tells
 * a number, which is on its VMM's command line; over TCP the guest's UUID has to be there. If there is not exactly one such
 * VMM, nobody is told apart.
 */
#ifndef KISEKI_DEVICE_VM_VM_GUEST_IDENTITY_H
#define KISEKI_DEVICE_VM_VM_GUEST_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "wire/guest_message.h"

/* `proc` is where processes are, "/proc" but in tests. Each gives the pid, or a negative errno and a text that says why. */
int32_t vm_guest_identity_by_pid(const char *proc, int32_t pid, struct error *e);
int32_t vm_guest_identity_by_cid(const char *proc, uint32_t cid, struct error *e);
int32_t vm_guest_identity_by_uuid(const char *proc, const uint8_t uuid[GUEST_UUID_LEN],
				  struct error *e);

/* Whether a command line, with its NULs, names the number or the UUID. */
bool vm_guest_identity_has_cid(const char *line, size_t len, uint32_t cid);
bool vm_guest_identity_has_uuid(const char *line, size_t len, const uint8_t uuid[GUEST_UUID_LEN]);

#endif
