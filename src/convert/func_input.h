/* SPDX-License-Identifier: MIT */
/*
 * func_input: opens whatever holds calls, by what its first bytes are: the record of a process
 * (command.pid, or a folder of such records: all processes on one axis of time), a .ksk file with
 * function streams, or a folder with FUNC_INPUT_CALLS in it, the kernel's function_graph as text or as trace.dat.
 */
#ifndef KISEKI_CONVERT_FUNC_INPUT_H
#define KISEKI_CONVERT_FUNC_INPUT_H

#include "trace/func_source.h"

#define FUNC_INPUT_CALLS "calls.ksk" /* what `func run --split` puts into a folder */

/* 0, or a negative errno and e: "cannot read x: it holds no calls". Free with func_source_free. */
int func_input_open(const char *path, struct func_source **ret, struct error *e);

#endif
