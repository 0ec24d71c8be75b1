/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kvm_events: with which arguments KVM's tracepoints call their probes.
 *
 *	kvm_entry	arm64	pc
 *			x86	vcpu				up to 6.8
 *				vcpu, force_immediate_exit	6.9
 *	kvm_exit	arm64	ret, class of the exception, pc
 *			x86	reason, vcpu, isa		up to 5.15
 *				vcpu, isa			5.16
 *
 * Those two are declared in headers of KVM's own, which nobody else has, so here the version decides; of all their
 * arguments only arm64's `ret` is used. The other two are the same everywhere, and are checked.
 */
#ifndef KISEKI_DEVICE_VM_MODULE_COMPAT_KVM_EVENTS_H
#define KISEKI_DEVICE_VM_MODULE_COMPAT_KVM_EVENTS_H

#include <linux/kvm_host.h>
#include <linux/version.h>
#include <trace/events/kvm.h>

#include "device/driver/compat/signature.h"

static_assert(COMPAT_CALLS(kvm_userspace_exit, __u32, int));
static_assert(COMPAT_CALLS(kvm_vcpu_wakeup, __u64, bool, bool));

#ifdef CONFIG_ARM64
#define COMPAT_KVM_ENTRY(name) static void name(void *data, unsigned long pc)
#define COMPAT_KVM_EXIT(name)                                                                      \
	static void name(void *data, int ret, unsigned int class, unsigned long pc)
#define COMPAT_KVM_EXIT_TOLD ret
#else
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#define COMPAT_KVM_ENTRY(name) static void name(void *data, struct kvm_vcpu *vcpu, bool force)
#else
#define COMPAT_KVM_ENTRY(name) static void name(void *data, struct kvm_vcpu *vcpu)
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 16, 0)
#define COMPAT_KVM_EXIT(name) static void name(void *data, struct kvm_vcpu *vcpu, u32 isa)
#else
#define COMPAT_KVM_EXIT(name)                                                                      \
	static void name(void *data, unsigned int reason, struct kvm_vcpu *vcpu, u32 isa)
#endif
#define COMPAT_KVM_EXIT_TOLD 0
#endif

#endif
