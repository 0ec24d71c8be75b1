/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86_vmx: a guest's registers in Intel's control structure, which only VMREAD reads, and only that of the virtual
 * CPU whose thread is on this CPU. The instruction exists while VMX is on, and says itself when there is no
 * structure to read.
 */
#ifdef CONFIG_X86_64
#include <linux/kvm_host.h>

#include <asm/processor-flags.h>
#include <asm/vmx.h>

#include "device/vm/module/arch/x86.h"

#define USER_LEVEL 3
#define LEVEL_SHIFT 5 /* in the access rights of the stack's segment */
#define EXIT_INTERRUPT 1
#define REASON_MASK 0xffff

static bool read_field(unsigned long field, u64 *ret)
{
	unsigned long value;
	bool ok;

	asm volatile("vmread %2, %1" : "=@cca"(ok), "=r"(value) : "r"(field) : "cc");
	*ret = ok ? value : 0;
	return ok;
}

/* cr4 as this CPU has it: KVM turns VMX on by it. */
static bool is_on(void)
{
	unsigned long cr4;

	asm volatile("mov %%cr4, %0" : "=r"(cr4));
	return cr4 & X86_CR4_VMXE;
}

bool vmx_read_guest(struct arch_guest *ret)
{
	u64 rights;

	if (!is_on() || !read_field(GUEST_RIP, &ret->pc) || !read_field(GUEST_CR3, &ret->table) ||
	    !read_field(GUEST_RSP, &ret->task) || !read_field(GUEST_SS_AR_BYTES, &rights))
		return false;
	ret->is_user = (rights >> LEVEL_SHIFT & USER_LEVEL) == USER_LEVEL;
	return true;
}

bool vmx_read_exit(struct arch_exit *ret)
{
	if (!is_on() || !read_field(VM_EXIT_REASON, &ret->reason) ||
	    !read_field(EXIT_QUALIFICATION, &ret->detail))
		return false;
	ret->reason &= REASON_MASK;
	ret->is_interrupt = ret->reason == EXIT_INTERRUPT;
	return true;
}
#endif
