/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * vm_state: what the BPF programs for virtual machines (vm.bpf.c) and their reader (device/vm/vm_bpf.c) share beside the records
 * (device/vm/vm_record.h).
 */
#ifndef KISEKI_DEVICE_BPF_VM_STATE_H
#define KISEKI_DEVICE_BPF_VM_STATE_H

#include <stdint.h>

#define VM_STATE_VCPUS                                                                             \
	8192U /* threads that run virtual CPUs; those beyond are known only while they are inside KVM */

/* One per CPU, in a map that the reader has mapped too. */
struct vm_state_cpu {
	uint64_t lost;	      /* records for which there was no room */
	uint32_t unsaid;      /* of these, those that no record has told of yet */
	uint32_t on;	      /* the reader's switch */
	uint64_t last_sample; /* ns; 0: none yet */
	/* Of the guest that this CPU ran last: why it was left, by whom; 0: not known. */
	int32_t exit_tid;
	uint32_t is_sampled; /* in a guest, which has not been left since */
	uint64_t reason, detail;
	uint64_t used_ns; /* what records took, by those that were timed */
	uint32_t n_records;
	uint32_t spare;
};

/* What is fixed when the programs are loaded. */
struct vm_state_setup {
	uint32_t exits;	     /* enum sample_exits: whose registers a guest has */
	uint32_t has_events; /* entries, exits and so on are recorded */
	uint32_t has_switches;
	uint32_t has_prev_state; /* sched_switch has its fourth argument (5.18 on) */
	uint32_t period_ns;	 /* the mean; of a CPU's first sample */
	uint32_t spare;
};

#ifndef __cplusplus
_Static_assert(sizeof(struct vm_state_cpu) == 64, "cpu");
_Static_assert(sizeof(struct vm_state_setup) == 24, "setup");
#endif

#endif
