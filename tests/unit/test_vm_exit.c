/* SPDX-License-Identifier: MIT */
/* The words for exits: what is the same on several processors has the same one, and what has none keeps its number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/vm_exit.h"

struct row {
	enum sample_exits exits;
	uint64_t reason, detail;
	const char *word;
};

/* By the processors' manuals. */
static const struct row rows[] = {
	{ SAMPLE_EXITS_ARM64, 0, 0, "interrupt" },
	{ SAMPLE_EXITS_ARM64, 256 + 0x01, 0x7e000000, "halt" },
	{ SAMPLE_EXITS_ARM64, 256 + 0x01, 0x7e000001, "yield" },
	{ SAMPLE_EXITS_ARM64, 256 + 0x24, 0, "data abort" },
	{ SAMPLE_EXITS_SVM, 0x60, 0, "interrupt" },
	{ SAMPLE_EXITS_SVM, 0x64, 0, "interrupt window" },
	{ SAMPLE_EXITS_SVM, 0x72, 0, "CPUID" },
	{ SAMPLE_EXITS_SVM, 0x78, 0, "halt" },
	{ SAMPLE_EXITS_SVM, 0x7b, 0, "I/O" },
	{ SAMPLE_EXITS_SVM, 0x7c, 1, "MSR" },
	{ SAMPLE_EXITS_SVM, 0x00, 0, "control register" },
	{ SAMPLE_EXITS_SVM, 0x1f, 0, "control register" },
	{ SAMPLE_EXITS_SVM, 0x20, 0, "debug register" },
	{ SAMPLE_EXITS_SVM, 0x3f, 0, "debug register" },
	{ SAMPLE_EXITS_SVM, 0x40, 0, "exit 0x40" },
	{ SAMPLE_EXITS_SVM, 0x65, 0, "control register" },
	{ SAMPLE_EXITS_SVM, 0x400, 0, "nested page fault" },
	{ SAMPLE_EXITS_SVM, 0xffffffff, 0, "exit 0xffffffff" },
	{ SAMPLE_EXITS_VMX, 1, 0, "interrupt" },
	{ SAMPLE_EXITS_VMX, 7, 0, "interrupt window" },
	{ SAMPLE_EXITS_VMX, 10, 0, "CPUID" },
	{ SAMPLE_EXITS_VMX, 12, 0, "halt" },
	{ SAMPLE_EXITS_VMX, 28, 0, "control register" },
	{ SAMPLE_EXITS_VMX, 30, 0, "I/O" },
	{ SAMPLE_EXITS_NONE, 12, 0, "exit 0xc" },
};

static void test_words(void **state)
{
	char got[VM_EXIT_NAME_LEN];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		vm_exit_format(got, rows[i].exits, rows[i].reason, rows[i].detail);
		assert_string_equal(got, rows[i].word);
		assert_int_equal(vm_exit_is_halt(rows[i].exits, rows[i].reason, rows[i].detail),
				 !strcmp(rows[i].word, "halt"));
		assert_int_equal(vm_exit_is_interrupt(rows[i].exits, rows[i].reason),
				 !strcmp(rows[i].word, "interrupt"));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_words) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
