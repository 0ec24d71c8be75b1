/* SPDX-License-Identifier: MIT */
/*
 * graph_file: a file of function_graph, read by a process of its own (func_child.h).
 */
#ifndef KISEKI_CONVERT_GRAPH_FILE_H
#define KISEKI_CONVERT_GRAPH_FILE_H

#include "convert/func_child.h"

/* Maps the file, lets the reader have it, and names the file where it fails. */
int graph_file_open(const char *path, func_child_fn open_bytes, struct func_source **ret,
		    struct error *e);

#endif
