/* SPDX-License-Identifier: MIT */
/*
 * vm_guest_objects: files of code that a guest's samples were in, fetched from it by build-id, each once.
 *
 * A guest's mappings say which file lies where. When a sample shows that one is needed, it is asked for, one at a time, and
 * kept as PID/.build-id/ab/cdef in a folder: of each machine apart, for one guest's files must not name another's functions. A file that does not have the build-id that it was
 * asked for by is not kept.
 */
#ifndef KISEKI_DEVICE_VM_VM_GUEST_OBJECTS_H
#define KISEKI_DEVICE_VM_VM_GUEST_OBJECTS_H

#include "base/cleanup.h"
#include "wire/guest_message.h"
#include "wire/sample_event.h"

#define VM_GUEST_OBJECTS_MAPS 8192U /* mappings that are remembered: the last ones */
#define VM_GUEST_OBJECTS_IDS 1024U
#define VM_GUEST_OBJECTS_SEEN 1024U	      /* places that were looked at, a power of two */
#define VM_GUEST_OBJECTS_BYTES (512ULL << 20) /* of all files of a machine */

struct vm_guest_objects;

/* `folder` is there; the text stays the caller's. */
int vm_guest_objects_new(struct vm_guest_objects **ret, const char *folder, int32_t vm);
void vm_guest_objects_free(struct vm_guest_objects *o);
DEFINE_CLEANUP(vm_guest_objects, vm_guest_objects_free)

/* What the guest said. */
void vm_guest_objects_map(struct vm_guest_objects *o, const struct sample_mapping *m);

/* A sample in a program of the guest. */
void vm_guest_objects_see(struct vm_guest_objects *o, const struct sample_event *ev);

/* The next that is to be asked for; false: none, or one is on its way. */
bool vm_guest_objects_pop(struct vm_guest_objects *o, struct guest_id *ret);

/* A piece. False: nobody asked for it. What cannot be written is not kept. */
bool vm_guest_objects_take(struct vm_guest_objects *o, const struct guest_object *piece);

/* The connection ended, or is a new one: what was on its way is asked for again. */
void vm_guest_objects_rewind(struct vm_guest_objects *o);

/* One is on its way, or should be. */
bool vm_guest_objects_is_busy(const struct vm_guest_objects *o);

#endif
