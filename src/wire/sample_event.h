/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sample_event: the record of a profile, as its sources make it and all readers get it (docs/format/sample.md).
 *
 * A stream is one CPU's, in order of time. Samples say where the CPU was at a moment; of a machine that runs
 * virtual machines the other kinds say exactly what happened between them: who ran, when a guest was entered and
 * left and why, when a virtual CPU was woken. A profile of an ordinary machine has samples only, or samples and
 * switches.
 *
 * A virtual CPU is the thread of the VMM that runs it, a virtual machine the process of that thread; `vcpu` is the
 * number it has in its machine. Addresses and reasons are as the processor gives them; the run's description says
 * whose numbers they are (META_SAMPLING).
 */
#ifndef KISEKI_WIRE_SAMPLE_EVENT_H
#define KISEKI_WIRE_SAMPLE_EVENT_H

#include "wire/sched_event.h"
#include "wire/types.h"

#define SAMPLE_CHAIN_MAX 128U
#define SAMPLE_NO_VCPU (-1)

/* Published numbers: append only. */
enum sample_kind {
	SAMPLE_TAKEN = 0, /* a sample: everything that follows in the struct */
	SAMPLE_SWITCH =
		1, /* `task` gave the CPU to `next`; value: its state as sched_event has it, 0: preempted */
	SAMPLE_WAKE =
		2, /* `next`, a virtual CPU's thread, became runnable while `task` ran here; value: for which CPU */
	SAMPLE_ENTRY = 3, /* `task`'s guest runs from here on */
	SAMPLE_EXIT =
		4, /* it was left; value: reason, detail; and where: mode and what `guest` names */
	SAMPLE_OUTSIDE =
		5, /* the VMM's own code outside the kernel has to go on; value: why, as KVM says */
	SAMPLE_POLL =
		6, /* a halted virtual CPU was waited for; value: ns, detail: 1 it slept, 0 it was polled for */
	SAMPLE_KINDS = 7,
};

/* Where the CPU was. */
enum sample_mode {
	SAMPLE_IDLE = 0,
	SAMPLE_KERNEL = 1,
	SAMPLE_USER = 2,
	SAMPLE_GUEST_KERNEL = 3,
	SAMPLE_GUEST_USER = 4,
	SAMPLE_MODES = 5,
};

/* Which fields of a guest are known. */
enum sample_guest {
	SAMPLE_GUEST_PC = 1,
	SAMPLE_GUEST_TABLE = 2, /* base of its page table, as the register has it */
	SAMPLE_GUEST_CONTEXT =
		4, /* a number that its kernel keeps for the process: CONTEXTIDR of arm64 */
	SAMPLE_GUEST_TASK =
		8, /* what its kernel has for the current task: its address, SP_EL0 of arm64; x86: that of the stack */
	SAMPLE_GUEST_REASON =
		16, /* why it was last left before this sample's own interrupt, and the detail */
};

/* Of x86: the size of a task's stack in a 64-bit kernel, and what its address is a multiple of. */
#define SAMPLE_GUEST_STACK 0x4000ULL

struct sample_task {
	int32_t tid;
	int32_t pid;  /* of the process; the VMM's is the machine's number */
	int32_t vcpu; /* SAMPLE_NO_VCPU: it runs none, as far as is known */
	char comm[SCHED_COMM_LEN];
};

struct sample_event {
	uint64_t tick;
	uint8_t kind;		 /* enum sample_kind */
	struct sample_task task; /* who had the CPU; tid 0: nobody */
	struct sample_task next; /* SWITCH, WAKE */
	uint64_t value, detail;	 /* by kind */

	/* Of a sample; mode and what is of a guest also of an exit. */
	uint8_t mode; /* enum sample_mode */
	uint8_t guest; /* enum sample_guest; 0: the CPU was not in a guest, or nothing is known of it */
	uint64_t weight; /* what it stands for, in the unit of the run's description: mostly ns */
	uint16_t
		n_kernel; /* addresses of the kernel, then those of the program: callees first, [0] is the place */
	uint16_t n_user;
	const uint64_t *chain; /* borrowed; n_kernel + n_user of them, at most SAMPLE_CHAIN_MAX */
	uint64_t guest_pc, guest_table, guest_context, guest_task;
	uint64_t reason, reason_detail;
};

/* What a kind has beside its tick and task; a sample has the fields of a sample. What a record does not have is not
 * carried, and is 0 behind a decoder: of a guest's fields those that `guest` does not name. */
struct sample_shape {
	const char *word; /* what people write for it */
	bool has_next;
	bool has_value; /* and a detail */
	bool has_guest; /* mode, and the fields of a guest */
};
extern const struct sample_shape sample_shapes[SAMPLE_KINDS];

bool sample_task_equal(const struct sample_task *a, const struct sample_task *b);

/* Are they the same as far as records of their kind have something? */
bool sample_event_equal(const struct sample_event *a, const struct sample_event *b);

#endif
