/* SPDX-License-Identifier: MIT */
/*
 * filter_parse: the words of the command line (and of an HTTP query) as a filter.
 *
 *	--cpu 0-3,5               numbers and ranges
 *	--pid 1,2                 numbers
 *	--comm 'foo*,bar'         shell patterns; "\," is a comma in a name
 *	--event switch,waking     our kinds, or the kernel's names of them
 *	--from T, --to T          a time: seconds of the trace's own clock as ftrace prints them
 *	                          (1234.567890), or a number with a unit (1.5s 200ms 7us 123456789ns);
 *	                          a leading + counts from the begin of the trace
 *
 * Each may be given again and then adds to what is there, but for the times, where the last counts.
 * On failure they return -EINVAL (or -E2BIG, -ENOMEM), say why in one line, and leave the filter
 * usable.
 */
#ifndef KISEKI_TRACE_FILTER_PARSE_H
#define KISEKI_TRACE_FILTER_PARSE_H

#include "trace/filter.h"

int filter_parse_cpus(struct trace_filter *f, const char *text, struct error *e);
int filter_parse_pids(struct trace_filter *f, const char *text, struct error *e);
int filter_parse_comms(struct trace_filter *f, const char *text, struct error *e);
int filter_parse_kinds(struct trace_filter *f, const char *text, struct error *e);
int filter_parse_time(struct filter_time *ret, const char *text, struct error *e);

#endif
