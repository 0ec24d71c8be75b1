/* SPDX-License-Identifier: MIT */
/*
 * live_item: an item of a trace from the JSON object that the collector's live view sends for it
 * (docs/format/json.md, section 2): the way back of convert/item_json.h.
 *
 * The clock is that of the object's "ns", so ticks are nanoseconds here and tick_off_ns is 0. What
 * the device's kernel does not have (group_dead, success) is told by its absence.
 */
#ifndef KISEKI_CLI_LIVE_ITEM_H
#define KISEKI_CLI_LIVE_ITEM_H

#include <jansson.h>

#include "base/error.h"
#include "trace/source.h"

struct live_item {
	struct trace_item item;
	char filename[SCHED_FILENAME_MAX]; /* item.event.filename points here */
	bool has_group_dead, has_success, has_flags;
};

/* 0; 1 for an object that is no item; -EBADMSG with the reason. */
int live_item_parse(struct live_item *ret, const json_t *object, struct error *e);

#endif
