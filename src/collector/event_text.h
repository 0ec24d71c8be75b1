/* SPDX-License-Identifier: MIT */
/*
 * event_text: an item of a trace as the JSON object that a list of events shows (docs/api/README.md),
 * and who ran when it happened.
 */
#ifndef KISEKI_COLLECTOR_EVENT_TEXT_H
#define KISEKI_COLLECTOR_EVENT_TEXT_H

#include <stdio.h>

#include "trace/source.h"

/* The names of those who run: an event has the number only. info must outlive it; NULL: out of
 * memory. */
struct event_names;
struct event_names *event_names_new(const struct trace_info *info);
void event_names_free(struct event_names *n);
void event_names_note(struct event_names *n, const struct trace_item *item);
/* Of the item that was noted last; empty if it is not known. SCHED_COMM_LEN bytes. */
const char *event_names_get(const struct event_names *n, const struct trace_item *item);

struct event_text;
struct event_text *event_text_new(const struct trace_info *info);
void event_text_free(struct event_text *t);
void event_text_put(struct event_text *t, const struct trace_item *item,
		    const char comm[SCHED_COMM_LEN], FILE *out);
/* Whether there was memory for all that was put. */
bool event_text_is_whole(const struct event_text *t);

#endif
