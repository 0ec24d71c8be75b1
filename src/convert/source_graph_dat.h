/* SPDX-License-Identifier: MIT */
/*
 * source_graph_dat: the calls in a trace.dat (version 6 or 7) as a function source.
 *
 * Read are funcgraph_entry and funcgraph_exit, also where tracing_thresh left only the exits; entries
 * with a return address; `function`, as calls that take no time, because it has no exits; and
 * sched_switch and sched_waking as OS records of threads that have calls. All instances of the file are
 * read together. Names are from the kallsyms in it.
 */
#ifndef KISEKI_CONVERT_SOURCE_GRAPH_DAT_H
#define KISEKI_CONVERT_SOURCE_GRAPH_DAT_H

#include <stdbool.h>

#include "convert/import.h"
#include "trace/func_source.h"

/* Is it a trace.dat? Whether it has calls is known only when it is opened: else -ENODATA. */
bool graph_dat_is(const uint8_t *head, size_t len);

int source_graph_dat_open(const char *path, struct func_source **ret, struct error *e);

/* The bytes are not needed afterwards. */
int source_graph_dat_open_bytes(struct import_bytes in, struct func_source **ret, struct error *e);

#endif
