/* SPDX-License-Identifier: MIT */
/*
 * vm_reading: a recording of virtual machines that a command works through: opened, named, analysed in one pass.
 */
#ifndef KISEKI_CLI_VM_READING_H
#define KISEKI_CLI_VM_READING_H

#include "analysis/vm_json.h"
#include "analysis/vm_report.h"
#include "cli/profile_reading.h"

#define VM_READING_KALLSYMS_MAX 64U

/* For the tables of the commands. */
#define VM_READING_OPTIONS                                                                         \
	{ 0, "guest-kallsyms", "VM=FILE[,...]",                                                    \
	  "names of the functions of guests' kernels: copies of their /proc/kallsyms, each for a " \
	  "machine (the pid of its VMM), or one FILE for all",                                     \
	  NULL },                                                                                  \
		PROFILE_READING_PLACE_OPTIONS

/* Which rows a tree has more. */
#define VM_READING_TREE_OPTIONS                                                                    \
	{ 0, "vcpus", NULL, "virtual CPUs below their machines, too", NULL },                      \
	{                                                                                          \
		0, "threads", NULL, "threads of guests below their processes, too", NULL           \
	}

struct vm_reading {
	struct profile_reading in;
	bool with_cells, with_spans; /* set before it is opened: for trees and exports */
	struct vm_kallsyms kallsyms[VM_READING_KALLSYMS_MAX];
	size_t n_kallsyms;
	char *kallsyms_text;
	struct vm_names *names;
	struct vm_report *report;
	struct vm_json json; /* of all this */
	struct vm_tree_options tree;
};

/* Reads it to its end. */
int vm_reading_open(struct vm_reading *r, const struct args *a, struct error *e);
int vm_reading_failure(struct vm_reading *r, const struct error *e);
void vm_reading_close(struct vm_reading *r);
#define CLEANUP_VM_READING __attribute__((cleanup(vm_reading_close)))

#endif
