/* SPDX-License-Identifier: MIT */
/*
 * http_export_calls: the exports of a run of programs; see http_export.h.
 *
 * All are made whole. The formats are those of `kiseki func export`, and ksk, from which all others
 * can be made wherever the programs are: the collector has none of their objects and looks for none
 * (paths that a device names are not opened here), so a function is named by its object and place.
 */
#include <errno.h>
#include <string.h>

#include "collector/http_export.h"
#include "convert/func_export.h"
#include "trace/func_ksk.h"
#include "trace/func_pack.h"

#define LOOK_EVERY 16384U /* items */
#define UNNAMED "functions are named by object and place; kiseki func export gives them their names"

/* --- what is asked for --- */

bool extract_wants_calls(struct http_request *q)
{
	const char *name = http_target_get(&q->target, "format");

	return name && !formats_find(name) && func_export_find(name);
}

int extract_open_calls(struct http_request *q, struct extract *x, struct error *e)
{
	const char *name = http_target_get(&q->target, "format");
	int r = extract_check_whole(q, "a run of programs", e);

	x->is_calls = true;
	x->calls_format = name ? func_export_find(name) : NULL;
	if (r >= 0 && name && !x->calls_format && strcmp(name, "ksk") != 0)
		r = error_set(e, EINVAL,
			      "cannot export run %u as '%s': it is of programs; see "
			      "/api/v1/formats",
			      x->selection.run.number, name);
	return r < 0 ? r
		     : func_ksk_open_run(q->http->options.store, x->selection.run.number, &x->calls,
					 e);
}

/* The first of its endings. */
static size_t ending_len(const struct func_format *f)
{
	return strcspn(f->endings, " ");
}

void extract_describe_calls(const struct extract *x, const char *stem, struct http_reply *reply)
{
	const struct func_format *f = x->calls_format;

	if (!f) {
		reply->type = "application/octet-stream";
		snprintf(reply->file_name, sizeof(reply->file_name), "%s.ksk", stem);
		return;
	}
	reply->type = extract_calls_type(f);
	reply->may_code = true;
	snprintf(reply->file_name, sizeof(reply->file_name), "%s%.*s", stem, (int)ending_len(f),
		 f->endings);
	snprintf(reply->note, sizeof(reply->note), "%s%s%s", UNNAMED, f->cannot_hold ? "; " : "",
		 f->cannot_hold ? f->cannot_hold : "");
}

const char *extract_calls_type(const struct func_format *f)
{
	if (!strcmp(f->name, "speedscope") || !strcmp(f->name, "chrome"))
		return "application/json";
	if (!strcmp(f->name, "perfetto"))
		return "application/x-protobuf";
	return f->text ? "text/plain; charset=utf-8" : "application/octet-stream";
}

/* --- making it --- */

/* A source that looks from time to time whether there is room and somebody who waits. Its tables are
 * those of the inner one. */
struct careful {
	struct func_source source;
	struct func_source *inner;
	struct extract *x;
	const char *folder;
	uint64_t items;
};

static int careful_next(struct func_source *s, struct func_item *ret, struct error *e)
{
	struct careful *c = (struct careful *)s;
	int r = c->items++ % LOOK_EVERY ? 0 : extract_check(c->x, c->folder, e);

	if (r < 0)
		return r;
	r = c->inner->ops->next(c->inner, ret, e);
	s->watched = c->inner->watched;
	return r;
}

static int careful_rewind(struct func_source *s, struct error *e)
{
	struct careful *c = (struct careful *)s;

	return c->inner->ops->rewind(c->inner, e);
}

static void careful_progress(const struct func_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct careful *c = (const struct careful *)s;

	c->inner->ops->progress(c->inner, ret_done, ret_total);
}

static void careful_free(struct func_source *s)
{
	(void)s; /* it is on the stack, and all it has is the inner one's */
}

static const struct func_source_ops careful_ops = {
	.next = careful_next,
	.rewind = careful_rewind,
	.progress = careful_progress,
	.free = careful_free,
};

static int write_format(struct func_source *s, const struct func_format *f, const char *path,
			struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	CLEANUP(call_names) struct call_names *names = NULL;
	struct call_walk walk = { .source = s };
	int r = outfile_open(&out, path, e);

	if (r >= 0)
		r = call_names_new(&names, s, NULL, e);
	if (r < 0)
		return r;
	walk.names = names;
	r = f->write(&walk, out, e);
	return r < 0 ? r : outfile_commit(out, e);
}

int extract_write_calls(struct extract *x, const char *path, const char *folder, struct error *e)
{
	struct careful c = { .source = *x->calls, .inner = x->calls, .x = x, .folder = folder };
	struct func_packing packing = { 0 };

	c.source.ops = &careful_ops;
	return x->calls_format ? write_format(&c.source, x->calls_format, path, e)
			       : func_pack_file(path, &c.source, &packing, e);
}
