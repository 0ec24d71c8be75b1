/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86_svm: a guest's registers in AMD's control block.
 *
 * KVM's own struct around a virtual CPU is in no header; a pointer to the block is the first thing behind the part
 * that is (5.10 to today). So what is found there is believed only if it is the address of a page of memory and has the
 * instruction pointer that KVM keeps beside it.
 */
#ifdef CONFIG_X86_64
#include <linux/kvm_host.h>
#include <linux/mm.h>

#include <asm/svm.h>

#include "device/vm/module/arch/x86.h"

#define EXIT_INTERRUPT 0x60
#define USER_LEVEL 3

static const struct vmcb *block_of(struct kvm_vcpu *vcpu)
{
	const size_t at = ALIGN(sizeof(struct kvm_vcpu), sizeof(void *));
	const struct vmcb *b = READ_ONCE(*(const struct vmcb **)((char *)vcpu + at));

	if (!IS_ALIGNED((unsigned long)b, PAGE_SIZE) || !virt_addr_valid(b))
		return NULL;
	return b->save.rip == vcpu->arch.regs[VCPU_REGS_RIP] ? b : NULL;
}

bool svm_read_guest(struct kvm_vcpu *vcpu, struct arch_guest *ret)
{
	const struct vmcb *b = block_of(vcpu);

	if (!b)
		return false;
	ret->pc = b->save.rip;
	ret->table = b->save.cr3;
	ret->task = b->save.rsp;
	ret->is_user = b->save.cpl == USER_LEVEL;
	return true;
}

bool svm_read_exit(struct kvm_vcpu *vcpu, struct arch_exit *ret)
{
	const struct vmcb *b = block_of(vcpu);

	if (!b)
		return false;
	ret->reason = b->control.exit_code;
	ret->detail = b->control.exit_info_1;
	ret->is_interrupt = ret->reason == EXIT_INTERRUPT;
	return true;
}
#endif
