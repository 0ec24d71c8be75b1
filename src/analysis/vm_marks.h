/* SPDX-License-Identifier: MIT */
/*
 * vm_marks: places in a recording of virtual machines from which one can go on without all that was before.
 *
 * What a virtual CPU does at a moment may have been told long ago, so whoever shows a later part needs a state: vm_slices leaves
 * one behind every VM_MARK_EVERY items (vm_slices.h). Marks are of a run that has ended. They stay until all are freed, so several
 * threads may use them and add to them at the same time.
 */
#ifndef KISEKI_ANALYSIS_VM_MARKS_H
#define KISEKI_ANALYSIS_VM_MARKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

#define VM_MARK_EVERY 65536U		   /* items */
#define VM_MARKS_MAX 4096U		   /* of a run */
#define VM_MARKS_BYTES_MAX (64U * 1048576) /* of all marks of a run */

struct vm_slices;
struct vm_marks;

int vm_marks_new(struct vm_marks **ret, uint64_t every); /* items from mark to mark; -ENOMEM */
struct vm_marks *vm_marks_ref(struct vm_marks *m);
void vm_marks_unref(struct vm_marks *m);
DEFINE_CLEANUP(vm_marks, vm_marks_unref)

uint64_t vm_marks_every(const struct vm_marks *m);

/* Is one at this tick wanted? Only those behind the last are, up to the ceilings. */
bool vm_marks_wants(struct vm_marks *m, uint64_t tick);

/* All items before the tick are accounted for, and none at it. Takes the state, whether it is kept or not. */
void vm_marks_push(struct vm_marks *m, uint64_t tick, struct vm_slices *state, size_t bytes);

/* The last one at or before this tick, good as long as the marks are; NULL: there is none. */
const struct vm_slices *vm_marks_get(struct vm_marks *m, uint64_t tick, uint64_t *ret_tick);

size_t vm_marks_count(struct vm_marks *m);

#endif
