/* SPDX-License-Identifier: MIT */
/*
 * func_child: a source of calls whose reader is a process of its own, in a sandbox (child_process.h). For readers of
 * whole files, with the kernel as their one process, whose functions are names.
 */
#ifndef KISEKI_CONVERT_FUNC_CHILD_H
#define KISEKI_CONVERT_FUNC_CHILD_H

#include "convert/child_process.h"
#include "convert/import.h"
#include "trace/func_source.h"

typedef int (*func_child_fn)(struct import_bytes in, struct func_source **ret, struct error *e);

/* Takes the bytes, which are mapped. The reader's errors do not name the file, nor do these. */
int func_child_open(struct func_source **ret, func_child_fn open, struct import_bytes mapped,
		    struct error *e);

#endif
