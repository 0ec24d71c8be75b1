/* SPDX-License-Identifier: MIT */
/*
 * vm_guest_rows: what guests say, as items of the recording's description (META_GUEST; docs/format/wire.md, 7.18).
 *
 * A guest's rows are taken apart, and put together anew: each field within its bounds, each time on the host's clock. Nothing
 * of a guest's bytes is in a recording that was not understood here.
 */
#ifndef KISEKI_DEVICE_VM_VM_GUEST_ROWS_H
#define KISEKI_DEVICE_VM_VM_GUEST_ROWS_H

#include "device/profile/profile_meta.h"
#include "device/vm/vm_guest_clock.h"
#include "device/vm/vm_guest_objects.h"
#include "wire/guest_link.h"

#define VM_GUEST_NAME_MAX 576U /* bytes of a function's name with its module */

/* Where they go, and whose they are. */
struct vm_guest_rows {
	struct profile_meta *meta;
	int32_t vm;
	const struct vm_guest_clock *clock;
	uint64_t now_ns;
	uint32_t taken;			  /* rows, counted here */
	struct vm_guest_objects *objects; /* that want to know of mappings; may be NULL */
};

/* The body of GUEST_ROWS. 0, or -EBADMSG: no guest's program says that; rows before it are put. */
int vm_guest_rows_put(struct vm_guest_rows *r, const uint8_t *body, size_t len);

/* How it goes with a guest's program; its tick is the host's. */
void vm_guest_rows_put_link(struct profile_meta *meta, int32_t vm,
			    const struct guest_link_row *row);

#endif
