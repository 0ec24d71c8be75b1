/* SPDX-License-Identifier: MIT */
/* http_static: the page at / and the description of the API, both embedded. */
#include "collector/http_static.h"

#include <inttypes.h>
#include <stdio.h>

#include "collector/http_request.h"

static int reply_static(struct http_reply *reply, const unsigned char *data, size_t len,
			struct error *e)
{
	uint64_t h = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ data[i]) * 0x100000001b3ULL;
	snprintf(reply->etag, sizeof(reply->etag), "\"%016" PRIx64 "\"", h);
	reply->length = len;
	reply->may_code = true;
	reply->keeps = true;
	return http_body_new_static(&reply->body, data, len, e);
}

int http_openapi(struct http_request *q, struct http_reply *reply, struct error *e)
{
	(void)q;
	reply->type = "application/json";
	return reply_static(reply, static_openapi, static_openapi_len, e);
}

int http_page(struct http_request *q, struct http_reply *reply, struct error *e)
{
	(void)q;
	reply->type = "text/html; charset=utf-8";
	return reply_static(reply, static_page, static_page_len, e);
}
