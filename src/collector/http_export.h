/* SPDX-License-Identifier: MIT */
/*
 * http_export: a part of a run in any format, made while it is sent or made whole before.
 *
 * A format that can go down a pipe is streamed: a thread of its own decodes and writes into a pipe
 * from which the connection's thread sends, so that nothing is kept in memory and a slow client slows
 * the decoding down. A client that goes away closes the pipe, and the thread stops at its next write
 * or item. The others (trace.dat, ctf, and ksk, which is worth resuming) are made in a temporary
 * file first; they have a length and take Range requests.
 */
#ifndef KISEKI_COLLECTOR_HTTP_EXPORT_H
#define KISEKI_COLLECTOR_HTTP_EXPORT_H

#include "collector/http_range.h"
#include "convert/formats.h"

struct extract {
	struct http_request *q; /* not after its request was answered */
	struct http *http;
	struct http_selection selection;
	const struct format *format;
	struct format_options options;
	struct trace_source *source; /* owned */
	atomic_bool cancelled;
	bool counted; /* among http->exports */
};

void extract_done(struct extract *x);

/* Copies all items. -ECANCELED when it was cancelled. */
int extract_copy(struct extract *x, struct trace_sink *sink, struct error *e);

/* Takes what *x holds unless it fails. The first bytes are there when it returns, so what fails at
 * once fails here. */
int extract_stream(struct extract *x, struct http_body **ret, struct error *e);

/* Makes the file, which has no name any more: a descriptor, or < 0. `name` is what a folder is called
 * in its archive. */
int extract_make_file(struct extract *x, const char *name, struct error *e);

#endif
