/* SPDX-License-Identifier: MIT */
/*
 * boot_load: how busy the CPUs of a boot were, piece by piece of time.
 *
 * Of an exact boot from what its processes ran; else from the proportions of the machine's own counters, which have
 * interrupts and processes in them that nobody saw.
 */
#ifndef KISEKI_ANALYSIS_BOOT_LOAD_H
#define KISEKI_ANALYSIS_BOOT_LOAD_H

#include "analysis/boot.h"

struct boot_load_piece {
	uint64_t from_ns, to_ns;
	uint64_t busy_ns; /* of all CPUs together */
};

struct boot_load {
	struct boot_load_piece *list; /* side by side, by time */
	size_t n;
	uint32_t cpus;
};

int boot_load_new(struct boot_load **ret, const struct boot *b);
void boot_load_free(struct boot_load *l);
DEFINE_CLEANUP(boot_load, boot_load_free)

/* Thousandths of all CPUs between two times. */
uint32_t boot_load_permille(const struct boot_load *l, uint64_t from_ns, uint64_t to_ns);

#endif
