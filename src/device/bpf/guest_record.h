/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * guest_record: what the BPF programs of a guest tell of a thread (guest.bpf.c, device/guest/guest_tables.c). Both sides
 * include this file and are of the same machine, so words are in its order.
 */
#ifndef KISEKI_DEVICE_BPF_GUEST_RECORD_H
#define KISEKI_DEVICE_BPF_GUEST_RECORD_H

#include <stdint.h>

#define GUEST_RECORD_COMM 16

enum guest_record_kind {
	GUEST_RECORD_FORK = 0,
	GUEST_RECORD_EXEC = 1,
	GUEST_RECORD_NAME = 2,
	GUEST_RECORD_EXIT = 3,
};

struct guest_record {
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint64_t
		pgd; /* address of its page table, as the kernel has it; 0: it has none of its own */
	uint64_t task, stack;
	int32_t pid, tid, parent;
	uint16_t kind;	  /* enum guest_record_kind */
	uint16_t is_last; /* of an end: no thread of the process is left */
	char comm[GUEST_RECORD_COMM];
};

#endif
