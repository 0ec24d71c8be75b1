/* SPDX-License-Identifier: MIT */
/*
 * boot_path: the critical path to a moment: what had to happen, one thing after the other.
 *
 * Walked backwards from the end: what a process did; and where it waited, what the one did that
 * ended the wait, from before it did so. Of an exact chart that is who woke it; of a sampled one the
 * child that it waited for (which ended in that time), else its parent up to its start. A wait that nobody is
 * known to have ended, or that an interrupt has, stays a step of its own: for the disk, for a timer, or not known. Where
 * the trace does not tell wakeups by interrupts from others (tells_interrupts), each step to who ended a wait is inferred.
 */
#ifndef KISEKI_ANALYSIS_BOOT_PATH_H
#define KISEKI_ANALYSIS_BOOT_PATH_H

#include "analysis/boot.h"

struct boot_step {
	uint64_t from_ns, to_ns;
	uint32_t process;
	uint8_t state; /* what it did for most of the step */
	uint64_t state_ns[BOOT_STATES];
	bool is_inferred; /* nothing recorded says that the next step needed this one */
};

struct boot_path {
	struct boot_step *steps; /* in order of time */
	size_t n_steps;
	uint64_t to_ns;
};

/* process BOOT_NONE: whoever the moment is about (target's process, else who ran last before it). */
int boot_path_new(struct boot_path **ret, const struct boot *b, uint32_t process, uint64_t ns);
void boot_path_free(struct boot_path *p);
DEFINE_CLEANUP(boot_path, boot_path_free)

#endif
