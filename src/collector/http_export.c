/* SPDX-License-Identifier: MIT */
/* http_export: GET …/export and /formats; see http_export.h. */
#include "collector/http_export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "collector/http_device.h"
#include "collector/http_reply.h"

#define STEM_LEN 100U

void extract_done(struct extract *x)
{
	source_free(x->source);
	func_source_free(x->calls);
	boot_source_free(x->boot);
	sample_source_free(x->profile);
	if (x->counted)
		atomic_fetch_sub(&x->http->exports, 1);
	memset(x, 0, sizeof(*x));
}

int extract_copy(struct extract *x, struct trace_sink *sink, struct error *e)
{
	struct trace_item item;
	int r = sink->ops->begin(sink, &x->source->info, e), more = 1;

	while (r >= 0 && (more = x->source->ops->next(x->source, &item, e)) > 0) {
		r = sink->ops->item(sink, &item, e);
		if (atomic_load_explicit(&x->cancelled, memory_order_relaxed))
			r = error_set(e, ECANCELED, "the client has gone");
	}
	if (r < 0 || more < 0)
		return r < 0 ? r : more;
	return sink->ops->end(sink, e);
}

/* --- what the answer says about itself --- */

static const char *media_type(const struct format *f)
{
	static const struct {
		const char *format, *type;
	} types[] = {
		{ "ftrace", "text/plain; charset=utf-8" },
		{ "json", "application/json" },
		{ "ndjson", "application/x-ndjson" },
		{ "xml", "application/xml" },
		{ "chrome", "application/json" },
		{ "csv", "text/csv; charset=utf-8" },
		{ "ctf", "application/x-tar" },
		{ "perfetto", "application/x-protobuf" },
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(types[i].format, f->name))
			return types[i].type;
	return "application/octet-stream";
}

static bool is_made_whole(const struct format *f)
{
	return !f->pipe || !strcmp(f->name, "ksk");
}

/* DEVICE-RUN of characters that are plain in every file system and header. */
static void make_stem(const struct extract *x, char stem[STEM_LEN])
{
	const char *device = x->is_calls  ? "calls"
			     : x->boot	  ? x->boot->info.device
			     : x->profile ? x->profile->info.device
					  : x->source->info.device;
	size_t i;

	snprintf(stem, STEM_LEN, "%.64s-%" PRIu32, *device ? device : "trace",
		 x->selection.run.number);
	for (i = 0; stem[i]; i++) {
		bool plain = (stem[i] >= '0' && stem[i] <= '9') ||
			     (stem[i] >= 'A' && stem[i] <= 'Z') ||
			     (stem[i] >= 'a' && stem[i] <= 'z') || stem[i] == '-' ||
			     stem[i] == '_' || (stem[i] == '.' && i);

		if (!plain)
			stem[i] = '_';
	}
}

static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (; len; len--)
		h = (h ^ *p++) * 0x100000001b3ULL;
	return h;
}

static uint64_t hash_number(uint64_t h, uint64_t v)
{
	return hash(h, &v, sizeof(v));
}

/* What can change in a run. */
static uint64_t hash_run(uint64_t h, const struct store_run *r)
{
	size_t i;

	h = hash(h, r->id.bytes, sizeof(r->id.bytes));
	h = hash_number(h, r->last_ns);
	h = hash_number(h, r->first_tick);
	h = hash_number(h, r->last_tick);
	h = hash_number(h, r->blocks);
	h = hash_number(h, r->bytes);
	h = hash_number(h, r->ended | r->lost_unknown << 1);
	for (i = 0; i < LOSS_CAUSES; i++)
		h = hash_number(h, r->lost[i]);
	return h;
}

static uint64_t hash_request(uint64_t h, const struct http_request *q,
			     const struct http_selection *s)
{
	size_t i;

	h = hash(h, KISEKI_VERSION, sizeof(KISEKI_VERSION));
	h = hash_run(h, &s->run);
	h = hash_number(h, (uint64_t)s->clock.realtime_off_ns);
	h = hash_number(h, s->from.ns);
	h = hash_number(h, s->to.ns);
	for (i = 0; i < q->target.n_params; i++) {
		if (!strcmp(q->target.names[i], "from") || !strcmp(q->target.names[i], "to"))
			continue; /* "-5m" is another time each time */
		h = hash(h, q->target.names[i], strlen(q->target.names[i]) + 1);
		h = hash(h, q->target.values[i], strlen(q->target.values[i]) + 1);
	}
	return h;
}

/* The content follows from what was asked and what the store has of the run; so does its tag. If
 * blocks came while the source was opened nobody knows which state it saw: then there is none. */
static void make_tag(struct http_request *q, const struct extract *x, char *tag, size_t room)
{
	const struct http_selection *s = &x->selection;
	struct store_run now;

	if (store_get_run(q->http->options.store, s->run.number, &now, NULL) < 0 ||
	    hash_run(0, &now) != hash_run(0, &s->run))
		return;
	snprintf(tag, room, "\"%016" PRIx64 "%016" PRIx64 "\"", hash_request(1, q, s),
		 hash_request(0xcbf29ce484222325ULL, q, s));
}

