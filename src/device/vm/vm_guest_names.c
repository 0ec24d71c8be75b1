/* SPDX-License-Identifier: MIT */
/* vm_guest_names: see vm_guest_names.h. */
#include "device/vm/vm_guest_names.h"

void vm_guest_names_push(struct vm_guest_names *n, uint64_t address)
{
	uint32_t i =
		(uint32_t)((address * 0x9e3779b97f4a7c15ULL) >> 40) & (VM_GUEST_NAMES_PLACES - 1);

	for (; n->place[i]; i = (i + 1) & (VM_GUEST_NAMES_PLACES - 1))
		if (n->address[n->place[i] - 1] == address)
			return;
	if (n->n == VM_GUEST_NAMES_MOST)
		return;
	n->address[n->n++] = address;
	n->place[i] = (uint16_t)n->n;
}

bool vm_guest_names_pop(struct vm_guest_names *n, struct guest_names *ret)
{
	for (ret->n = 0; ret->n < GUEST_NAMES_MAX && n->asked < n->n; ret->n++)
		ret->address[ret->n] = n->address[n->asked++];
	return ret->n;
}
