/* SPDX-License-Identifier: MIT */
/*
 * http_symbols: where the names of a request's functions come from.
 *
 * Paths that a device names are looked for below the collector's folder of symbols, which is their root,
 * and nowhere else. A `symbols` is used by one thread at a time, so each request has its own; the tables
 * are files that all of them map, made by the first request that needs one, in its own thread.
 */
#ifndef KISEKI_COLLECTOR_HTTP_SYMBOLS_H
#define KISEKI_COLLECTOR_HTTP_SYMBOLS_H

#include "collector/http.h"
#include "symbol/symbols.h"

#define HTTP_SYMBOLS_FOLDERS 2U

struct http_symbols {
	const char *folders[HTTP_SYMBOLS_FOLDERS + 1];
	struct symbols_options options; /* points to the folders */
};

/* What it points to is that of the options of http. */
void http_symbols_init(struct http_symbols *s, const struct http_options *o);

/* Of guests: their objects are believed by their build-ids alone, since a path in a guest is no path of
 * the device. */
struct symbols_options http_symbols_guests(const struct http_symbols *s);

/* NULL, if there is no folder at all: names are the run's own. */
int http_symbols_open(const struct http_symbols *s, struct symbols **ret, struct error *e);

#endif
