/* SPDX-License-Identifier: MIT */
/*
 * http_turn: how many requests decode at once while their client waits.
 *
 * Each holds some ten megabytes, and a machine gets no faster by doing them all together: beyond the
 * ceiling they wait for each other, which for a picture's tiles is milliseconds.
 */
#ifndef KISEKI_COLLECTOR_HTTP_TURN_H
#define KISEKI_COLLECTOR_HTTP_TURN_H

#include "collector/http_request.h"

#define HTTP_TURNS_MAX 8U
#define HTTP_TURN_WAIT_MS 10000U

/* -EBUSY after HTTP_TURN_WAIT_MS; -ECANCELED if the client has gone. Each that was taken is to be put
 * back. */
int http_turn_take(struct http_request *q, struct error *e);
void http_turn_put(struct http_request *q);

#endif
