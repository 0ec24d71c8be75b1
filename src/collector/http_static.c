/* SPDX-License-Identifier: MIT */
/*
 * http_static: the page at / with its files, and the description of the API; all embedded.
 *
 * The page is held to a policy that allows it nothing but its own files and this server: no script
 * or style within the markup, no other host, no frame around it. It may open a window of another
 * origin and talk to it, which "open in Perfetto" needs, so the policy for openers is the one that
 * allows that.
 */
#include "collector/http_static.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "collector/http_request.h"
#include "collector/web_file.h"

#define PAGE_POLICY                                                                                \
	"default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self'; "             \
	"img-src 'self' data: blob:; connect-src 'self'; font-src 'self'; base-uri 'none'; "       \
	"form-action 'none'; frame-ancestors 'none'"

#define FOR_EVER "public, max-age=31536000, immutable"

int http_openapi(struct http_request *q, struct http_reply *reply, struct error *e)
{
	uint64_t h = 0xcbf29ce484222325ULL;
	size_t i;

	(void)q;
	for (i = 0; i < static_openapi_len; i++)
		h = (h ^ static_openapi[i]) * 0x100000001b3ULL;
	snprintf(reply->etag, sizeof(reply->etag), "\"%016" PRIx64 "\"", h);
	reply->type = "application/json";
	reply->length = static_openapi_len;
	reply->may_code = true;
	reply->keeps = true;
	return http_body_new_static(&reply->body, static_openapi, static_openapi_len, e);
}

/* For a client that does not take gzip. */
static int reply_unpacked(struct http_reply *reply, const struct web_file *f, struct error *e)
{
	char *text = NULL;
	int r = web_file_dup(f, &text, e);

	if (r < 0)
		return r;
	r = http_body_new_text(&reply->body, text, f->len, e);
	if (r < 0)
		free(text);
	reply->length = f->len;
	return r;
}

static int reply_file(struct http_request *q, struct http_reply *reply, const char *path,
		      struct error *e)
{
	const struct web_file *f = web_file_find(static_web, static_web_len, path);

	if (!f)
		return error_set(e, ENOENT, "the page has no file %.200s", path);
	snprintf(reply->etag, sizeof(reply->etag), "\"%s\"", f->hash);
	reply->type = f->type;
	reply->policy = PAGE_POLICY;
	reply->keeps = true;
	reply->keep = f->fixed ? FOR_EVER : NULL;
	reply->coded = f->gzip;
	if (f->gzip && !http_coding_allow(http_request_header(q, "Accept-Encoding"), CODING_GZIP))
		return reply_unpacked(reply, f, e);
	reply->coding = f->gzip ? CODING_GZIP : CODING_IDENTITY;
	reply->length = f->data_len;
	return http_body_new_static(&reply->body, f->data, f->data_len, e);
}

int http_page(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return reply_file(q, reply, "index.html", e);
}

int http_asset(struct http_request *q, struct http_reply *reply, struct error *e)
{
	char path[256];

	/* What is cut is too long to be there; the name is only ever compared with those of the
	 * table. */
	snprintf(path, sizeof(path), "assets/%s", q->captured[0]);
	return reply_file(q, reply, path, e);
}
