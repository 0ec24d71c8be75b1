/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * arm64: see arch.h.
 *
 * With VHE the host runs at EL2, and the guest's own registers of EL1 stay in the CPU while its thread does; their
 * names there are those with EL12. The copy in memory is as old as the last time the thread left the CPU, and
 * must not be used. Without VHE every exit writes them to memory.
 */
#ifdef CONFIG_ARM64
#include <linux/kvm_host.h>
#include <linux/sched/task_stack.h>

#include <asm/kvm_asm.h>
#include <asm/kvm_emulate.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>
#include <asm/virt.h>

#include "device/vm/module/arch/arch.h"
#include "device/vm/module/compat/arm64_vcpu.h"

#define TTBR0_EL12 sys_reg(3, 5, 2, 0, 0)
#define CONTEXTIDR_EL12 sys_reg(3, 5, 13, 0, 1)
#define REASON_TRAP 256

enum sample_exits arch_exits(void)
{
	return SAMPLE_EXITS_ARM64;
}

static void read_tables(struct kvm_vcpu *vcpu, struct arch_guest *ret)
{
	if (!is_kernel_in_hyp_mode()) {
		ret->table = ctxt_sys_reg(&vcpu->arch.ctxt, TTBR0_EL1);
		ret->context = ctxt_sys_reg(&vcpu->arch.ctxt, CONTEXTIDR_EL1);
	} else if (compat_sysregs_on_cpu(vcpu)) {
		ret->table = read_sysreg_s(TTBR0_EL12);
		ret->context = read_sysreg_s(CONTEXTIDR_EL12);
	} else {
		return;
	}
	ret->known |= SAMPLE_GUEST_TABLE | SAMPLE_GUEST_CONTEXT;
}

void arch_read_guest(struct kvm_vcpu *vcpu, struct arch_guest *ret)
{
	const struct user_pt_regs *regs = &vcpu->arch.ctxt.regs;

	ret->pc = regs->pc;
	ret->is_user = (regs->pstate & PSR_MODE_MASK) == PSR_MODE_EL0t ||
		       (regs->pstate & (PSR_MODE32_BIT | PSR_AA32_MODE_MASK)) ==
			       (PSR_MODE32_BIT | PSR_AA32_MODE_USR);
	ret->known = SAMPLE_GUEST_PC;
	/* The stack pointer of EL0 is the program's there; in the kernel it is the address of its current task. */
	ret->task = regs->sp;
	if (!ret->is_user)
		ret->known |= SAMPLE_GUEST_TASK;
	read_tables(vcpu, ret);
}

/* An interrupt leaves the syndrome register as the last trap had it. */
bool arch_read_exit(struct kvm_vcpu *vcpu, long told, struct arch_exit *ret)
{
	u64 esr;

	ret->is_interrupt = ARM_EXCEPTION_CODE(told) == ARM_EXCEPTION_IRQ;
	if (ARM_EXCEPTION_CODE(told) != ARM_EXCEPTION_TRAP) {
		ret->reason = ARM_EXCEPTION_CODE(told);
		return true;
	}
	esr = vcpu->arch.fault.esr_el2;
	ret->reason = REASON_TRAP + ESR_ELx_EC(esr);
	ret->detail = esr;
	return true;
}

/* A signed return address has other bits at its top, where a kernel's are all ones. */
static u64 address_of(u64 signed_address)
{
	return signed_address | GENMASK_ULL(63, VA_BITS_MIN);
}

/* By the frames' own chain, on the task's stack only: frames on an interrupt's stack end it. Each frame lies above
 * the one before, so it ends. */
u32 arch_walk(struct pt_regs *regs, u64 *ret, u32 most)
{
	unsigned long low = (unsigned long)task_stack_page(current), high = low + THREAD_SIZE;
	unsigned long at = regs->regs[29];
	u32 n = 0;

	ret[n++] = regs->pc;
	while (n < most && at >= low && at <= high - 16 && !(at & 7)) {
		const unsigned long *frame = (const unsigned long *)at;

		if (!frame[1])
			break;
		ret[n++] = address_of(frame[1]);
		low = at + 16;
		at = frame[0];
	}
	return n;
}
#endif
