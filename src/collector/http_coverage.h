/* SPDX-License-Identifier: MIT */
/* http_coverage: which part of the time nobody recorded although somebody should have, as JSON; of a run, and of devices. */
#ifndef KISEKI_COLLECTOR_HTTP_COVERAGE_H
#define KISEKI_COLLECTOR_HTTP_COVERAGE_H

#include <jansson.h>

#include "collector/http_request.h"
#include "trace/coverage.h"

#define HTTP_COVERAGE_DEVICES_MAX                                                                  \
	100U /* that are looked at for one answer: all their descriptions are read */

json_t *http_coverage_json(const struct coverage *c);

/* Of devices that have a profile, those first that sent last; and of these together. -ENOMEM, or what the store says. */
int http_coverage_devices(struct http *h, size_t most, json_t **ret, struct error *e);

#endif
