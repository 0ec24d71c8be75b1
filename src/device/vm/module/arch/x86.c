/* SPDX-License-Identifier: GPL-2.0-only */
/* x86: see arch.h. A processor has AMD's or Intel's way, never both. */
#ifdef CONFIG_X86_64
#include <linux/kvm_host.h>
#include <linux/sched.h>

#include <asm/cpufeature.h>
#include <asm/unwind.h>

#include "device/vm/module/arch/x86.h"
#include "device/vm/module/compat/x86_vcpu.h"

enum sample_exits arch_exits(void)
{
	return boot_cpu_has(X86_FEATURE_SVM) ? SAMPLE_EXITS_SVM : SAMPLE_EXITS_VMX;
}

/* No register of a guest's kernel has its current task, but each task has a stack of its own, which lies at a multiple of its
 * size. An empty one has its pointer at its end. A program's pointer is that of a call of the kernel's first instructions. */
static void find_task(struct arch_guest *g)
{
	if (g->is_user || (s64)g->task >= 0)
		return;
	g->task = (g->task - 1) & ~(SAMPLE_GUEST_STACK - 1);
	g->known |= SAMPLE_GUEST_TASK;
}

/* A guest whose memory is encrypted keeps its registers to itself. */
void arch_read_guest(struct kvm_vcpu *vcpu, struct arch_guest *ret)
{
	if (compat_is_protected(vcpu))
		return;
	if (!(boot_cpu_has(X86_FEATURE_SVM) ? svm_read_guest(vcpu, ret) : vmx_read_guest(ret)))
		return;
	ret->known = SAMPLE_GUEST_PC | SAMPLE_GUEST_TABLE;
	find_task(ret);
}

/* AMD's block has the reason of an encrypted guest in the clear; Intel's instruction reads the
 * block of whichever other guest was the last one here. */
bool arch_read_exit(struct kvm_vcpu *vcpu, long told, struct arch_exit *ret)
{
	if (!boot_cpu_has(X86_FEATURE_SVM) && compat_is_protected(vcpu))
		return false;
	return boot_cpu_has(X86_FEATURE_SVM) ? svm_read_exit(vcpu, ret) : vmx_read_exit(ret);
}

u32 arch_walk(struct pt_regs *regs, u64 *ret, u32 most)
{
	struct unwind_state state;
	unsigned long address;
	u32 n = 0;

	for (unwind_start(&state, current, regs, NULL); n < most && !unwind_done(&state);
	     unwind_next_frame(&state)) {
		address = unwind_get_return_address(&state);
		if (!address)
			break;
		ret[n++] = address;
	}
	if (!n)
		ret[n++] = regs->ip;
	return n;
}
#endif
