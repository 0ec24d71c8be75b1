/* SPDX-License-Identifier: MIT */
/*
 * vm_guest_link: one connection of a guest's program, the host's side (docs/format/guest.md).
 *
 * Nothing that comes is believed beyond the guest's own account. The connection is over with the first byte that no such
 * program sends; what it is behind with is read only as fast as VM_GUEST_RATE allows, so the guest waits, not the host. It
 * never waits itself: what the guest does not take is not asked.
 */
#ifndef KISEKI_DEVICE_VM_VM_GUEST_LINK_H
#define KISEKI_DEVICE_VM_VM_GUEST_LINK_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/profile/profile_meta.h"
#include "device/vm/vm_guest_clock.h"
#include "device/vm/vm_guest_door.h"
#include "device/vm/vm_guest_machine.h"

#define VM_GUEST_RATE (1U << 20)  /* bytes in a second */
#define VM_GUEST_BURST (4U << 20) /* bytes at once */
#define VM_GUEST_HELLO_MS 10000U  /* until who has to say who it is is thrown out */
#define VM_GUEST_SILENT_MS 5000U
#define VM_GUEST_PING_MS 1000U
#define VM_GUEST_NAMES_MS 10000U /* between two questions for names */
#define VM_GUEST_PINGS 8U	 /* before it is welcome */

struct vm_guest_link;

struct vm_guest_link_options {
	int fd; /* taken */
	struct vm_guest_peer peer;
	bool is_port;	  /* nobody may be there yet */
	const char *path; /* of a port's socket; copied */
	const char *proc;
	struct profile_meta *meta;
	/* The machine of a pid, in which to count. NULL: there are too many. */
	struct vm_guest_machine *(*get_machine)(void *context, int32_t vm);
	void *context;
};

int vm_guest_link_new(struct vm_guest_link **ret, const struct vm_guest_link_options *o);
void vm_guest_link_free(struct vm_guest_link *l);
DEFINE_CLEANUP(vm_guest_link, vm_guest_link_free)

int vm_guest_link_fd(const struct vm_guest_link *l);
const char *vm_guest_link_path(const struct vm_guest_link *l);

/* The machine; NULL: not known yet. */
struct vm_guest_machine *vm_guest_link_machine(const struct vm_guest_link *l);

/* Whether there is room to listen to it now. */
bool vm_guest_link_wants(const struct vm_guest_link *l);

/* Reads, answers, asks. 0; -EPIPE: it is gone; another negative errno: it broke the rules, or is nobody. The error says why; who
 * it was is noted in the recording. The caller closes it. */
int vm_guest_link_turn(struct vm_guest_link *l, uint64_t now_ns, struct error *e);

/* The recording ends: from now on it is asked without delay. */
void vm_guest_link_hurry(struct vm_guest_link *l);

/* All that it was asked for is answered, or will not be. */
bool vm_guest_link_is_settled(const struct vm_guest_link *l);

/* What the clock's error is now. */
void vm_guest_link_finish(struct vm_guest_link *l, uint64_t now_ns);

#endif
