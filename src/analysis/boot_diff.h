/* SPDX-License-Identifier: MIT */
/*
 * boot_diff: two boots, process by process.
 *
 * Processes are matched by what they are (program and arguments, numbers in them left out), by whose child
 * they are, and among equals in their order. A pair says what came later or took longer; what has no partner is
 * new or gone.
 */
#ifndef KISEKI_ANALYSIS_BOOT_DIFF_H
#define KISEKI_ANALYSIS_BOOT_DIFF_H

#include "analysis/boot.h"

struct boot_pair {
	uint32_t a, b; /* BOOT_NONE: new, or gone */
	int64_t start_ns,
		end_ns; /* later by, seen from the start of the chart; 0 where not both are known */
	int64_t length_ns, cpu_ns, disk_ns; /* longer by */
};

struct boot_diff {
	const struct boot *a, *b;
	struct boot_pair *pairs; /* by start in B; those that are gone by their start in A */
	size_t n_pairs;
	size_t n_new, n_gone;
	int64_t target_ns; /* the target came later by, or the end if either has none */
};

int boot_diff_new(struct boot_diff **ret, const struct boot *a, const struct boot *b);
void boot_diff_free(struct boot_diff *d);
DEFINE_CLEANUP(boot_diff, boot_diff_free)

#endif
