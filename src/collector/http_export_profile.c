/* SPDX-License-Identifier: MIT */
/*
 * http_export_profile: the exports of a profile; see http_export.h.
 *
 * All are made whole. The formats are those of `kiseki profile export`, and ksk, from which all others can be made
 * wherever the programs are. A function is named by the profile, or by the folder of the devices' objects (`kiseki serve
 * --symbols`), which is the root of all paths that a device names; else by its object and place. Of a run of virtual
 * machines it is what `kiseki vm export` writes, unless `kind=profile` asks for the host's side.
 */
#include <errno.h>
#include <string.h>

#include "collector/http_export.h"
#include "collector/http_symbols.h"
#include "trace/sample_ksk.h"
#include "trace/sample_pack.h"

#define LOOK_EVERY 16384U /* records */
#define UNNAMED                                                                                    \
	"functions may have no names; kiseki profile export finds those of the objects it has"

/* --- what is asked for --- */

bool extract_wants_profile(struct http_request *q)
{
	const char *name = http_target_get(&q->target, "format");

	return name && !formats_find(name) && !func_export_find(name) && profile_export_find(name);
}

int extract_open_profile(struct http_request *q, struct extract *x, struct error *e)
{
	const char *name = http_target_get(&q->target, "format");
	const char *kind = http_target_get(&q->target, "kind");
	int r = extract_check_whole(q, "a profile", e);

	x->machines = x->selection.run.has_guests && !(kind && !strcmp(kind, "profile"));
	if (r >= 0 && kind && !strcmp(kind, "vm") && !x->machines)
		r = error_set(e, ENOENT, "run %u has no virtual machines", x->selection.run.number);
	x->profile_format = name ? profile_export_find(name) : NULL;
	if (r >= 0 && name && !x->profile_format && strcmp(name, "ksk") != 0)
		r = error_set(e, EINVAL,
			      "cannot export run %u as '%s': it is a profile; see /api/v1/formats",
			      x->selection.run.number, name);
	x->format = formats_find("ksk");
	return r < 0 ? r
		     : sample_ksk_open_run(q->http->options.store, x->selection.run.number,
					   &x->profile, e);
}

const char *extract_profile_type(const struct profile_format *f)
{
	if (strstr(f->endings, ".json"))
		return "application/json";
	return f->text ? "text/plain; charset=utf-8" : "application/octet-stream";
}

void extract_describe_profile(const struct extract *x, const char *stem, struct http_reply *reply)
{
	const struct profile_format *f = x->profile_format;

	if (!f) {
		reply->type = "application/octet-stream";
		snprintf(reply->file_name, sizeof(reply->file_name), "%s.ksk", stem);
		return;
	}
	reply->type = extract_profile_type(f);
	reply->may_code = f->text;
	snprintf(reply->file_name, sizeof(reply->file_name), "%s%.*s", stem,
		 (int)strcspn(f->endings, " "), f->endings);
	snprintf(reply->note, sizeof(reply->note), "%s%s%s", UNNAMED, f->cannot_hold ? "; " : "",
		 f->cannot_hold ? f->cannot_hold : "");
}

/* --- making it --- */

/* A source that looks from time to time whether there is room and somebody who waits. */
struct careful {
	struct sample_source source;
	struct sample_source *inner;
	struct extract *x;
	const char *folder;
	uint64_t items;
};

static int careful_next(struct sample_source *s, struct sample_item *ret, struct error *e)
{
	struct careful *c = (struct careful *)s;
	int r = c->items++ % LOOK_EVERY ? 0 : extract_check(c->x, c->folder, e);

	return r < 0 ? r : c->inner->ops->next(c->inner, ret, e);
}

static int careful_rewind(struct sample_source *s, struct error *e)
{
	struct careful *c = (struct careful *)s;

	return c->inner->ops->rewind(c->inner, e);
}

