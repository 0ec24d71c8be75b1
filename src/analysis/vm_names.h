/* SPDX-License-Identifier: MIT */
/*
 * vm_names: what the places of guests are called: processes, threads, functions, each numbered from 0 as it first comes.
 *
 * With what a guest told of itself (trace/sample_guests.h) they have the names they have in there. Without it names are as good as the
 * host can do: a process is the number that the guest's kernel keeps in a register, or else its page table, "space 0x42000"; functions of
 * a guest's kernel come from a file that somebody gives, and all else is one function, [unknown]. Kernel threads are processes of their own,
 * and where nothing tells them apart their time is the kernel's, in a process that is called so.
 */
#ifndef KISEKI_ANALYSIS_VM_NAMES_H
#define KISEKI_ANALYSIS_VM_NAMES_H

#include "analysis/functions.h"
#include "analysis/vm_correct.h"
#include "trace/comm.h"
#include "trace/sample_guests.h"

#define VM_NAMES_MAX (1U << 22)
#define VM_NAME_TEXT (COMM_TEXT_LEN + 40U)

struct vm_names;

struct vm_kallsyms {
	int32_t vm;	  /* 0: of all that have none of their own */
	const char *path; /* a copy of the guest's /proc/kallsyms */
};

struct vm_names_options {
	const struct sample_source *source;
	const struct sample_guests *guests; /* NULL: nobody said anything */
	struct symbols_options
		symbols; /* where objects of guests may lie; its kallsyms is not used */
	const struct vm_kallsyms *kallsyms;
	size_t n_kallsyms;
};

/* What is in the options stays the caller's. */
int vm_names_new(struct vm_names **ret, const struct vm_names_options *o, struct error *e);
void vm_names_free(struct vm_names *n);
DEFINE_CLEANUP(vm_names, vm_names_free)

/* Where the guest of a machine was at an event. -ENOMEM, -E2BIG; of a file that cannot be read what that says, once. */
int vm_names_find(struct vm_names *n, int32_t vm, const struct sample_event *ev,
		  struct vm_place *ret, struct error *e);

/* The machine of a process. */
int32_t vm_names_vm(const struct vm_names *n, uint32_t process);

/* "nginx (812)", "space 0x42000"; "worker (813)". */
const char *vm_names_process(const struct vm_names *n, uint32_t process);
const char *vm_names_thread(const struct vm_names *n, uint32_t thread);
const struct function *vm_names_function(const struct vm_names *n, uint32_t function);

/* Whether its time is the guest's kernel's. */
bool vm_names_is_kernel(const struct vm_names *n, uint32_t function);

#endif
