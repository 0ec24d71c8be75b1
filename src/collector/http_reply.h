/* SPDX-License-Identifier: MIT */
/*
 * http_reply: from what a handler has left in the reply to what the library sends.
 */
#ifndef KISEKI_COLLECTOR_HTTP_REPLY_H
#define KISEKI_COLLECTOR_HTTP_REPLY_H

#include <microhttpd.h>

#include "collector/http_request.h"

/* Sends the reply, or, if code is a negative errno, {"error": …}. Empties the reply. */
enum MHD_Result http_reply_send(struct http_request *q, struct http_reply *reply, int code,
				struct error *e);

/* Does the client have it already? Then the reply's status is 304, and its body need not be made. */
bool http_reply_is_known(struct http_request *q, struct http_reply *reply);

#endif
