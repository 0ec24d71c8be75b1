/* SPDX-License-Identifier: MIT */
/*
 * bootchart_log: what stands in the logs of a bootchart (docs/format/bootchart.md).
 *
 * A log is a row of blocks: a line with the time in hundredths of a second, lines as the kernel gave them, an empty
 * line. Lines that are not what they should be are counted and left out; a block without a time is left out
 * with all its lines.
 */
#ifndef KISEKI_CONVERT_BOOTCHART_LOG_H
#define KISEKI_CONVERT_BOOTCHART_LOG_H

#include "convert/text_scan.h"

#define BOOTCHART_TIME_MAX UINT64_C(1000000000000) /* hundredths: some three hundred years */
#define BOOTCHART_TIME_NS UINT64_C(10000000)

struct bootchart_block {
	uint64_t time; /* in hundredths of a second */
	struct text_scan body;
	bool is_whole; /* it ends with an empty line, so that nothing of it is missing */
};

/* The next block. *bad is raised by lines that could not be read. */
bool bootchart_log_next(struct text_scan *log, struct bootchart_block *ret, uint64_t *bad);

/* The next line, without its end. */
bool bootchart_log_line(struct text_scan *s, struct text_span *ret);

/* A row of /proc/PID/stat, or of taskstats.log. */
struct bootchart_process {
	int32_t pid, parent;
	struct text_span name;
	char state; /* 0: not told */
	bool is_kernel;
	uint64_t user, system; /* hundredths of a second */
	uint64_t start;	       /* likewise */
	uint64_t faults, threads;
	uint64_t ran_ns, disk_ns, swap_ns; /* of taskstats */
};

bool bootchart_log_parse_stat(struct text_span line, struct bootchart_process *ret);
bool bootchart_log_parse_taskstats(struct text_span line, struct bootchart_process *ret);

/* Numbers separated by spaces: as many as there are, at most n. */
size_t bootchart_log_numbers(struct text_scan *s, uint64_t *ret, size_t n);

#endif
