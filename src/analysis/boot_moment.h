/* SPDX-License-Identifier: MIT */
/*
 * boot_moment: a moment of a boot, as a person says it.
 *
 *	12.5  300ms  1m30s    a time of the chart's clock, which begins with the kernel
 *	+3s                   counted from the start of the chart
 *	nginx  'getty*'       when a process first had this name (a pattern)
 *	any other text        the first mark that has it
 */
#ifndef KISEKI_ANALYSIS_BOOT_MOMENT_H
#define KISEKI_ANALYSIS_BOOT_MOMENT_H

#include "analysis/boot.h"

struct boot_moment {
	uint64_t ns;
	uint32_t process; /* that it is about, or BOOT_NONE */
	const char *text; /* of the mark or the name; borrowed. NULL: it is a time */
};

/* -ENOENT: nothing of that kind is in the chart. */
int boot_moment_parse(const char *text, const struct boot *b, struct boot_moment *ret,
		      struct error *e);

/* What the boot was to reach: its target, else its end. */
struct boot_moment boot_moment_get_target(const struct boot *b);

#endif