/* --- the answers --- */

/* A client that has a part wants the rest only if nothing has changed since. */
static const char *wanted_range(struct http_request *q, const struct http_reply *reply)
{
	const char *condition = http_request_header(q, "If-Range");

	if (condition && (!reply->etag[0] || strcmp(condition, reply->etag)))
		return NULL;
	return http_request_header(q, "Range");
}

int extract_check_whole(struct http_request *q, const char *what, struct error *e)
{
	static const char *const senseless[] = { "cpu", "task", "pid", "comm", "event", "codec" };
	bool by_device = strstr(q->route->pattern, "{device}");
	size_t i;

	for (i = 0; i < sizeof(senseless) / sizeof(senseless[0]); i++)
		if (http_target_get(&q->target, senseless[i]))
			return error_set(e, EINVAL, "cannot take %s=: %s is exported whole",
					 senseless[i], what);
	if (!by_device &&
	    (http_target_get(&q->target, "from") || http_target_get(&q->target, "to")))
		return error_set(e, EINVAL, "cannot take from= or to=: %s is exported whole", what);
	return 0;
}

static int reply_file(struct http_request *q, struct http_reply *reply, int fd, struct error *e)
{
	struct http_range range;
	struct stat st;
	int r;

	if (fstat(fd, &st) < 0)
		return error_set(e, errno, "cannot export: %s", strerror(errno));
	range = (struct http_range){ 0, (uint64_t)st.st_size };
	r = http_range_parse(wanted_range(q, reply), (uint64_t)st.st_size, &range);
	if (r == -ERANGE) {
		snprintf(reply->range, sizeof(reply->range), "bytes */%" PRIu64,
			 (uint64_t)st.st_size);
		return error_set(e, ERANGE,
				 "cannot send that range: the export has %" PRIu64 " bytes",
				 (uint64_t)st.st_size);
	}
	if (r) {
		reply->status = 206;
		snprintf(reply->range, sizeof(reply->range),
			 "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, range.from,
			 range.from + range.len - 1, (uint64_t)st.st_size);
	}
	reply->length = range.len;
	return http_body_new_file(&reply->body, fd, &range, e);
}

static int reply_made_whole(struct extract *x, struct http_reply *reply, const char *stem,
			    struct error *e)
{
	struct http_request *q = x->q;
	int fd = extract_make_file(x, stem, e), r;

	if (fd < 0)
		return fd;
	r = reply_file(q, reply, fd, e);
	if (r < 0)
		close(fd);
	return r;
}

static int choose_format(struct http_request *q, struct extract *x, struct error *e)
{
	const char *name = http_target_get(&q->target, "format");
	const char *codec = http_target_get(&q->target, "codec");

	x->format = formats_find(name ? name : "ksk");
	if (!x->format)
		return error_set(e, EINVAL, "unknown format '%s'; see /api/v1/formats", name);
	if (codec && (strcmp(x->format->name, "ksk") || !formats_of_codec(codec)))
		return error_set(e, EINVAL, "cannot take codec=%s: it is sched or bsf, of ksk",
				 codec);
	x->options.codec = codec;
	return 0;
}

static int open_events(struct http_request *q, struct extract *x, struct error *e)
{
	int r = choose_format(q, x, e);

	if (r >= 0)
		r = http_range_select(q, &x->selection, e);
	return r < 0 ? r : http_range_open(q, &x->selection, NULL, &x->source, e);
}

/* The run, by the format where nothing else says which kind: some formats are of calls, and of profiles, too. */
static int find_run(struct http_request *q, struct extract *x, struct error *e)
{
	struct error other = ERROR_INIT;
	enum http_run_kind kind;
	int r = http_range_get_kind(q, &kind, e);

	if (r < 0 || kind != HTTP_RUN_ANY)
		return r < 0 ? r : http_range_find_run(q, kind, &x->selection.run, e);
	if (extract_wants_calls(q))
		kind = HTTP_RUN_FUNC;
	else if (extract_wants_profile(q))
		kind = HTTP_RUN_PROFILE;
	r = http_range_find_run(q, kind, &x->selection.run, e);
	if (r == -ENOENT && kind == HTTP_RUN_FUNC &&
	    profile_export_find(http_target_get(&q->target, "format"))) {
		r = http_range_find_run(q, HTTP_RUN_PROFILE, &x->selection.run, &other);
		if (r < 0 && r != -ENOENT)
			*e = other; /* else nothing is said of profiles, which nobody has named */
	}
	return r;
}

