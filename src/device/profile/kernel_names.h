/* SPDX-License-Identifier: MIT */
/*
 * kernel_names: names of the kernel's functions in which samples were, from /proc/kallsyms of the machine that was
 * sampled, where alone they are right.
 *
 * Addresses that were seen are kept in a table of fixed size; when it is full, or at the end, the kernel's list is gone
 * through, once. Of it only the names are kept that may be needed, until it ends. So a machine
 * with a hundred thousand symbols costs no more memory than one with a thousand. Where the kernel hides
 * its addresses there are no names.
 *
 * To write that list takes a slow kernel a second. So somebody who reads along can have it that a function is named once
 * (told_functions.h): then the list is gone through only for addresses in functions that are new.
 *
 * The same list says which functions a CPU waits for work in.
 */
#ifndef KISEKI_DEVICE_PROFILE_KERNEL_NAMES_H
#define KISEKI_DEVICE_PROFILE_KERNEL_NAMES_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/profile/profile_meta.h"

#define KERNEL_NAMES_SEEN 16384U /* places for addresses, a power of two; three quarters are used */
#define KERNEL_NAMES_IDLE 64U	 /* functions to wait in */
#define KERNEL_NAMES_SIZE_MOST                                                                     \
	(1U << 20) /* bytes of a function: behind the last there may be a gap */

struct kernel_names;

/* `path` is the list, borrowed. */
int kernel_names_new(struct kernel_names **ret, const char *path, struct error *e);
void kernel_names_free(struct kernel_names *k);
DEFINE_CLEANUP(kernel_names, kernel_names_free)

/* Learns where the functions are in which a CPU has nothing to do. */
void kernel_names_learn_idle(struct kernel_names *k);

/* True if that is not known, too. */
bool kernel_names_is_idle(const struct kernel_names *k, uint64_t address);

/* From now on a function that was put is not put again, unless modules came or went: `modules` is /proc/modules, borrowed. */
void kernel_names_keep_told(struct kernel_names *k, const char *modules);

/* What was put is lost: it is put again when it is seen. */
void kernel_names_forget_told(struct kernel_names *k);

/* A sample was there. True: the table is full, and is to be put. */
bool kernel_names_push(struct kernel_names *k, uint64_t address);

/* Puts a row for each function that was seen since the last time. */
void kernel_names_put(struct kernel_names *k, struct profile_meta *m);

/* The same where somebody reads along: soon after the start, then at times twice as far apart, up to some minutes. */
void kernel_names_put_due(struct kernel_names *k, struct profile_meta *m, uint64_t now_ms);

#endif
