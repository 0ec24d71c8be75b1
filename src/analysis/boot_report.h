/* SPDX-License-Identifier: MIT */
/*
 * boot_report: why a boot took as long as it did (`kiseki boot report`).
 *
 * Everything is up to one moment: the target, another that was asked for, or the end of the chart. The recorder itself
 * is in the sums of the machine, and in no list.
 */
#ifndef KISEKI_ANALYSIS_BOOT_REPORT_H
#define KISEKI_ANALYSIS_BOOT_REPORT_H

#include "analysis/boot.h"
#include "analysis/boot_chain.h"
#include "analysis/boot_idle.h"
#include "analysis/boot_moment.h"

/* A chart that begins later than this after the kernel is not one of a boot. */
#define BOOT_REPORT_YOUNG_NS 600000000000ULL
/* Less CPU time than a hundredth of its life, its children's included, and sleep for all but a tenth of it, is only
 * waiting. */
#define BOOT_REPORT_WAITS 100U
#define BOOT_REPORT_AWAKE 10U

struct boot_report_options {
	uint64_t min_ns; /* shorter waits, stretches, chains and costs are left out */
	bool kernel;	 /* kernel threads, too */
};

/* A process and what it cost. */
struct boot_cost {
	uint32_t process;
	uint64_t ns;
	uint64_t life_ns; /* up to the moment */
};

struct boot_costs {
	struct boot_cost *list; /* most first */
	size_t n;
};

struct boot_report {
	const struct boot *boot;
	struct boot_moment to;
	bool is_target; /* it is what the recorder waited for, or what was asked for; else the end */
	bool is_boot;	/* the chart begins soon after the kernel */
	uint64_t user_ns; /* when user space began; 0: not known */
	size_t processes; /* there were, without kernel threads */
	size_t kernel_threads;
	size_t between; /* of the processes: nobody looked at them while they lived */
	/* Of all CPUs, of all disks. */
	uint64_t user_cpu_ns, system_ns, irq_ns, iowait_ns, idle_ns, steal_ns;
	uint64_t read_bytes, written_bytes;
	struct boot_costs cpu;	   /* CPU time */
	struct boot_costs disk;	   /* waits for the disk */
	struct boot_costs waiting; /* life of those that only waited, and ended */
	struct boot_idles *idles;
	struct boot_chains *chains;
};

/* The boot is borrowed. `to`: NULL for the target. */
int boot_report_new(struct boot_report **ret, const struct boot *b, const struct boot_moment *to,
		    const struct boot_report_options *o);
void boot_report_free(struct boot_report *r);
DEFINE_CLEANUP(boot_report, boot_report_free)

#endif
