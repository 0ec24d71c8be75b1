/* SPDX-License-Identifier: MIT */
/*
 * http_export: a part of a run in any format, made while it is sent or made whole before.
 *
 * A format that can go down a pipe is streamed: a thread of its own decodes and writes into a pipe
 * from which the connection's thread sends, so that nothing is kept in memory and a slow client slows
 * the decoding down. A client that goes away closes the pipe, and the thread stops at its next write
 * or item. The others (trace.dat, ctf, and ksk, which is worth resuming) are made in a temporary
 * file first; they have a length and take Range requests. So are all of a run of programs,
 * of a boot chart, and of a profile.
 */
#ifndef KISEKI_COLLECTOR_HTTP_EXPORT_H
#define KISEKI_COLLECTOR_HTTP_EXPORT_H

#include "collector/http_range.h"
#include "convert/formats.h"
#include "convert/func_export.h"
#include "convert/profile_export.h"
#include "trace/boot_source.h"
#include "trace/func_source.h"
#include "trace/sample_source.h"

struct extract {
	struct http_request *q; /* not after its request was answered */
	struct http *http;
	struct http_selection selection;
	const struct format *format;
	struct format_options options;
	struct trace_source *source; /* owned */
	bool is_calls;		     /* a run of programs: of the above only the run and q, but */
	struct func_source *calls;   /* owned */
	const struct func_format *calls_format;	     /* NULL: ksk */
	struct boot_source *boot;		     /* owned; NULL: the run is no boot chart */
	struct sample_source *profile;		     /* owned; NULL: the run is no profile */
	const struct profile_format *profile_format; /* NULL: ksk */
	bool machines; /* the time of virtual machines, not what was sampled on the host */
	atomic_bool cancelled;
	bool counted; /* among http->exports */
};

void extract_done(struct extract *x);

/* -ECANCELED if nobody waits any more, -ENOSPC if the folder's disk has no room for others. */
int extract_check(struct extract *x, const char *folder, struct error *e);

/* `what` is exported whole: what selects events means nothing then, and times only choose the run. */
int extract_check_whole(struct http_request *q, const char *what, struct error *e);

/* --- of a run of programs --- */

bool extract_wants_calls(struct http_request *q); /* the format is one of calls alone */
int extract_open_calls(struct http_request *q, struct extract *x, struct error *e);
const char *extract_calls_type(const struct func_format *f);
void extract_describe_calls(const struct extract *x, const char *stem, struct http_reply *reply);
int extract_write_calls(struct extract *x, const char *path, const char *folder, struct error *e);

/* --- of a boot chart --- */

int extract_open_boot(struct http_request *q, struct extract *x, struct error *e);
int extract_write_boot(struct extract *x, const char *path, const char *folder, struct error *e);

/* --- of a profile --- */

bool extract_wants_profile(struct http_request *q); /* the format is one of profiles alone */
int extract_open_profile(struct http_request *q, struct extract *x, struct error *e);
const char *extract_profile_type(const struct profile_format *f);
void extract_describe_profile(const struct extract *x, const char *stem, struct http_reply *reply);
int extract_write_profile(struct extract *x, const char *path, const char *folder, struct error *e);

/* --- of all --- */

/* Copies all items. -ECANCELED when it was cancelled. */
int extract_copy(struct extract *x, struct trace_sink *sink, struct error *e);

/* Takes what *x holds unless it fails. The first bytes are there when it returns, so what fails at
 * once fails here. */
int extract_stream(struct extract *x, struct http_body **ret, struct error *e);

/* Makes the file, which has no name any more: a descriptor, or < 0. `name` is what a folder is called
 * in its archive. */
int extract_make_file(struct extract *x, const char *name, struct error *e);

#endif
