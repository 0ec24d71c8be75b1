/* SPDX-License-Identifier: MIT */
/*
 * func_reading: calls that a command works through: opened, reduced to the threads that were asked for,
 * with names and a progress bar.
 */
#ifndef KISEKI_CLI_FUNC_READING_H
#define KISEKI_CLI_FUNC_READING_H

#include "analysis/call_walk.h"
#include "cli/func_place.h"
#include "cli/progress.h"
#include "command/args.h"
#include "convert/input.h"

#define FUNC_READING_FOLDERS_MAX 64U
#define FUNC_READING_SCHED                                                                         \
	"sched.ksk" /* in a folder of records: the scheduler's trace of that time */

/* For the tables of the commands. */
#define FUNC_READING_OPTIONS                                                                       \
	{ 'p', "process", "LIST", "only these processes: pids, or patterns of names", NULL },      \
		{ 't', "thread", "LIST", "only these threads: tids, or patterns of names", NULL }, \
		{ 0, "sched", "FILE",                                                              \
		  "a trace of the scheduler of the same time: splits local time", NULL },          \
		FUNC_PLACE_OPTIONS, { 0, "sysroot", "DIR", "where the device's files lie", NULL }, \
		{ 0, "symbols", "DIR[:DIR]",                                                       \
		  "also look here for objects, and for build-ids below .build-id", NULL },         \
		{ 0, "kallsyms", "FILE", "names of the kernel's functions", NULL },                \
	{                                                                                          \
		0, "mangled", NULL, "leave C++ names as they are", NULL                            \
	}

struct func_reading {
	const char *path;
	bool mangled; /* set before it is opened: names of C++ as they are, whatever the options say */
	struct func_place place; /* where it came from */
	struct func_source *source;
	struct input *sched; /* that the source reads, too; NULL: none */
	struct symbols *symbols;
	struct call_names *names;
	struct call_select select;
	struct call_walk walk; /* ready to be run */
	struct progress progress;
	char *folders_text;
	const char *folders[FUNC_READING_FOLDERS_MAX + 1];
};

int func_reading_open(struct func_reading *r, const struct args *a, const char *path,
		      struct error *e);

/* Wipes the bar, says the failure; the exit status. */
int func_reading_failure(struct func_reading *r, const struct error *e);

/* Says which objects had no names, once each. */
void func_reading_warn(struct func_reading *r);
void func_reading_close(struct func_reading *r);

/* A length of time of an option, 0 if it was not given. */
int func_reading_length(const struct args *a, const char *name, uint64_t *ret_ns, struct error *e);

#define CLEANUP_FUNC_READING __attribute__((cleanup(func_reading_close)))

#endif
