/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arm64_vcpu: whether a virtual CPU's registers are in the CPU, or in memory.
 *
 *	up to 5.19	a field of its own
 *	6.0		one of the virtual CPU's flags
 */
#ifndef KISEKI_DEVICE_VM_MODULE_COMPAT_ARM64_VCPU_H
#define KISEKI_DEVICE_VM_MODULE_COMPAT_ARM64_VCPU_H

#include <linux/kvm_host.h>

static inline bool compat_sysregs_on_cpu(struct kvm_vcpu *vcpu)
{
#ifdef SYSREGS_ON_CPU
	return vcpu_get_flag(vcpu, SYSREGS_ON_CPU);
#else
	return vcpu->arch.sysregs_loaded_on_cpu;
#endif
}

#endif
