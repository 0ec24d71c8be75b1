/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * kvm: the few fields of KVM's structs that programs read; as kernel.h, for programs only.
 *
 * Where KVM is a module its types are in that module's description (/sys/kernel/btf/kvm, kvm_amd). What an
 * architecture does not have is never reached there: the setup says which one it is, and the verifier leaves the rest out.
 */
#ifndef KISEKI_DEVICE_BPF_KVM_H
#define KISEKI_DEVICE_BPF_KVM_H

#include "device/bpf/kernel.h"

struct preempt_ops;

struct preempt_notifier {
	struct hlist_node link;
	struct preempt_ops *ops;
} KERNEL_STRUCT;

struct kvm_vcpu {
	struct preempt_notifier preempt_notifier;
	int32_t vcpu_id;
} KERNEL_STRUCT;

/* arm64 */

struct user_pt_regs {
	uint64_t sp;
	uint64_t pc;
	uint64_t pstate;
} KERNEL_STRUCT;

struct kvm_cpu_context {
	struct user_pt_regs regs;
} KERNEL_STRUCT;

struct kvm_vcpu_fault_info {
	uint64_t esr_el2; /* until 5.17 of 32 bits */
} KERNEL_STRUCT;

struct kvm_vcpu_arch___arm64 {
	struct kvm_cpu_context ctxt;
	struct kvm_vcpu_fault_info fault;
} KERNEL_STRUCT;

struct kvm_vcpu___arm64 {
	struct kvm_vcpu_arch___arm64 arch;
} KERNEL_STRUCT;

struct pt_regs___arm64 {
	uint64_t pc;
} KERNEL_STRUCT;

/* x86, AMD */

struct kvm_vcpu_arch___x86 {
	bool guest_state_protected; /* from 5.11 on */
} KERNEL_STRUCT;

struct kvm_vcpu___x86 {
	struct kvm_vcpu_arch___x86 arch;
} KERNEL_STRUCT;

struct vmcb_control_area {
	uint32_t exit_code;
	uint64_t exit_info_1;
} KERNEL_STRUCT;

struct vmcb_save_area {
	uint8_t cpl;
	uint64_t cr3;
	uint64_t rip;
	uint64_t rsp;
} KERNEL_STRUCT;

struct vmcb {
	struct vmcb_control_area control;
	struct vmcb_save_area save;
} KERNEL_STRUCT;

struct vcpu_svm {
	struct vmcb *vmcb;
} KERNEL_STRUCT;

struct pt_regs___x86 {
	uint64_t ip;
} KERNEL_STRUCT;

#endif