/* What it can be exported as follows from what the run is. */
static int open_run(struct http_request *q, struct extract *x, struct error *e)
{
	int r = find_run(q, x, e);

	if (r < 0)
		return r;
	if (store_run_is_profile(&x->selection.run))
		return extract_open_profile(q, x, e);
	if (store_run_is_boot(&x->selection.run))
		return extract_open_boot(q, x, e);
	return store_run_is_func(&x->selection.run) ? extract_open_calls(q, x, e)
						    : open_events(q, x, e);
}

static int open_export(struct http_request *q, struct extract *x, struct error *e)
{
	int r = open_run(q, x, e);

	if (r < 0)
		return r;
	x->q = q;
	x->http = q->http;
	x->counted = true;
	if (atomic_fetch_add(&q->http->exports, 1) >= HTTP_EXPORTS_MAX)
		return error_set(e, EBUSY, "%u exports are under way; try again later",
				 HTTP_EXPORTS_MAX);
	return 0;
}

static void describe(const struct extract *x, const char *stem, struct http_reply *reply)
{
	reply->type = media_type(x->format);
	reply->may_code = strcmp(x->format->name, "ksk");
	snprintf(reply->file_name, sizeof(reply->file_name), "%s%s%s", stem, x->format->endings[0],
		 strcmp(x->format->name, "ctf") ? "" : ".tar");
	if (x->format->cannot_hold)
		snprintf(reply->note, sizeof(reply->note), "%s", x->format->cannot_hold);
}

static int fill(struct extract *x, struct http_reply *reply, struct error *e)
{
	struct http_request *q = x->q;
	bool whole = x->is_calls || x->profile || is_made_whole(x->format);
	char stem[STEM_LEN];

	make_stem(x, stem);
	make_tag(q, x, reply->etag, sizeof(reply->etag));
	reply->takes_ranges = whole;
	reply->keeps = true;
	if (x->is_calls)
		extract_describe_calls(x, stem, reply);
	else if (x->profile)
		extract_describe_profile(x, stem, reply);
	else
		describe(x, stem, reply);
	/* Whoever wants the head, or has the content, does not make us work for it. */
	if (q->head || http_reply_is_known(q, reply))
		return http_body_new_static(&reply->body, "", 0, e);
	return whole ? reply_made_whole(x, reply, stem, e) : extract_stream(x, &reply->body, e);
}

int http_export(struct http_request *q, struct http_reply *reply, struct error *e)
{
	struct extract x = { .q = NULL };
	int r = open_export(q, &x, e);

	if (r >= 0)
		r = fill(&x, reply, e);
	extract_done(&x);
	return r;
}

static json_t *text_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}

/* Which runs it can hold: events of the scheduler, calls of programs, boot charts, profiles. */
static json_t *kinds_json(const char *name)
{
	json_t *kinds = json_array();

	if (formats_find(name))
		json_array_append_new(kinds, json_string("sched"));
	if (func_export_find(name) || !strcmp(name, "ksk"))
		json_array_append_new(kinds, json_string("func"));
	if (!strcmp(name, "ksk"))
		json_array_append_new(kinds, json_string("boot"));
	if (profile_export_find(name) || !strcmp(name, "ksk")) {
		json_array_append_new(kinds, json_string("profile"));
		json_array_append_new(kinds, json_string("vm"));
	}
	return kinds;
}

/* Of one that is made whole: `endings` are words in blanks, of which the first is given. */
static json_t *whole_format_json(const char *name, const char *type, const char *endings,
				 const char *summary, const char *cannot_hold)
{
	return json_pack("{ss ss ss# ss sb so so}", "name", name, "type", type, "ending", endings,
			 (int)strcspn(endings, " "), "summary", summary, "ranges", 1, "cannot_hold",
			 text_or_null(cannot_hold), "kinds", kinds_json(name));
}

int http_formats(struct http_request *q, struct http_reply *reply, struct error *e)
{
	const struct func_format *calls = NULL;
	const struct profile_format *p = NULL;
	json_t *list = json_array();
	const struct format *f;
	size_t i;

	(void)q;
	for (i = 0; (f = formats_get(i)); i++)
		json_array_append_new(list,
				      json_pack("{ss ss ss ss sb so so}", "name", f->name, "type",
						media_type(f), "ending", f->endings[0], "summary",
						f->summary, "ranges", (int)is_made_whole(f),
						"cannot_hold", text_or_null(f->cannot_hold),
						"kinds", kinds_json(f->name)));
	while ((calls = func_export_next(calls)))
		if (!formats_find(calls->name))
			json_array_append_new(list,
					      whole_format_json(calls->name,
								extract_calls_type(calls),
								calls->endings, calls->summary,
								calls->cannot_hold));
	while ((p = profile_export_next(p)))
		if (!formats_find(p->name) && !func_export_find(p->name))
			json_array_append_new(list,
					      whole_format_json(p->name, extract_profile_type(p),
								p->endings, p->summary,
								p->cannot_hold));
	return http_reply_json(reply, json_pack("{so}", "formats", list), JSON_INDENT(2), e);
}
