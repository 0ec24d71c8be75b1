/* SPDX-License-Identifier: MIT */
/*
 * profile_reading: a profile that a command works through: opened wherever a person says it is, reduced to what was asked
 * for, with names and a progress bar.
 *
 *	a path           a .ksk file with samples
 *	a store's folder its latest profile, or the run of --run
 *	a number         that run of a collector (--server)
 *	any other word   a device of a collector: its latest profile
 */
#ifndef KISEKI_CLI_PROFILE_READING_H
#define KISEKI_CLI_PROFILE_READING_H

#include "analysis/profile_walk.h"
#include "cli/client.h"
#include "cli/progress.h"
#include "command/args.h"
#include "convert/input.h"
#include "store/store.h"
#include "trace/filter.h"

#define PROFILE_READING_FOLDERS_MAX 64U

/* For the tables of the commands: where it is, which time of it, and where names are; and which samples. */
#define PROFILE_READING_PLACE_OPTIONS                                                              \
	{ 0, "from", "TIME",                                                                       \
	  "only from this time on: seconds of the trace's clock (797.5), a number with a "         \
	  "unit (200ms), after a + counted from the profile's start",                              \
	  NULL },                                                                                  \
		{ 0, "to", "TIME", "only before this time", NULL },                                \
		{ 0, "run", "RUN", "of a store: this run instead of the latest profile", NULL },   \
		{ 0, "sysroot", "DIR", "where the device's files lie", NULL },                     \
		{ 0, "symbols", "DIR[:DIR]",                                                       \
		  "also look here for objects, and for build-ids below .build-id", NULL },         \
		{ 0, "kallsyms", "FILE",                                                           \
		  "names of the kernel's functions, where the profile has none", NULL },           \
		CLIENT_OPTION,                                                                     \
	{                                                                                          \
		0, "mangled", NULL, "leave C++ names as they are", NULL                            \
	}

#define PROFILE_READING_OPTIONS                                                                    \
	{ 'p', "process", "LIST", "only these processes: pids, or patterns of names", NULL },      \
		{ 't', "thread", "LIST", "only these threads: tids, or patterns of names", NULL }, \
		{ 0, "cpu", "LIST", "only these CPUs: 0,2-3", NULL },                              \
		{ 0, "mode", "LIST", "only samples there: user kernel guest idle",                 \
		  "user kernel guest idle" },                                                      \
		{ 0, "samples", NULL, "count samples, not the time they stand for", NULL },        \
		PROFILE_READING_PLACE_OPTIONS

struct profile_reading {
	const char *path;
	bool is_whole;	     /* set before it is opened: the command has the first options only, */
	bool wants_machines; /* and is of virtual machines */
	bool misused;	     /* it failed because of an option's argument */
	struct input *input; /* what came down a pipe */
	struct store *store;
	struct sample_source *source;
	struct symbols *symbols;
	struct profile_names *names;
	struct profile_tasks tasks;
	struct trace_filter filter;
	struct profile_select select;
	struct profile_walk walk; /* ready to be run */
	enum profile_value value; /* that shares are of */
	struct progress progress;
	char *folders_text;
	const char *folders[PROFILE_READING_FOLDERS_MAX + 1];
};

int profile_reading_open(struct profile_reading *r, const struct args *a, const char *path,
			 struct error *e);

/* To its start, for another walk. */
int profile_reading_rewind(struct profile_reading *r, struct error *e);

/* Wipes the bar, says the failure; the exit status. */
int profile_reading_failure(struct profile_reading *r, const struct error *e);

/* Says which objects had no names: the first ones, and how many more. */
void profile_reading_warn(struct profile_reading *r);
void profile_reading_close(struct profile_reading *r);

#define CLEANUP_PROFILE_READING __attribute__((cleanup(profile_reading_close)))

#endif
