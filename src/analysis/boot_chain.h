/* SPDX-License-Identifier: MIT */
/*
 * boot_chain: processes that ran one after the other, though nothing recorded says that they had to.
 *
 * A chain is of children of one parent, each of which started when the one before it had ended, not later than
 * BOOT_CHAIN_PAUSE_NS. Of each parent the longest chain is found, then the longest of what is left, and so on.
 */
#ifndef KISEKI_ANALYSIS_BOOT_CHAIN_H
#define KISEKI_ANALYSIS_BOOT_CHAIN_H

#include "analysis/boot.h"

#define BOOT_CHAIN_PAUSE_NS 50000000ULL
#define BOOT_CHAINS_MAX 1024U /* the longest ones */
#define BOOT_CHAINS_EACH 8U   /* of one parent */

struct boot_chain {
	uint32_t parent;
	uint32_t *members; /* by time */
	size_t n;
	uint64_t from_ns, to_ns;
	uint64_t sum_ns;	/* of their lives: */
	uint64_t longest_ns;	/* of which this one alone would be left, if all ran at once */
	uint32_t busy_permille; /* of all CPUs in that time: what is left could be used */
};

struct boot_chains {
	struct boot_chain *list; /* largest sum first */
	size_t n;
};

/* Chains of at least two that take at least min_ns, of what started before to_ns. */
int boot_chains_new(struct boot_chains **ret, const struct boot *b, uint64_t min_ns,
		    uint64_t to_ns);
void boot_chains_free(struct boot_chains *c);
DEFINE_CLEANUP(boot_chains, boot_chains_free)

#endif
