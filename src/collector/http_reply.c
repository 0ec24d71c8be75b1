/* SPDX-License-Identifier: MIT */
/*
 * http_reply: see http_reply.h.
 *
 * The rules that hold for all answers are applied here, once: errors are JSON, content encodings are
 * negotiated, a tag that the client has saves the body, and headers keep browsers from guessing types
 * or putting our pages into other sites' frames.
 */
#include "collector/http_reply.h"
#include "analysis/json_whole.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PIECE_BYTES (32U * 1024)
/* Charts of boots have their script and style within them. */
#define POLICY "default-src 'self'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
#define ONLY_SECURE "max-age=31536000"
#define CODE_LEAST 1024U /* a shorter answer is not worth a compressor */

static unsigned int status_of(int code)
{
	switch (-code) {
	case EINVAL:
	case E2BIG:
		return MHD_HTTP_BAD_REQUEST;
	case EKEYREJECTED:
		return MHD_HTTP_UNAUTHORIZED;
	case EPERM:
	case EACCES:
		return MHD_HTTP_FORBIDDEN;
	case ENOENT:
	case ENODATA:
		return MHD_HTTP_NOT_FOUND;
	case ENOTUNIQ:
		return MHD_HTTP_CONFLICT;
	case EBUSY:
	case EAGAIN:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	case ERANGE:
		return MHD_HTTP_RANGE_NOT_SATISFIABLE;
	case EOPNOTSUPP:
		return MHD_HTTP_NOT_IMPLEMENTED;
	case ETIMEDOUT:
		return MHD_HTTP_GATEWAY_TIMEOUT;
	default:
		return MHD_HTTP_INTERNAL_SERVER_ERROR;
	}
}

int http_reply_text(struct http_reply *reply, const char *type, char *text, size_t len,
		    struct error *e)
{
	int r = http_body_new_text(&reply->body, text, len, e);

	if (r < 0) {
		free(text);
		return r;
	}
	reply->type = type;
	reply->length = len;
	reply->may_code = true;
	return 0;
}

int http_reply_json(struct http_reply *reply, json_t *document, size_t flags, struct error *e)
{
	char *text = json_whole_text(document, flags), *line;
	size_t len = text ? strlen(text) : 0;

	line = text ? realloc(text, len + 2) : NULL;
	if (!line) {
		free(text);
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	}
	memcpy(line + len, "\n", 2);
	return http_reply_text(reply, "application/json", line, len + 1, e);
}

static int make_error(struct http_request *q, struct http_reply *reply, int code, struct error *e)
{
	json_t *text = json_string(e->text);

	if (!reply->status)
		reply->status = status_of(code);
	http_body_free(take_ptr(reply->body));
	reply->etag[0] = reply->file_name[0] = reply->note[0] = 0;
	reply->takes_ranges = reply->keeps = false;
	reply->keep = NULL;
	reply->coded = false;
	reply->coding = CODING_IDENTITY;
	/* Who gave a request up, as a page does that is moved on, is no news for whoever runs the collector. */
	if (reply->status >= 500 && code != -ECANCELED)
		http_log(q->http, "http: %.200s: %s", q->raw, e->text);
	if (!text)
		text = json_string("the reason has bytes that cannot be shown");
	return http_reply_json(reply, json_pack("{so}", "error", text), JSON_COMPACT, e);
}

static ssize_t read_body(void *context, uint64_t at, char *out, size_t room)
{
	struct http_body *b = context;
	ssize_t n = b->ops->read(b, out, room);

	(void)at;
	if (n < 0)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	return n ? n : MHD_CONTENT_READER_END_OF_STREAM;
}

static void free_body(void *context)
{
	http_body_free(context);
}

static void add(struct MHD_Response *r, const char *name, const char *value)
{
	if (value && *value)
		MHD_add_response_header(r, name, value);
}

static void add_headers(struct MHD_Response *r, const struct http_reply *reply,
			enum http_coding coding, bool is_secure)
{
	char text[192];

