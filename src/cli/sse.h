/* SPDX-License-Identifier: MIT */
/*
 * sse: server-sent events, taken apart as they come (the event-stream format of HTML).
 *
 * Bytes go in in pieces of any size; each event that is whole is handed to the handler. Lines end
 * with LF, CR or CR LF; comments and unknown fields are passed over; what stands behind the last
 * empty line is not an event. What a server can make it hold is bounded.
 */
#ifndef KISEKI_CLI_SSE_H
#define KISEKI_CLI_SSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

#define SSE_NAME_MAX 64U
#define SSE_LINE_MAX (1U << 20)
#define SSE_DATA_MAX (16U << 20)

struct sse_buffer {
	char *bytes;
	size_t len, room;
};

struct sse {
	/* `name` is "message" if the event has none; data has its lines with LF between them, and a
	 * NUL behind. Not 0 stops. */
	int (*handle)(void *context, const char *name, const char *data, size_t len,
		      struct error *e);
	void *context;
	struct sse_buffer line, data;
	char name[SSE_NAME_MAX];
	bool started;  /* the first line is behind us */
	bool has_data; /* also if it is empty */
	bool after_cr; /* an LF that comes now belongs to the last line's end */
};

void sse_init(struct sse *s,
	      int (*handle)(void *context, const char *name, const char *data, size_t len,
			    struct error *e),
	      void *context);
void sse_done(struct sse *s);

/* 0, what the handler returned, -E2BIG or -ENOMEM; after that it must not be called again. */
int sse_push(struct sse *s, const char *bytes, size_t len, struct error *e);

#endif
