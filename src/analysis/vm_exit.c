/* SPDX-License-Identifier: MIT */
/* vm_exit: see vm_exit.h. */
#include "analysis/vm_exit.h"

#include <inttypes.h>
#include <stdio.h>

struct row {
	uint32_t reason;
	const char *word;
};

/* arm64: KVM's return code below 256, else 256 + class of the trap. */
#define TRAP 256U
#define TRAP_WFX (TRAP + 0x01)
#define WFX_IS_WFE 1U

static const struct row arm64_rows[] = {
	{ 0, "interrupt" },
	{ 1, "system error" },
	{ TRAP + 0x03, "CP15" },
	{ TRAP + 0x04, "CP15" },
	{ TRAP + 0x05, "CP14" },
	{ TRAP + 0x06, "CP14" },
	{ TRAP + 0x07, "FP access" },
	{ TRAP + 0x09, "pointer keys" },
	{ TRAP + 0x12, "hypercall" },
	{ TRAP + 0x13, "secure call" },
	{ TRAP + 0x16, "hypercall" },
	{ TRAP + 0x17, "secure call" },
	{ TRAP + 0x18, "register" },
	{ TRAP + 0x19, "SVE access" },
	{ TRAP + 0x1a, "ERET" },
	{ TRAP + 0x20, "instruction abort" },
	{ TRAP + 0x24, "data abort" },
	{ TRAP + 0x30, "breakpoint" },
	{ TRAP + 0x32, "step" },
	{ TRAP + 0x34, "watchpoint" },
	{ TRAP + 0x3c, "breakpoint" },
};

#define SVM_HLT 0x78U
#define SVM_INTR 0x60U
/* Below it a code for each register: reading one, writing one. */
#define SVM_CR_END 0x20U
#define SVM_DR_END 0x40U

static const struct row svm_rows[] = {
	{ 0x41, "debug" },
	{ 0x43, "breakpoint" },
	{ 0x46, "exception" },
	{ 0x47, "FP access" },
	{ 0x4d, "exception" },
	{ 0x4e, "page fault" },
	{ 0x51, "exception" },
	{ 0x52, "exception" },
	{ SVM_INTR, "interrupt" },
	{ 0x61, "NMI" },
	{ 0x62, "SMI" },
	{ 0x64, "interrupt window" },
	{ 0x65, "control register" },
	{ 0x66, "descriptor table" },
	{ 0x67, "descriptor table" },
	{ 0x68, "descriptor table" },
	{ 0x69, "descriptor table" },
	{ 0x6a, "descriptor table" },
	{ 0x6b, "descriptor table" },
	{ 0x6c, "descriptor table" },
	{ 0x6d, "descriptor table" },
	{ 0x6e, "TSC" },
	{ 0x6f, "PMC" },
	{ 0x72, "CPUID" },
	{ 0x73, "RSM" },
	{ 0x76, "INVD" },
	{ 0x77, "PAUSE" },
	{ SVM_HLT, "halt" },
	{ 0x79, "INVLPG" },
	{ 0x7a, "INVLPGA" },
	{ 0x7b, "I/O" },
	{ 0x7c, "MSR" },
	{ 0x7d, "task switch" },
	{ 0x7f, "shutdown" },
	{ 0x80, "VMRUN" },
	{ 0x81, "hypercall" },
	{ 0x87, "TSC" },
	{ 0x89, "WBINVD" },
	{ 0x8a, "MONITOR" },
	{ 0x8b, "MWAIT" },
	{ 0x8c, "MWAIT" },
	{ 0x8d, "XSETBV" },
	{ 0xa2, "INVPCID" },
	{ 0x400, "nested page fault" },
	{ 0x401, "interrupt controller" },
	{ 0x402, "interrupt controller" },
};

#define VMX_HLT 12U
#define VMX_INTERRUPT 1U

static const struct row vmx_rows[] = {
	{ 0, "exception" },
	{ VMX_INTERRUPT, "interrupt" },
	{ 2, "shutdown" },
	{ 7, "interrupt window" },
	{ 8, "NMI window" },
	{ 9, "task switch" },
	{ 10, "CPUID" },
	{ VMX_HLT, "halt" },
	{ 13, "INVD" },
	{ 14, "INVLPG" },
	{ 15, "PMC" },
	{ 16, "TSC" },
	{ 18, "hypercall" },
	{ 28, "control register" },
	{ 29, "debug register" },
	{ 30, "I/O" },
	{ 31, "RDMSR" },
	{ 32, "WRMSR" },
	{ 36, "MWAIT" },
	{ 39, "MONITOR" },
	{ 40, "PAUSE" },
	{ 43, "TPR" },
	{ 44, "interrupt controller" },
	{ 45, "end of interrupt" },
	{ 46, "descriptor table" },
	{ 47, "descriptor table" },
	{ 48, "EPT violation" },
	{ 49, "EPT misconfiguration" },
	{ 50, "INVEPT" },
	{ 51, "TSC" },
	{ 52, "preemption timer" },
	{ 54, "WBINVD" },
	{ 55, "XSETBV" },
	{ 56, "interrupt controller" },
	{ 57, "RDRAND" },
	{ 58, "INVPCID" },
	{ 62, "page log full" },
};

#define ROWS(a) a, sizeof(a) / sizeof((a)[0])

static const char *find(const struct row *rows, size_t n, uint64_t reason)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (rows[i].reason == reason)
			return rows[i].word;
	return NULL;
}

static const char *word_of(enum sample_exits exits, uint64_t reason, uint64_t detail)
{
	switch (exits) {
	case SAMPLE_EXITS_ARM64:
		if (reason == TRAP_WFX)
			return detail & WFX_IS_WFE ? "yield" : "halt";
		return find(ROWS(arm64_rows), reason);
	case SAMPLE_EXITS_SVM:
		if (reason < SVM_DR_END)
			return reason < SVM_CR_END ? "control register" : "debug register";
		return find(ROWS(svm_rows), reason);
	case SAMPLE_EXITS_VMX:
		return find(ROWS(vmx_rows), reason);
	case SAMPLE_EXITS_NONE:
		break;
	}
	return NULL;
}

void vm_exit_format(char out[VM_EXIT_NAME_LEN], enum sample_exits exits, uint64_t reason,
		    uint64_t detail)
{
	const char *word = word_of(exits, reason, detail);

	if (word)
		snprintf(out, VM_EXIT_NAME_LEN, "%s", word);
	else
		snprintf(out, VM_EXIT_NAME_LEN, "exit 0x%" PRIx64, reason);
}

bool vm_exit_is_halt(enum sample_exits exits, uint64_t reason, uint64_t detail)
{
	switch (exits) {
	case SAMPLE_EXITS_ARM64:
		return reason == TRAP_WFX && !(detail & WFX_IS_WFE);
	case SAMPLE_EXITS_SVM:
		return reason == SVM_HLT;
	case SAMPLE_EXITS_VMX:
		return reason == VMX_HLT;
	case SAMPLE_EXITS_NONE:
		break;
	}
	return false;
}

bool vm_exit_is_interrupt(enum sample_exits exits, uint64_t reason)
{
	switch (exits) {
	case SAMPLE_EXITS_ARM64:
		return reason == 0;
	case SAMPLE_EXITS_SVM:
		return reason == SVM_INTR;
	case SAMPLE_EXITS_VMX:
		return reason == VMX_INTERRUPT;
	case SAMPLE_EXITS_NONE:
		break;
	}
	return false;
}
