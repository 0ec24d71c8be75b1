/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86_vcpu: whether a guest's registers are encrypted.
 *
 *	5.11	KVM has such guests (SEV-ES)
 */
#ifndef KISEKI_DEVICE_VM_MODULE_COMPAT_X86_VCPU_H
#define KISEKI_DEVICE_VM_MODULE_COMPAT_X86_VCPU_H

#include <linux/kvm_host.h>
#include <linux/version.h>

static inline bool compat_is_protected(const struct kvm_vcpu *vcpu)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 11, 0)
	return vcpu->arch.guest_state_protected;
#else
	return false;
#endif
}

#endif