static void careful_progress(const struct sample_source *s, uint64_t *ret_done, uint64_t *ret_total)
{
	const struct careful *c = (const struct careful *)s;

	c->inner->ops->progress(c->inner, ret_done, ret_total);
}

static void careful_free(struct sample_source *s)
{
	(void)s; /* it is on the stack, and all it has is the inner one's */
}

static const struct sample_source_ops careful_ops = {
	.next = careful_next,
	.rewind = careful_rewind,
	.progress = careful_progress,
	.free = careful_free,
};

static int write_format(const struct profile_walk *w, const struct profile_format *f,
			const char *path, struct error *e)
{
	const struct profile_export_options o = { .value = PROFILE_WEIGHT, .lines = true };
	CLEANUP(outfile) struct outfile *out = NULL;
	int r = outfile_open(&out, path, e);

	if (r >= 0)
		r = f->write(w, &o, out, e);
	return r < 0 ? r : outfile_commit(out, e);
}

static int write_cells(const struct vm_tree_options *o, const struct profile_format *f,
		       const char *path, struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	int r = outfile_open(&out, path, e);

	if (r >= 0)
		r = f->write_vm(o, out, e);
	return r < 0 ? r : outfile_commit(out, e);
}

/* -ENODATA: there was no virtual machine. */
static int write_machines(struct sample_source *s, const struct extract *x,
			  struct profile_names *host, const char *path, struct error *e)
{
	struct http_symbols from;
	struct vm_names_options names = { .source = s, .guests = s->guests };
	struct vm_report_options o = { .source = s,
				       .host = host,
				       .with_cells = true,
				       .with_spans = x->profile_format->has_spans };
	CLEANUP(vm_report) struct vm_report *report = NULL;
	struct vm_tree_options tree = { .host = host, .source = s };
	int r;

	http_symbols_init(&from, &x->q->http->options);
	names.symbols = http_symbols_guests(&from);
	r = vm_names_new(&o.names, &names, e);
	if (r >= 0)
		r = vm_report_new(&report, &o, e);
	tree.report = report;
	tree.names = o.names;
	if (r >= 0)
		r = write_cells(&tree, x->profile_format, path, e);
	vm_names_free(o.names);
	return r;
}

static int write_samples(struct sample_source *s, const struct extract *x,
			 struct profile_names *names, const char *path, struct error *e)
{
	struct profile_select select = { 0 };
	struct profile_tasks tasks;
	struct profile_walk walk = {
		.source = s, .tasks = &tasks, .select = &select, .names = names
	};
	int r;

	profile_tasks_init(&tasks, s);
	r = write_format(&walk, x->profile_format, path, e);
	profile_tasks_done(&tasks);
	return r;
}

static int write_named(struct sample_source *s, const struct extract *x, const char *path,
		       struct error *e)
{
	struct http_symbols from;
	struct symbols *symbols = NULL;
	struct profile_names *names = NULL;
	int r;

	http_symbols_init(&from, &x->q->http->options);
	r = http_symbols_open(&from, &symbols, e);
	if (r >= 0)
		r = profile_names_new(&names, s, symbols, e);
	if (r >= 0 && x->machines) {
		r = write_machines(s, x, names, path, e);
		if (r == -ENODATA) {
			r = s->ops->rewind(s, e);
			if (r >= 0)
				r = write_samples(s, x, names, path, e);
		}
	} else if (r >= 0) {
		r = write_samples(s, x, names, path, e);
	}
	profile_names_free(names);
	symbols_free(symbols);
	return r;
}

int extract_write_profile(struct extract *x, const char *path, const char *folder, struct error *e)
{
	struct careful c = { .source = *x->profile, .inner = x->profile, .x = x, .folder = folder };

	c.source.ops = &careful_ops;
	return x->profile_format
		       ? write_named(&c.source, x, path, e)
		       : sample_pack_file(path, &c.source, sample_ksk_reader(x->profile), e);
}
