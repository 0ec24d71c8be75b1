/* SPDX-License-Identifier: MIT */
/*
 * vm_guest_machine: what a recording knows of one virtual machine whose guest talks, or might: the addresses of its kernel
 * that were seen, and how much it said. It is kept over all connections of that guest, so that one who comes again and
 * again has no more room than one who stays.
 */
#ifndef KISEKI_DEVICE_VM_VM_GUEST_MACHINE_H
#define KISEKI_DEVICE_VM_VM_GUEST_MACHINE_H

#include "device/vm/vm_guest_names.h"
#include "device/vm/vm_guest_objects.h"

#define VM_GUEST_ROWS_MOST (1U << 20)	  /* of one machine in a recording */
#define VM_GUEST_BYTES_MOST (64ULL << 20) /* that are listened to, but for files */
#define VM_GUEST_LINKS_MOST 1000U	  /* notes on how it went */
#define VM_GUEST_REFUSALS_MOST 8U	  /* then it is not listened to any more */

struct vm_guest_machine {
	int32_t vm;
	bool is_linked;
	uint32_t rows, notes, refusals;
	uint64_t bytes;
	struct vm_guest_names names;
	struct vm_guest_objects *objects; /* NULL: nobody wants files */
};

#endif
