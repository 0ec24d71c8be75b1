/* SPDX-License-Identifier: MIT */
/*
 * http_slices: GET …/slices: a range in detail, as docs/format/slices.md has it.
 *
 * The tag of an answer is made of what it follows from: the run, the range, and, while events can
 * still come, how much of the run is there. So whoever has an answer is told so before anything is
 * decoded. An answer that cannot change any more need not even be asked for again, for a while: the
 * number of a run says nothing about the store it is in, so not for ever.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "analysis/spans_pack.h"
#include "collector/detail.h"
#include "collector/http_range.h"
#include "collector/http_reply.h"
#include "collector/http_turn.h"
#include "wire/crc32c.h"

#define KEEP_FINAL "private, max-age=3600, immutable"

static bool is_over(const void *context)
{
	return http_request_is_over(context);
}

static void set_tag(struct http_reply *reply, const struct http_selection *s,
		    const struct detail *d, const struct detail_query *q)
{
	uint64_t part = detail_is_final(d) ? 0 : s->run.events + s->run.blocks;

	snprintf(reply->etag, sizeof(reply->etag), "\"%08lx-%llx-%llx-%llx\"",
		 (unsigned long)crc32c_add(0, s->run.id.bytes, sizeof(s->run.id.bytes)),
		 (unsigned long long)q->from_ns, (unsigned long long)detail_to_ns(d),
		 (unsigned long long)part);
	reply->keeps = true;
}

/* The bytes are dense already: to code them takes longer than to send a quarter more. */
static int reply_bytes(struct http_reply *reply, uint8_t *bytes, size_t len, struct error *e)
{
	int r = http_reply_text(reply, SPANS_PACK_TYPE, (char *)bytes, len, e);

	reply->may_code = false;
	return r;
}

/* Nothing has come of that time yet: an answer without any time. */
static int reply_empty(struct http_reply *reply, const struct detail_query *q, struct error *e)
{
	struct spans none = { .from_ns = q->from_ns, .to_ns = q->from_ns };
	uint8_t *bytes;
	size_t len;

	if (spans_encode(&none, 0, &bytes, &len) < 0)
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	return reply_bytes(reply, bytes, len, e);
}

static int reply_spans(struct http_request *q, struct detail *d, struct http_reply *reply,
		       struct error *e)
{
	bool named = strstr(q->route->pattern, "{run}");
	const struct spans *spans;
	uint8_t *bytes;
	size_t len;
	int r = detail_read(d, &spans, e);

	if (r < 0)
		return r;
	if (spans_encode(spans, detail_is_final(d) ? SPANS_PACK_FINAL : 0, &bytes, &len) < 0)
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	if (named && detail_is_final(d))
		reply->keep = KEEP_FINAL;
	return reply_bytes(reply, bytes, len, e);
}

int http_slices(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct detail_query query = { .limit = DETAIL_EVENTS_DEFAULT,
				      .is_over = is_over,
				      .context = q };
	CLEANUP(detail) struct detail *d = NULL;
	struct http_selection s;
	int r = http_target_get_count(&q->target, "limit",
				      (struct http_bounds){ 1, DETAIL_EVENTS_MAX }, &query.limit,
				      e);

	if (r >= 0)
		r = http_range_select(q, &s, e);
	if (r < 0)
		return r;
	query.run = s.run.number;
	query.from_ns = s.from.given ? s.from.ns : clock_ns(&s.clock, s.run.first_tick);
	query.to_ns = s.to.given ? s.to.ns : UINT64_MAX;
	r = detail_open(&d, q->http->options.store, &query, e);
	if (r == -EFBIG)
		reply->status = MHD_HTTP_CONTENT_TOO_LARGE;
	if (r < 0)
		return r;
	if (detail_to_ns(d) <= query.from_ns)
		return reply_empty(reply, &query, e);
	set_tag(reply, &s, d, &query);
	if (http_reply_is_known(q, reply))
		return 0;
	r = http_turn_take(q, e);
	if (r < 0)
		return r;
	r = reply_spans(q, d, reply, e);
	http_turn_put(q);
	if (r == -EFBIG)
		reply->status = MHD_HTTP_CONTENT_TOO_LARGE;
	return r;
}
