/* SPDX-License-Identifier: MIT */
/*
 * event_page: a page of a run's events, forward or backward from anywhere in it, with the losses
 * where they belong.
 *
 * A place between events is a cursor: the time of an item, and how many items of the very same time
 * are before it, whatever the filter. Both directions decode from the key blocks before the page;
 * backward in windows that grow until the page is full. A filter that few events pass could make
 * either read all of a run, so after a number of items a page ends as it is, and says where to go
 * on.
 */
#ifndef KISEKI_COLLECTOR_EVENT_PAGE_H
#define KISEKI_COLLECTOR_EVENT_PAGE_H

#include "base/cleanup.h"
#include "base/error.h"
#include "store/store.h"
#include "trace/filter.h"

#define EVENT_PAGE_DEFAULT 500U
#define EVENT_PAGE_MAX 5000U
#define EVENT_CURSOR_MAX 48U

struct event_cursor {
	uint64_t ns;
	uint64_t ordinal;
};

/* "NS-ORDINAL". -EINVAL. */
int event_cursor_parse(const char *text, struct event_cursor *ret);
void event_cursor_format(const struct event_cursor *c, char ret[EVENT_CURSOR_MAX]);

struct event_query {
	struct store_run run;
	uint64_t from_ns, to_ns; /* from <= t < to */
	bool backward;
	bool has_cursor; /* forward: behind it; backward: before it */
	struct event_cursor cursor;
	uint32_t limit;
	struct trace_filter *filter;	      /* taken */
	bool (*is_over)(const void *context); /* may be NULL */
	const void *context;
};

/* The page as JSON (docs/api/README.md), to be freed. */
int event_page_make(struct store *s, struct event_query *q, char **ret, size_t *ret_len,
		    struct error *e);

#endif
