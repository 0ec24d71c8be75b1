/* SPDX-License-Identifier: MIT */
/*
 * http_follow: the events of one device as they become durable, as messages of a stream of
 * server-sent events.
 *
 * It begins behind what the latest run has when it starts, and goes over when the device goes on in
 * another: in a new one from its start, in one that it has sent before from what comes then. At most `rate` items a second are passed on; the others are decoded and counted, and the count
 * is told: a view that leaves something out says so.
 */
#ifndef KISEKI_COLLECTOR_HTTP_FOLLOW_H
#define KISEKI_COLLECTOR_HTTP_FOLLOW_H

#include <stdio.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "collector/http_request.h"
#include "wire/message.h"

struct http_follow;

int http_follow_new(struct http_follow **ret, struct http *h, const struct message_id *device,
		    uint32_t rate, struct error *e);
void http_follow_free(struct http_follow *f);
DEFINE_CLEANUP(http_follow, http_follow_free)

/* Writes what has come since the last call, as much as goes into one message. 1: there may be more
 * at once, 0: nothing more for now, < 0: failed. */
int http_follow_next(struct http_follow *f, FILE *out, struct error *e);

#endif
