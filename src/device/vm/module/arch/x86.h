/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86: the two ways of a guest's registers: AMD keeps them in memory (x86_svm.c), Intel behind an instruction
 * (x86_vmx.c). false: they cannot be had. `task` is the stack pointer, as it is.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_ARCH_X86_H
#define KISEKI_DEVICE_VM_MODULE_ARCH_X86_H

#include "device/vm/module/arch/arch.h"

bool svm_read_guest(struct kvm_vcpu *vcpu, struct arch_guest *ret);
bool svm_read_exit(struct kvm_vcpu *vcpu, struct arch_exit *ret);

bool vmx_read_guest(struct arch_guest *ret);
bool vmx_read_exit(struct arch_exit *ret);

#endif
