/* SPDX-License-Identifier: MIT */
/*
 * vm_exit: why a guest was left, in words.
 *
 * Numbers are the processor's own: exception classes of arm64, exit codes of AMD's SVM, exit reasons of Intel's VMX.
 * Words are short and the same for what is the same on several of them, so that reports can be compared.
 */
#ifndef KISEKI_ANALYSIS_VM_EXIT_H
#define KISEKI_ANALYSIS_VM_EXIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/sample_meta.h"

#define VM_EXIT_NAME_LEN 40

/* "halt", "I/O", "page fault", …; of what has no word its number: "exit 0x7f". */
void vm_exit_format(char out[VM_EXIT_NAME_LEN], enum sample_exits exits, uint64_t reason,
		    uint64_t detail);

/* The guest has nothing to do until an interrupt comes. */
bool vm_exit_is_halt(enum sample_exits exits, uint64_t reason, uint64_t detail);

/* An interrupt of the host: a timer's, a device's, or one that a sample was taken by. */
bool vm_exit_is_interrupt(enum sample_exits exits, uint64_t reason);

#endif
