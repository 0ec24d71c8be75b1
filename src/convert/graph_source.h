/* SPDX-License-Identifier: MIT */
/*
 * graph_source: finished calls of the kernel's function_graph as a source.
 *
 * One process, the kernel, whose functions are numbers of names; the threads are those that ran them.
 */
#ifndef KISEKI_CONVERT_GRAPH_SOURCE_H
#define KISEKI_CONVERT_GRAPH_SOURCE_H

#include "convert/graph_calls.h"
#include "trace/func_source.h"

struct graph_source_parts {
	struct graph_calls calls; /* finished */
	char **names;		  /* each and the list from malloc */
	size_t n_names;
	struct trace_clock clock;
	const char *origin;
};

/* Takes calls and names, also when it fails. -ENODATA and "holds no calls" when there are none. */
int graph_source_new(struct graph_source_parts *parts, struct func_source **ret, struct error *e);

#endif
