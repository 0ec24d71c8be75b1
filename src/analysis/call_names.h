/* SPDX-License-Identifier: MIT */
/*
 * call_names: which function an address of a process is, and what it is called.
 *
 * A function is the same in all processes that have its object, wherever they mapped it; so reports
 * over many processes add up what belongs together. It is numbered when it is first asked for, from 0. An
 * address means what the maps of its time say: a library that was unloaded and another one loaded in
 * its place are two objects. What has no name is object+0xoffset; what is in no mapping,
 * [unknown]+0xaddress. Both are numbered as functions are.
 */
#ifndef KISEKI_ANALYSIS_CALL_NAMES_H
#define KISEKI_ANALYSIS_CALL_NAMES_H

#include "analysis/functions.h"
#include "base/cleanup.h"
#include "base/error.h"
#include "trace/func_source.h"

#define CALL_ADDRESSES_MAX (1U << 23) /* of all processes */

struct call_names;

/* Source and symbols (NULL: only the source's own names) stay the caller's. */
int call_names_new(struct call_names **ret, const struct func_source *source,
		   struct symbols *symbols, struct error *e);
void call_names_free(struct call_names *n);
DEFINE_CLEANUP(call_names, call_names_free)

/* `generation`: of the process's maps at that time. -E2BIG, -ENOMEM. */
int call_names_find(struct call_names *n, uint32_t process, uint32_t generation, uint64_t address,
		    uint32_t *ret_function);

size_t call_names_count(const struct call_names *n);
const struct function *call_names_get(const struct call_names *n, uint32_t function);

/* Does the name fit a pattern as shells have them? NULL fits all. */
bool call_names_fits(const struct call_names *n, uint32_t function, const char *pattern);

/* Where it is in the source: 1 known, 0 not. */
int call_names_line(struct call_names *n, uint32_t function, const char **ret_file,
		    uint32_t *ret_line);

#endif
