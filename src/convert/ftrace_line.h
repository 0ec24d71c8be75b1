/* SPDX-License-Identifier: MIT */
/*
 * ftrace_line: one event as the line that the traced kernel's own `trace` file shows for it.
 *
 * The dialect of the trace decides the columns and the body. Used by the ftrace sink, and by
 * everything else that shows events to people. No printf: a line takes some tens of nanoseconds.
 */
#ifndef KISEKI_CONVERT_FTRACE_LINE_H
#define KISEKI_CONVERT_FTRACE_LINE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/info.h"
#include "trace/source.h"
#include "wire/sched_event.h"

/* No line is longer: a file name, two comms, the columns and the keywords, and some room to copy
 * fixed lengths into. */
#define FTRACE_LINE_MAX (SCHED_FILENAME_MAX + 513U)

#define FTRACE_COLUMN_CACHE 256U /* a power of two */

/* The task column of one pid, ready to copy, and what it was made from. */
struct ftrace_column {
	char text[48];
	char comm[SCHED_COMM_LEN];
	bool has_comm;
	int32_t pid;
	int32_t tgid;
	size_t index;	/* in info->tasks; SIZE_MAX: not there */
	size_t n_tasks; /* how many there were when it was not there */
	uint8_t len;	/* 0: an unused slot */
};

struct ftrace_line {
	const struct trace_info *info;
	uint32_t digits; /* decimals of the stamp: 6, or 9 for people who ask; 0: a bare counter */
	uint64_t second; /* the last one printed, and its text */
	char second_text[24];
	uint32_t second_len;
	char flags[256][4];
	struct ftrace_column columns[FTRACE_COLUMN_CACHE];
};

/* info must outlive l; its tasks may change between calls. */
void ftrace_line_init(struct ftrace_line *l, const struct trace_info *info);

/* Writes the event with its newline to buf, which has room for FTRACE_LINE_MAX bytes; returns the
 * length. Not terminated. The name of the task that ran is the item's if info->has_comm, else the
 * one in info->tasks. */
size_t ftrace_line_format(struct ftrace_line *l, const struct trace_item *item, char *buf);

/* The line the kernel prints before the first event after a loss; the same room. */
size_t ftrace_line_format_loss(uint32_t cpu, const struct trace_loss *loss, char *buf);

#endif
