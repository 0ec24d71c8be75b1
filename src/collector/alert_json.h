/* SPDX-License-Identifier: MIT */
/*
 * alert_json: an alert as a document: for the API, and for the webhook.
 */
#ifndef KISEKI_COLLECTOR_ALERT_JSON_H
#define KISEKI_COLLECTOR_ALERT_JSON_H

#include <jansson.h>

#include "alert/alert_watch.h"

/* `device`: what the device is called. NULL: out of memory. */
json_t *alert_json(const struct alert *a, const char *device);

#endif
