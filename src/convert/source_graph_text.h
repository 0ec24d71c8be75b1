/* SPDX-License-Identifier: MIT */
/*
 * source_graph_text: function_graph text as a function source: the kernel's `trace` and `trace_pipe`
 * with any of its options, and `trace-cmd report` of such a recording.
 *
 * Without the option funcgraph-abstime the text has durations and no times. Then a CPU's time is the
 * sum of its durations, gaps between calls are missing, CPUs do not fit together, and `origin` says
 * so: "function_graph text, times from durations".
 */
#ifndef KISEKI_CONVERT_SOURCE_GRAPH_TEXT_H
#define KISEKI_CONVERT_SOURCE_GRAPH_TEXT_H

#include <stdbool.h>

#include "convert/import.h"
#include "trace/func_source.h"

/* Do these first bytes of a file look like it? */
bool graph_text_is(const uint8_t *head, size_t len);

int source_graph_text_open(const char *path, struct func_source **ret, struct error *e);

/* The bytes are not needed afterwards. */
int source_graph_text_open_bytes(struct import_bytes in, struct func_source **ret, struct error *e);

#endif
