/* SPDX-License-Identifier: MIT */
/*
 * machine_stat: the files of /proc that are about the machine as a whole: stat, diskstats, meminfo,
 * pressure/NAME.
 *
 * Each file is gone through once, line by line; what a kernel does not have stays 0, what is new in it is
 * passed over.
 */
#ifndef KISEKI_DEVICE_BOOT_MACHINE_STAT_H
#define KISEKI_DEVICE_BOOT_MACHINE_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_TIMES 8U
#define DISK_NAME_LEN 32U
#define DISK_COUNTS 11U
#define MEMORY_AMOUNTS 9U

/* /proc/stat. */
struct machine_stat {
	uint64_t switches, forks;
	uint64_t running, blocked;
	uint64_t times
		[CPU_TIMES]; /* of all CPUs, in clock ticks, as enum boot_cpu_number has them */
	uint32_t cpus;	     /* rows there were */
};

struct machine_cpu {
	uint32_t number;
	uint64_t times[CPU_TIMES];
};

struct machine_cpus {
	void (*take)(void *context, const struct machine_cpu *cpu); /* for each row */
	void *context;
};

/* False if it has no line of all CPUs. */
bool machine_stat_parse(struct machine_stat *ret, const struct machine_cpus *each, const char *text,
			size_t len);

/* /proc/diskstats, row by row: *at is 0 at first. False at the end; rows that are none are passed over. */
struct disk_stat {
	uint32_t major, minor;
	char name[DISK_NAME_LEN]; /* terminated */
	uint64_t reads, read_sectors, writes, written_sectors;
	uint64_t in_flight, busy_ms, weighted_ms;
};

bool disk_stat_next(struct disk_stat *ret, const char *text, size_t len, size_t *at);

/* /proc/meminfo, as enum boot_memory_number has them. False if not even the total is there. */
struct memory_stat {
	uint64_t kib[MEMORY_AMOUNTS];
};

bool memory_stat_parse(struct memory_stat *ret, const char *text, size_t len);

/* /proc/pressure/NAME: ns for which some waited, and all. */
struct pressure_stat {
	uint64_t some_ns, full_ns;
};

bool pressure_stat_parse(struct pressure_stat *ret, const char *text, size_t len);

#endif
