/* SPDX-License-Identifier: MIT */
/*
 * vm_cells: all the time of virtual CPUs, to the nanosecond, by everything that is known of it at once: the class, where the guest was,
 * why it was left or who ran instead, and which functions of the host worked for it.
 *
 * vm_account has sums by class and vm_correct sums by place; here is what both are margins of. Each nanosecond of a virtual CPU is in one
 * cell, so cells add up to its wall time. Trees and exports are made of them (vm_tree.h).
 *
 * A segment waits until vm_correct says whose it is (struct vm_charge), by the rule that is written there. The functions of the host are
 * known by samples only; the time of the VMM after exits of one reason, which is exact, is shared out among them at the end. Where
 * no sample fell on such time it stays without functions.
 */
#ifndef KISEKI_ANALYSIS_VM_CELLS_H
#define KISEKI_ANALYSIS_VM_CELLS_H

#include "analysis/profile_tree.h"
#include "analysis/vm_correct.h"

#define VM_CELLS_MAX (1U << 20)
#define VM_SPANS_MAX (1U << 24)
#define VM_PENDING_MAX                                                                             \
	(1U << 16) /* segments of one virtual CPU that wait; then they are the last sample's */

struct vm_cell {
	uint32_t number; /* by which it is got */
	uint32_t vcpu;
	uint8_t kind; /* enum vm_class */
	bool ours;    /* VM_KERNEL: after an exit that a sample caused */
	int8_t level; /* enum vm_level up to which the place is known; below 0: not at all */
	struct vm_place place; /* as far as the level goes, the rest is 0 */
	bool has_reason;       /* VM_KERNEL, VM_OUTSIDE: why the guest was left */
	bool is_halt;
	uint64_t reason, detail;    /* detail: of the first such exit */
	struct sample_task culprit; /* VM_STEAL, VM_WAITING */
	uint32_t
		stack; /* VM_KERNEL, VM_OUTSIDE: of the host's functions, a node of the stacks; 0: not known */
	uint64_t ns;
	uint64_t samples, weight; /* taken there */
};

/* A part of a virtual CPU's time, in one cell. Cells of spans have no stack. */
struct vm_cell_span {
	uint64_t from_ns, to_ns;
	uint32_t vcpu, cell;
};

struct vm_cells;

struct vm_cells_options {
	const struct trace_clock *clock;
	enum sample_exits exits;
	uint64_t from_ns, to_ns; /* of the run's clock; 0, UINT64_MAX: all */
	bool with_spans;
};

int vm_cells_new(struct vm_cells **ret, const struct vm_cells_options *o);
void vm_cells_free(struct vm_cells *c);
DEFINE_CLEANUP(vm_cells, vm_cells_free)

/* As the listener of vm_time has it, before vm_correct gets it. 0, -ENOMEM, -E2BIG. */
int vm_cells_put_segment(struct vm_cells *c, const struct vm_segment *s);

/* A sample in the VMM: functions of the host, the outermost first. */
struct vm_host_stack {
	const uint32_t *functions;
	size_t n;
	uint64_t tick, weight;
};
int vm_cells_put_host(struct vm_cells *c, const struct vm_segment *now,
		      const struct vm_host_stack *stack);

/* What vm_correct says; it is the callback of its options. */
int vm_cells_charge(struct vm_cells *c, const struct vm_charge *charge);

/* All was put, and vm_correct has ended. */
int vm_cells_end(struct vm_cells *c);

/* Some may have neither time nor samples. */
size_t vm_cells_count(const struct vm_cells *c);
const struct vm_cell *vm_cells_get(const struct vm_cells *c, size_t i);

/* The host's functions: keys are those that were put. */
const struct profile_tree *vm_cells_stacks(const struct vm_cells *c);

/* By virtual CPU, then by time, without gap or overlap. */
const struct vm_cell_span *vm_cells_spans(const struct vm_cells *c, size_t *ret_n);

#endif
