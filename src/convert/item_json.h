/* SPDX-License-Identifier: MIT */
/*
 * item_json: an item of a trace as one JSON object (docs/format/json.md): what the JSON exports and
 * the live view have in common.
 */
#ifndef KISEKI_CONVERT_ITEM_JSON_H
#define KISEKI_CONVERT_ITEM_JSON_H

#include "convert/fields.h"

/* Writes at p, where fields_room() bytes must be; no NUL and no line end; returns the place behind. */
char *item_put_json(char *p, const struct trace_item *item, const struct trace_info *info);

/* The same, of the fields from this one on. */
char *item_put_json_from(char *p, const struct trace_item *item, const struct trace_info *info,
			 enum field_id first);

#endif
