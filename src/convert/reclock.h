/* SPDX-License-Identifier: MIT */
/*
 * reclock: a source, usually of nanoseconds, told in the ticks of a counter that ticks.h found.
 *
 * clock_event_ns() of every event is what it was; events off the counter's grid carry the rest in
 * tick_off_ns. Losses begin and end at the ticks of the same times; their 0, which means that no
 * event was before, stays 0. The wrapper's info is its own; its tasks and skipped are brought up to
 * date when the inner source ends.
 */
#ifndef KISEKI_CONVERT_RECLOCK_H
#define KISEKI_CONVERT_RECLOCK_H

#include "base/error.h"
#include "trace/source.h"

/* Takes inner, unless it fails. `clock` is one that ticks_find() gave for it. */
int reclock_source_new(struct trace_source **ret, struct trace_source *inner,
		       const struct trace_clock *clock, struct error *e);

#endif
