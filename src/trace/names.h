/* SPDX-License-Identifier: MIT */
/*
 * names: a source whose items say what the task that ran was called (trace_item.comm).
 *
 * The kernel's events carry the pid of the task that ran, but not its name. The name is learned from
 * all events that name that pid, before and after, by life (trace/tasks.h), and from the trace's table
 * for pids that no event names. So the inner source is read twice: once for the names. Where it
 * cannot be, because it is a pipe, a name is what has been heard until then, this event included,
 * else what the table knows by then.
 *
 * Names beyond NAMES_MAX are not learned. An idle task is "swapper/CPU", or "swapper" where the
 * kernel calls it so.
 */
#ifndef KISEKI_TRACE_NAMES_H
#define KISEKI_TRACE_NAMES_H

#include <stdatomic.h>

#include "trace/source.h"

#define NAMES_MAX (1U << 20) /* of one trace: some 60 MB */

/* Takes the inner source; on failure it stays the caller's. The names are learned at the first next(),
 * which breaks off with -ECANCELED when *stop becomes true; stop may be NULL. */
int names_source_new(struct trace_source **ret, struct trace_source *inner, const atomic_bool *stop,
		     struct error *e);

#endif
