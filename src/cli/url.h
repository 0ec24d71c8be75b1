/* SPDX-License-Identifier: MIT */
/*
 * url: paths of the collector's API, put together so that a device's name can have any bytes.
 */
#ifndef KISEKI_CLI_URL_H
#define KISEKI_CLI_URL_H

#include <stdbool.h>
#include <stddef.h>

#define URL_MAX 2048U

struct url {
	char text[URL_MAX];
	size_t len;
	bool has_params;
	bool full; /* something did not fit, and is not there */
};

void url_init(struct url *u, const char *path);	   /* taken as it is: "/api/v1/devices" */
void url_push(struct url *u, const char *segment); /* "/" and the segment, escaped */
void url_push_param(struct url *u, const char *name,
		    const char *value); /* "?" or "&"; NULL: nothing */

#endif
