/* SPDX-License-Identifier: MIT */
/*
 * graph_settings: what to record of the kernel's functions, as the command line says it.
 */
#ifndef KISEKI_DEVICE_GRAPH_GRAPH_SETTINGS_H
#define KISEKI_DEVICE_GRAPH_GRAPH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "command/args.h"

#define GRAPH_BUFFER_KIB_MAX (1U << 20)

struct graph_settings {
	/* Lists of names with commas between them; NULL: not given. */
	const char *functions;	   /* with all they call: set_graph_function */
	const char *not_functions; /* without them: set_graph_notrace */
	const char *start, *stop;  /* one function each: recording is on from here, off from here */
	const char *pids;
	const char *cpus; /* "0,2-3" */
	const char *clock;
	const char *output;
	uint32_t depth;	     /* 0: any */
	uint32_t min_us;     /* 0: all calls */
	uint64_t calls_max;  /* 0: no limit */
	uint32_t buffer_kib; /* of each CPU */
	uint64_t time_ms;    /* 0: until the command ends, or a signal comes */
	bool all;	     /* all tasks, not only the command's */
	bool fork;	     /* with those that they start */
	bool irqs, sleep_time, graph_time;
	bool sched; /* switches and wakings, too */
	const char *const *command;
};

extern const struct cli_option graph_options[];

int graph_settings_load(struct graph_settings *s, const struct args *a, struct error *e);

#endif
