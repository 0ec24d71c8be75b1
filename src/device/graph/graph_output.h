/* SPDX-License-Identifier: MIT */
/*
 * graph_output: what was read as a trace.dat of version 6: formats, the kernel's symbols, names of tasks and
 * the pages. It appears whole or not at all.
 */
#ifndef KISEKI_DEVICE_GRAPH_GRAPH_OUTPUT_H
#define KISEKI_DEVICE_GRAPH_GRAPH_OUTPUT_H

#include "base/error.h"
#include "device/graph/graph_control.h"
#include "device/graph/graph_rings.h"

int graph_output_write(const char *path, const struct graph_control *c, struct graph_rings *r,
		       struct error *e);

#endif
