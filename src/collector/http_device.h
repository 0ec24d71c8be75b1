/* SPDX-License-Identifier: MIT */
/*
 * http_device: devices and runs as handlers find and show them.
 *
 * A device is what the registry knows of it; of one that has not come since the collector started,
 * what the store remembers. Names come from devices and may be anything; nothing here uses them as
 * paths.
 */
#ifndef KISEKI_COLLECTOR_HTTP_DEVICE_H
#define KISEKI_COLLECTOR_HTTP_DEVICE_H

#include <jansson.h>

#include "collector/http_request.h"
#include "collector/registry.h"

#define ID_TEXT_LEN 33

const char *http_id_format(const struct message_id *id, char out[ID_TEXT_LEN]);

/* All that are known, sorted by name; free(*ret). */
int http_device_list(struct http *h, struct registry_row **ret, size_t *ret_n, struct error *e);

/* By name, or by its id or a start of it of at least six digits. -ENOENT, -ENOTUNIQ. */
int http_device_find(struct http *h, const char *name, struct registry_row *ret, struct error *e);

json_t *http_device_json(const struct registry_row *row);

/* Names of devices by their ids, for lists of runs. */
struct http_names {
	struct store *store;
	struct store_device *devices;
	size_t n;
};
int http_names_init(struct http_names *n, struct store *s, struct error *e);
void http_names_done(struct http_names *n);
const char *http_names_get(const struct http_names *n, const struct message_id *id);

json_t *http_run_json(const struct store_run *r, const struct http_names *names);
json_t *http_lost_json(const uint64_t lost[LOSS_CAUSES]); /* by the words of the causes */

/* "2026-11-15T05:00:00.123Z", or null for 0. */
json_t *http_time_json(uint64_t ns);

#endif
