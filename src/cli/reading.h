/* SPDX-License-Identifier: MIT */
/*
 * reading: a trace that a command works through: opened, reduced to what was asked for, with a
 * progress bar.
 */
#ifndef KISEKI_CLI_READING_H
#define KISEKI_CLI_READING_H

#include "cli/progress.h"
#include "command/args.h"
#include "convert/input.h"
#include "trace/filter.h"

/* For the tables of commands that select by time, by time and task, and by everything. */
#define READING_TIME_OPTIONS                                                                       \
	{ 0, "from", "TIME",                                                                       \
	  "only from this time on: seconds of the trace's clock (797.5), a number "                \
	  "with a unit (200ms), after a + counted from the trace's start",                         \
	  NULL },                                                                                  \
	{                                                                                          \
		0, "to", "TIME", "only before this time", NULL                                     \
	}

/* Of commands that show times of a file, or write them. */
#define READING_CLOCK_OPTION                                                                       \
	{                                                                                          \
		0, "clock-hz", "N",                                                                \
			"ticks in a second of a clock that counts ticks of unknown length, as "    \
			"x86-tsc: 2.5G",                                                           \
			NULL                                                                       \
	}

#define READING_TASK_OPTIONS                                                                       \
	READING_TIME_OPTIONS,                                                                      \
		{ 0, "pid", "LIST", "only these tasks; 123@797.5: who had the pid then", NULL },   \
	{                                                                                          \
		0, "comm", "GLOB", "only tasks with such names", NULL                              \
	}

#define READING_EVENT_OPTIONS                                                                      \
	READING_TIME_OPTIONS, { 0, "cpu", "LIST", "only these CPUs: 0,2-3", NULL },                \
		{ 0, "pid", "LIST", "only events of these tasks; 123@797.5: who had it then",      \
		  NULL },                                                                          \
		{ 0, "comm", "GLOB", "only events of tasks with such names", NULL },               \
	{                                                                                          \
		0, "event", "LIST",                                                                \
			"only these: switch waking wakeup wakeup_new fork exec exit rename "       \
			"setprio",                                                                 \
			"switch waking wakeup wakeup_new fork exec exit rename setprio"            \
	}

struct reading {
	const char *path;
	struct input *input;
	struct trace_source *source;
	struct trace_filter tasks; /* which tasks to report on */
	struct progress progress;
	bool misused; /* it failed because of an option's argument */
	bool is_part; /* only some of its time or events was asked for */
	bool has_items;
};

/* Opens the path; leaves out the items that the options above do not select. */
int reading_open(struct reading *r, const struct args *a, const char *path, struct error *e);

/* The same for a report. It needs the events of all tasks, since what one does follows from what the
 * others do; so --pid and --comm leave out nothing and become r->tasks. */
int reading_open_report(struct reading *r, const struct args *a, const char *path, struct error *e);
int reading_next(struct reading *r, struct trace_item *item, struct error *e); /* as sources do */

/* After the last item: -ENODATA if all of the trace was read and it holds no event of the scheduler. */
int reading_expect_items(const struct reading *r, struct error *e);
/* Wipes the bar, says the failure; the exit status. */
int reading_failure(struct reading *r, const struct error *e);
void reading_close(struct reading *r);

#define CLEANUP_READING __attribute__((cleanup(reading_close)))

#endif
