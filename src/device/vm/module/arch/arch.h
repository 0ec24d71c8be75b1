/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arch: what only a processor's own KVM knows of a guest. One file of this folder is compiled for each architecture
 * (three for x86: what is common, AMD's, Intel's).
 *
 * All of it is called with interrupts off, or where the thread cannot move to another CPU, by the thread that has the
 * virtual CPU on its CPU; the guest was left, and is about to be entered again.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_ARCH_ARCH_H
#define KISEKI_DEVICE_VM_MODULE_ARCH_ARCH_H

#include <linux/types.h>

#include "wire/sample_event.h"
#include "wire/sample_meta.h"

struct kvm_vcpu;
struct pt_regs;

struct arch_guest {
	u32 known; /* enum sample_guest */
	bool is_user;
	u64 pc, table, context, task;
};

struct arch_exit {
	u64 reason, detail;
	bool is_interrupt; /* of the host: ours may be among them */
};

/* Whose numbers the reasons are. */
enum sample_exits arch_exits(void);

void arch_read_guest(struct kvm_vcpu *vcpu, struct arch_guest *ret);

/* Why the guest was left; `told` is what the tracepoint said of it. false: not known. */
bool arch_read_exit(struct kvm_vcpu *vcpu, long told, struct arch_exit *ret);

/* Where the kernel was interrupted, and the return addresses from there on; how many. */
u32 arch_walk(struct pt_regs *regs, u64 *ret, u32 most);

#endif
