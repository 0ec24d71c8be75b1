/* SPDX-License-Identifier: MIT */
/*
 * device_json: the collector's JSON about devices, as the commands use it; and which devices a
 * command line means.
 */
#ifndef KISEKI_CLI_DEVICE_JSON_H
#define KISEKI_CLI_DEVICE_JSON_H

#include <stdint.h>

#include "cli/client.h"

/* For who has a collector and no device yet. */
#define DEVICE_JSON_NONE_YET                                                                       \
	"No device has come yet. On each: kiseki-agent --collector HOST:7077 --start"

/* What a nested member is, by a path like "status.spool_used"; NULL, "" or 0 where it is not. */
const json_t *device_json_get(const json_t *object, const char *path);
const char *device_json_text(const json_t *object, const char *path);
uint64_t device_json_count(const json_t *object, const char *path);
uint64_t device_json_lost(const json_t *lost); /* the sum over all causes */

/* The array of all devices; the caller drops it. */
int device_json_list(struct client *c, json_t **ret, struct error *e);

/* Does this pattern (a name, a shell pattern, or an id or its start) mean this device? */
bool device_json_match(const json_t *device, const char *pattern);

/* The one device there is, or the one that traces; for commands that were given none. The text is
 * borrowed from the list. -ENOENT, -ENOTUNIQ. */
int device_json_only(const json_t *list, const char **ret_id, struct error *e);

#endif
