/* SPDX-License-Identifier: MIT */
/*
 * http_boot: what requests about boots have in common: which boots they mean, and flags.
 */
#ifndef KISEKI_COLLECTOR_HTTP_BOOT_H
#define KISEKI_COLLECTOR_HTTP_BOOT_H

#include "analysis/boot_run.h"
#include "collector/http_request.h"

/* A parameter that is 0, 1 or not there. */
int http_boot_get_flag(struct http_request *q, const char *name, bool *ret, struct error *e);

/* The boot of with=RUN, for the caller to free; untouched if there is no such parameter. */
int http_boot_open_other(struct http_request *q, bool exact, struct boot **ret, struct error *e);

#endif
