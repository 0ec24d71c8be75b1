/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * vm_record: what the collectors of virtual machines write inside the kernel, and what they hand out.
 *
 * Both sides include this file and are of the same machine, so words are in its order. Records are of five
 * shapes, all a multiple of eight bytes, so that they lie aligned in their ring:
 *
 *   plain	VM_ENTRY
 *   value	VM_OUTSIDE, VM_POLL
 *   exit	VM_EXIT
 *   two	VM_SWITCH, VM_WAKE
 *   sample	VM_SAMPLE; ends behind the last address of its chain
 *
 * The exit that a sample's own interrupt caused has no record if it comes right behind the sample: it was at that
 * moment and in that place. The record behind it, of whatever kind, has VM_RECORD_LEFT in its kind.
 *
 * A device is read in chunks: one CPU's records in order of time, as many as fit, behind a head. Kinds, modes and
 * the bits of `guest` are those of wire/sample_event.h. Times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef KISEKI_DEVICE_VM_VM_RECORD_H
#define KISEKI_DEVICE_VM_VM_RECORD_H

#include "wire/types.h"

#define VM_RECORD_MAGIC 0x4d564b31U
#define VM_RECORD_VERSION 4U
#define VM_RECORD_COMM 16
#define VM_RECORD_LEFT 0x80U /* of a kind */
#define VM_RECORD_CHAIN 18U  /* addresses of the kernel, then of the program */
#define VM_RECORD_TIMED                                                                            \
	64U /* one of so many records is timed: a look at the clock costs as much as a tenth of one */
#define VM_RECORD_CHUNK (64U * 1024) /* a buffer of this size can always be read into */

struct vm_chunk {
	uint32_t magic;
	uint16_t version;
	uint16_t exits; /* enum sample_exits: whose reasons these are */
	uint32_t cpu;
	uint32_t length; /* of the records behind this head */
	uint64_t lost;	 /* records of this CPU for which there was no room, since the start */
	uint64_t
		used_ns; /* what its records took, from where each began, since the start; by those that were timed */
};

struct vm_record_task {
	int32_t tid;
	int32_t pid;
	int32_t vcpu; /* SAMPLE_NO_VCPU */
	char comm[VM_RECORD_COMM];
};

/* How each record begins; the whole of a plain one. */
struct vm_record {
	uint64_t tick;
	uint16_t size; /* of the whole record */
	uint8_t kind;  /* enum sample_kind, and VM_RECORD_LEFT */
	uint8_t mode;  /* enum sample_mode, of a sample and of an exit */
	uint32_t lost; /* records that are missing right before this one */
	struct vm_record_task task;
	uint32_t
		number; /* SWITCH: the state, as sched_event has it; WAKE: the CPU; SAMPLE: how many periods it stands for */
};

struct vm_record_value {
	struct vm_record base;
	uint64_t value, detail;
};

/* Where the guest was when it was left, as far as it is known. */
struct vm_record_exit {
	struct vm_record base;
	uint64_t value, detail;
	uint64_t guest_pc, guest_table, guest_context, guest_task;
	uint32_t guest; /* enum sample_guest, without the reason */
	uint32_t spare;
};

struct vm_record_two {
	struct vm_record base;
	struct vm_record_task next;
	uint32_t spare;
};

struct vm_record_sample {
	struct vm_record base;
	uint64_t period_ns;
	uint32_t guest; /* enum sample_guest */
	uint16_t n_kernel, n_user;
	uint64_t guest_pc, guest_table, guest_context, guest_task;
	uint64_t reason, reason_detail;
	uint64_t chain[VM_RECORD_CHAIN];
};

#ifndef __cplusplus
_Static_assert(sizeof(struct vm_chunk) == 32, "chunk");
_Static_assert(sizeof(struct vm_record) == 48, "plain");
_Static_assert(sizeof(struct vm_record_value) == 64, "value");
_Static_assert(sizeof(struct vm_record_exit) == 104, "exit");
_Static_assert(sizeof(struct vm_record_two) == 80, "two");
_Static_assert(offsetof(struct vm_record_sample, chain) == 112, "sample");
#endif

#endif
