/* SPDX-License-Identifier: MIT */
/*
 * func_merge: several function sources as one, on one axis of time.
 *
 * Where all of them count the same counter (func_clock_is_same: processes of one machine), ticks
 * stay as they are, and the pairs of all together say what a tick is. Else (one process could read
 * the counter and another could not, or they are of several machines) each tick becomes nanoseconds
 * of the axis, by the knots of its own source (func_clock.h), and the merged clock is of
 * nanoseconds. A source that knows no CLOCK_MONOTONIC, such as a kernel's trace with another clock,
 * is laid by the real time that it and the first source know; without that, by its own nanoseconds.
 */
#ifndef KISEKI_TRACE_FUNC_MERGE_H
#define KISEKI_TRACE_FUNC_MERGE_H

#include "trace/func_source.h"

enum func_axis {
	FUNC_AXIS_MONOTONIC = 0, /* sources of one machine since one boot */
	FUNC_AXIS_REALTIME = 1,	 /* of several: as good as their clocks were set */
};

/* Takes the n sources, also when it fails; the array stays the caller's. Processes and threads are
 * numbered in the order of the sources. */
int func_merge_new(struct func_source **sources, size_t n, enum func_axis axis,
		   struct func_source **ret, struct error *e);

#endif
