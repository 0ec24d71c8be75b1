/* SPDX-License-Identifier: MIT */
/*
 * graph_file: a file's bytes for the readers of function_graph, which need them only while they open.
 */
#ifndef KISEKI_CONVERT_GRAPH_FILE_H
#define KISEKI_CONVERT_GRAPH_FILE_H

#include "convert/import.h"
#include "trace/func_source.h"

typedef int (*graph_file_fn)(struct import_bytes in, struct func_source **ret, struct error *e);

/* Maps the file, lets the reader have it, and names the file where it fails. */
int graph_file_open(const char *path, graph_file_fn open_bytes, struct func_source **ret,
		    struct error *e);

#endif
