/* SPDX-License-Identifier: MIT */
/*
 * vm_tree: the time of virtual machines as one tree, each nanosecond of each virtual CPU once.
 *
 *	host ; machine ; process ; class ; ...
 *	  guest                  kernel or user ; object ; function
 *	  vmm-kernel, vmm-user   reason of the exit ; functions of the host, the outermost first
 *	  steal, waiting         who ran instead
 *
 * The process is the guest's: the one that ran, or from which time was taken; what is nobody's has [nobody's] there. Halt, halt-polling,
 * asleep and unknown are no process's, and follow the machine at once. Where no sample fell it says [not sampled]; so all rows of a
 * virtual CPU are its wall time.
 *
 * Keys are labels of the tree's own functions; their `object` says what they are: "host", "machine", "vcpu", "process", "thread", "class",
 * "mode", "object", "exit", "culprit", "note"; of a function it is the function's object.
 */
#ifndef KISEKI_ANALYSIS_VM_TREE_H
#define KISEKI_ANALYSIS_VM_TREE_H

#include "analysis/profile_stacks.h"
#include "analysis/vm_report.h"

#define VM_TREE_DEPTH_MAX (SAMPLE_CHAIN_MAX + 16U)
#define VM_TREE_NAME_LEN 160U

struct vm_shape {
	bool groups;  /* host and machine above the rest */
	bool vcpus;   /* virtual CPUs below these */
	bool threads; /* threads of guests below their processes */
	/* Functions first, without process: what was taken from a function stands below it. */
	bool is_struck;
	/* What the VMM did ends with the exit: single moments have no functions of the host. */
	bool is_moment;
};

struct vm_tree_options {
	const struct vm_report *report; /* with cells */
	const struct vm_names *names;
	struct profile_names *host;
	const struct sample_source *source;
	struct vm_shape shape;
};

struct vm_tree {
	struct vm_tree_options o;
	struct functions functions; /* of the keys */
	struct profile_tree *tree;  /* with PROFILE_VALUES values; the weight is in ns */
};

/* Without a row. -ENOMEM. */
int vm_tree_init(struct vm_tree *t, const struct vm_tree_options *o);
void vm_tree_done(struct vm_tree *t);
#define CLEANUP_VM_TREE __attribute__((cleanup(vm_tree_done)))

/* All cells, sorted. */
int vm_tree_fill(struct vm_tree *t);

/* The keys of a cell from the root on. -ENOMEM, -E2BIG. */
struct vm_path {
	uint32_t keys[VM_TREE_DEPTH_MAX];
	size_t n;
};
int vm_tree_path(struct vm_tree *t, const struct vm_cell *cell, struct vm_path *ret);

/* Its node, made if it is new. */
int vm_tree_find(struct vm_tree *t, const struct vm_cell *cell, uint32_t *ret);

/* "VM 400 qemu-one", "data abort", "vcpu 0 of VM 500". */
const char *vm_tree_machine(const struct vm_tree *t, uint32_t vcpu, char text[VM_TREE_NAME_LEN]);
const char *vm_tree_vcpu(const struct vm_tree *t, uint32_t vcpu, char text[VM_TREE_NAME_LEN]);
const char *vm_tree_exit(const struct vm_tree *t, const struct vm_cell *c,
			 char text[VM_TREE_NAME_LEN]);
const char *vm_tree_culprit(const struct vm_tree *t, const struct vm_cell *c,
			    char text[VM_TREE_NAME_LEN]);

#endif
