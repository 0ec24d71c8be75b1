/* SPDX-License-Identifier: MIT */
/*
 * boot_idle: stretches of a boot in which the CPUs had little to do, and what everybody waited for.
 */
#ifndef KISEKI_ANALYSIS_BOOT_IDLE_H
#define KISEKI_ANALYSIS_BOOT_IDLE_H

#include "analysis/boot.h"

struct boot_waiter {
	uint32_t process;
	uint8_t state;
	uint64_t waited_ns; /* in the gap */
	uint32_t whom;	    /* who ended it, as in a span */
	uint32_t where;	    /* as in a span */
};

struct boot_idle {
	uint64_t from_ns, to_ns;
	uint32_t busy_permille;	     /* of all CPUs */
	bool is_disk;		     /* a disk was busy for more than half of it */
	uint32_t ended_by;	     /* process that ran first behind it, or BOOT_NONE */
	struct boot_waiter *waiters; /* those that were not to sleep on after it, longest first */
	size_t n_waiters;
};

struct boot_idles {
	struct boot_idle *list; /* longest first */
	size_t n;
};

/* Stretches of at least min_ns in which the CPUs were busy for less than a twentieth. */
int boot_idles_new(struct boot_idles **ret, const struct boot *b, uint64_t min_ns);

/* The same as if the chart had ended at to_ns. */
int boot_idles_new_until(struct boot_idles **ret, const struct boot *b, uint64_t min_ns,
			 uint64_t to_ns);
void boot_idles_free(struct boot_idles *i);
DEFINE_CLEANUP(boot_idles, boot_idles_free)

#endif
