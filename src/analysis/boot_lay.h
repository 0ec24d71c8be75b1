/* SPDX-License-Identifier: MIT */
/*
 * boot_lay: lays what the scheduler's events say over one process of a boot. Private to boot_exact.c.
 *
 * Within the time that the trace covers, spans are those of the events; where these do not say more than that it was
 * not on a CPU, the samples say what it waited for. Outside of it samples stay as they are. A wait keeps the kernel
 * function that a sample in it has seen.
 */
#ifndef KISEKI_ANALYSIS_BOOT_LAY_H
#define KISEKI_ANALYSIS_BOOT_LAY_H

#include "analysis/boot_groups.h"
#include "analysis/boot_states.h"

struct boot_lay {
	struct boot *boot;
	const struct boot_tasks *tasks;
	const struct boot_groups *groups;
	uint64_t from_ns, to_ns;   /* that both the trace and the chart cover */
	struct boot_states states; /* of the process at hand */
	size_t n_spans;		   /* made so far, of all processes */
};

/* Makes the process exact: start, end, spans, CPU time. 0, -ENOMEM, -E2BIG. */
int boot_lay_process(struct boot_lay *l, uint32_t process);

/* Its names, with the times of the events. A program that it executed stands for its arguments where nobody has
 * read these. To be called after the above. 0 or -ENOMEM. */
int boot_lay_names(struct boot_lay *l, uint32_t process, const struct trace_info *info);

void boot_lay_done(struct boot_lay *l);

#endif
