/* SPDX-License-Identifier: MIT */
/*
 * pidmap: one record per pid, for whoever follows the tasks of a trace.
 *
 * Records have the size given at the start, begin with their int32_t pid, are zero when new and
 * never move, so pointers to them stay good. There are at most TRACE_TASKS_MAX.
 */
#ifndef KISEKI_TRACE_PIDMAP_H
#define KISEKI_TRACE_PIDMAP_H

#include <stddef.h>
#include <stdint.h>

struct pidmap;

struct pidmap *pidmap_new(size_t record_size); /* NULL: out of memory */
void pidmap_free(struct pidmap *m);

void *pidmap_get(const struct pidmap *m, int32_t pid); /* NULL: not there */

/* The record of this pid, made if it was not there. NULL: out of memory, or the table is full. */
void *pidmap_add(struct pidmap *m, int32_t pid);
int pidmap_why(const struct pidmap *m); /* then: -ENOMEM or -E2BIG */

/* In the order in which they were added. */
size_t pidmap_count(const struct pidmap *m);
void *pidmap_at(const struct pidmap *m, size_t i);

#endif
