/* SPDX-License-Identifier: MIT */
/*
 * vm_guest_names: addresses of a guest's kernel that samples were at, each once, until its program is asked what they are
 * called. There is a ceiling: what is seen beyond it stays without a name.
 */
#ifndef KISEKI_DEVICE_VM_VM_GUEST_NAMES_H
#define KISEKI_DEVICE_VM_VM_GUEST_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/guest_message.h"

#define VM_GUEST_NAMES_PLACES 8192U /* a power of two */
#define VM_GUEST_NAMES_MOST 6144U

struct vm_guest_names {
	uint32_t n, asked;
	uint16_t place[VM_GUEST_NAMES_PLACES]; /* number of an address + 1; 0: free */
	uint64_t address[VM_GUEST_NAMES_MOST]; /* as they came; the first `asked` were asked for */
};

void vm_guest_names_push(struct vm_guest_names *n, uint64_t address);

/* The next that were not asked for; false: there are none. */
bool vm_guest_names_pop(struct vm_guest_names *n, struct guest_names *ret);

/* Nobody answered: all are to be asked for again. */
static inline void vm_guest_names_rewind(struct vm_guest_names *n)
{
	n->asked = 0;
}

#endif