	add(r, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
	add(r, MHD_HTTP_HEADER_CONTENT_ENCODING, http_coding_name(coding));
	if (reply->may_code || reply->coded)
		add(r, MHD_HTTP_HEADER_VARY, "Accept-Encoding");
	add(r, MHD_HTTP_HEADER_ETAG, reply->etag);
	add(r, MHD_HTTP_HEADER_CONTENT_RANGE, reply->range);
	add(r, MHD_HTTP_HEADER_ALLOW, reply->allow);
	add(r, MHD_HTTP_HEADER_CACHE_CONTROL,
	    reply->keep	   ? reply->keep
	    : reply->keeps ? "no-cache"
			   : "no-store");
	add(r, MHD_HTTP_HEADER_ACCEPT_RANGES, reply->takes_ranges ? "bytes" : "none");
	add(r, "Kiseki-Note", reply->note);
	if (is_secure)
		add(r, "Strict-Transport-Security", ONLY_SECURE);
	add(r, "X-Content-Type-Options", "nosniff");
	add(r, "X-Frame-Options", "DENY");
	add(r, "Referrer-Policy", "no-referrer");
	add(r, "Cross-Origin-Opener-Policy", "same-origin-allow-popups");
	add(r, "Content-Security-Policy", reply->policy ? reply->policy : POLICY);
	add(r, MHD_HTTP_HEADER_SET_COOKIE, reply->cookie);
	if (reply->status == MHD_HTTP_UNAUTHORIZED)
		add(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (reply->status == MHD_HTTP_SERVICE_UNAVAILABLE)
		add(r, MHD_HTTP_HEADER_RETRY_AFTER, "5");
	if (reply->retry_s) {
		snprintf(text, sizeof(text), "%u", reply->retry_s);
		add(r, MHD_HTTP_HEADER_RETRY_AFTER, text);
	}
	if (reply->file_name[0]) {
		snprintf(text, sizeof(text), "attachment; filename=\"%s\"", reply->file_name);
		add(r, MHD_HTTP_HEADER_CONTENT_DISPOSITION, text);
	}
}

/* Which encoding the answer gets. A part of a file is a part of its bytes, not of their encoding. */
static enum http_coding choose_coding(struct http_request *q, const struct http_reply *reply)
{
	if (reply->coded)
		return reply->coding;
	if (!reply->may_code || reply->range[0] || reply->length < CODE_LEAST)
		return CODING_IDENTITY;
	return http_coding_parse(http_request_header(q, MHD_HTTP_HEADER_ACCEPT_ENCODING));
}

/* Each encoding of a content is a content of its own, and has its own tag. */
static void mark_etag(struct http_reply *reply, enum http_coding coding)
{
	size_t len = strlen(reply->etag);

	if (len && coding != CODING_IDENTITY)
		snprintf(reply->etag + len - 1, sizeof(reply->etag) - len + 1, "-%s\"",
			 http_coding_name(coding));
}

static int encode(struct http_request *q, struct http_reply *reply, enum http_coding coding,
		  struct error *e)
{
	struct http_body *coded = NULL;
	int r;

	if (coding == CODING_IDENTITY || reply->coded || !reply->body || q->head)
		return 0;
	r = http_body_new_coded(&coded, reply->body, coding, e);
	if (r < 0)
		return r;
	reply->body = coded;
	return 0;
}

bool http_reply_is_known(struct http_request *q, struct http_reply *reply)
{
	const char *tags = http_request_header(q, MHD_HTTP_HEADER_IF_NONE_MATCH);
	struct http_reply coded = *reply;

	if (!reply->etag[0] || !tags || (reply->status && reply->status != MHD_HTTP_OK))
		return false;
	mark_etag(&coded, choose_coding(q, reply));
	if (!http_tag_match(tags, coded.etag))
		return false;
	reply->status = MHD_HTTP_NOT_MODIFIED;
	return true;
}

static struct MHD_Response *make_response(struct http_reply *reply, enum http_coding coding)
{
	bool is_known = coding == CODING_IDENTITY || reply->coded;
	uint64_t length = is_known ? reply->length : HTTP_LENGTH_UNKNOWN;
	struct MHD_Response *r;

	if (!reply->body || reply->status == MHD_HTTP_NOT_MODIFIED)
		return MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
	r = MHD_create_response_from_callback(length == HTTP_LENGTH_UNKNOWN ? MHD_SIZE_UNKNOWN
									    : length,
					      PIECE_BYTES, read_body, reply->body, free_body);
	if (r)
		reply->body = NULL;
	return r;
}

enum MHD_Result http_reply_send(struct http_request *q, struct http_reply *reply, int code,
				struct error *e)
{
	enum http_coding coding;
	struct MHD_Response *response;
	enum MHD_Result sent;

	if (code < 0 && make_error(q, reply, code, e) < 0)
		return MHD_NO;
	if (!reply->status)
		reply->status = MHD_HTTP_OK;
	http_reply_is_known(q, reply);
	coding = choose_coding(q, reply);
	mark_etag(reply, coding);
	if (encode(q, reply, coding, e) < 0)
		coding = CODING_IDENTITY;
	response = make_response(reply, coding);
	http_body_free(take_ptr(reply->body));
	if (!response)
		return MHD_NO;
	add_headers(response, reply, coding, q->http->tls);
	atomic_fetch_add(&q->http->replies[reply->status / 100 % 6], 1);
	sent = MHD_queue_response(q->connection, reply->status, response);
	MHD_destroy_response(response);
	return sent;
}
