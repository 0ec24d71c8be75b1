/* SPDX-License-Identifier: MIT */
/*
 * http_vm: …/vm/report, steal, correct, tree and slices: what `kiseki vm` says with --json, and spans for a timeline.
 *
 * What a virtual CPU does at a moment, the last of its events before tells, and that may be long ago: so the first that asks of a run reads
 * it from its start. It leaves marks, and who asks for a part of the run later begins with the last one before it.
 */
#include <errno.h>
#include <microhttpd.h>
#include <string.h>

#include "analysis/vm_json.h"
#include "analysis/vm_slices.h"
#include "collector/http_marks.h"
#include "collector/http_profile.h"
#include "trace/sample_ksk.h"

#define ROWS_MOST 1000000U
#define SPANS_DEFAULT 200000U
#define WIDTH_DEFAULT 1000U
#define NODES_DEFAULT 20000U

struct http_vm {
	struct http_profile profile;
	struct vm_names *names;
	struct vm_report *report;
	bool with_cells; /* set before it is opened */
	struct vm_json json;
	struct marks *marks;	     /* of a run that has ended */
	struct sample_source *later; /* the run from a mark on */
};

/* Where a reading begins. */
struct place {
	struct sample_source *source;
	const void *state; /* of a mark, and its tick; NULL: none, at the start */
	uint64_t tick;
};

static void http_vm_close(struct http_vm *v)
{
	vm_report_free(v->report);
	vm_names_free(v->names);
	marks_unref(v->marks);
	sample_source_free(v->later);
	http_profile_close(&v->profile);
}
#define CLEANUP_HTTP_VM __attribute__((cleanup(http_vm_close)))

static int open_names(struct http_vm *v, struct http_request *q, struct error *e)
{
	struct http_profile *p = &v->profile;
	int r = http_profile_open(p, q, &http_range_of_path, true, e);
	struct vm_names_options o = { .source = p->source };

	if (r < 0)
		return r;
	o.symbols = http_symbols_guests(&p->from);
	o.guests = p->source->guests;
	return vm_names_new(&v->names, &o, e);
}

/* What is said of a run that has none tells which run. */
static int name_run(const struct http_vm *v, int r, struct error *e)
{
	return r == -ENODATA && v->profile.source
		       ? error_prefix(e, ENODATA, "run %u", v->profile.selection.run.number)
		       : r;
}

/* At the last mark before a time, if there is one. Names are looked up by what the first source told. */
static int find_place(struct http_vm *v, enum http_marks_kind kind, uint64_t from_ns,
		      struct place *ret, struct error *e)
{
	const struct http_profile *p = &v->profile;
	struct store_range range = { 0, UINT64_MAX };
	int r;

	*ret = (struct place){ .source = p->source };
	if (!p->selection.run.ended)
		return 0;
	v->marks = http_marks_get(p->q->http->marks, p->selection.run.number, kind);
	if (!v->marks)
		return error_set(e, ENOMEM, "cannot read the virtual machines: out of memory");
	ret->state =
		marks_get(v->marks, clock_tick_at(&p->selection.clock, from_ns), &range.from_tick);
	if (!ret->state)
		return 0;
	r = sample_ksk_open_part(p->q->http->options.store, p->selection.run.number, &range,
				 &v->later, e);
	ret->tick = range.from_tick;
	ret->source = v->later;
	return r;
}

static int open_report(struct http_vm *v, struct http_request *q, struct error *e)
{
	int r = http_target_get_count(&q->target, "limit", (struct http_bounds){ 1, ROWS_MOST },
				      &v->json.limit, e);
	struct vm_report_options o = { .step = http_profile_step,
				       .step_data = &v->profile,
				       .with_cells = v->with_cells };
	struct place place;

	if (r >= 0)
		r = open_names(v, q, e);
	if (r >= 0)
		r = find_place(v, HTTP_MARKS_VM_REPORT, v->profile.select.from_ns, &place, e);
	if (r < 0)
		return r;
	o.source = place.source;
	o.marks = v->marks;
	o.resume = place.state;
	o.resume_tick = place.tick;
	o.names = v->names;
	o.host = v->profile.names;
	o.from_ns = v->profile.select.from_ns;
	o.to_ns = v->profile.select.to_ns;
	r = vm_report_new(&v->report, &o, e);
	if (r < 0)
		return name_run(v, r, e);
	v->json.report = v->report;
	v->json.names = v->names;
	v->json.host = v->profile.names;
	v->json.source = v->profile.source;
	return 0;
}

int http_vm_report(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_VM struct http_vm v = { .names = NULL };
	size_t by = VM_BY_FUNCTION;
	int r = http_target_get_word(&q->target, "by", vm_level_words, &by, e);

	if (r >= 0)
		r = open_report(&v, q, e);
	return r < 0 ? r
		     : http_reply_json(reply, vm_report_json(&v.json, (enum vm_level)by),
				       JSON_COMPACT, e);
}

int http_vm_steal(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_VM struct http_vm v = { .names = NULL };
	int r = open_report(&v, q, e);

	return r < 0 ? r : http_reply_json(reply, vm_steal_json(&v.json), JSON_COMPACT, e);
}

int http_vm_correct(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_VM struct http_vm v = { .names = NULL };
	size_t by = VM_BY_PROCESS;
	int r = http_target_get_word(&q->target, "by", vm_level_words, &by, e);

	if (r >= 0)
		r = open_report(&v, q, e);
	return r < 0 ? r
		     : http_reply_json(reply, vm_correct_json(&v.json, (enum vm_level)by),
				       JSON_COMPACT, e);
}

/* --- the tree --- */

static int get_nodes(struct http_request *q, struct vm_shape *shape, struct profile_fold_options *o,
		     struct error *e)
{
	static const char *const choices[] = { "0", "1", NULL };
	size_t vcpus = 0, threads = 0;
	uint64_t depth = 0;
	int r = http_target_get_word(&q->target, "vcpus", choices, &vcpus, e);

	if (r >= 0)
		r = http_target_get_word(&q->target, "threads", choices, &threads, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "limit",
					  (struct http_bounds){ 1, PROFILE_FOLD_ROWS_MAX },
					  &o->limit, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "depth",
					  (struct http_bounds){ 1, UINT32_MAX }, &depth, e);
	if (r >= 0)
		r = http_target_get_count(&q->target, "min", (struct http_bounds){ 0, INT64_MAX },
					  &o->least, e);
	o->depth = (uint32_t)depth;
	*shape = (struct vm_shape){ .groups = true, .vcpus = vcpus, .threads = threads };
	return r;
}

static int reply_tree(const struct http_vm *v, const struct vm_shape *shape,
		      const struct profile_fold_options *o, struct http_reply *reply,
		      struct error *e)
{
	const struct vm_tree_options options = { .report = v->report,
						 .names = v->names,
						 .host = v->profile.names,
						 .source = v->profile.source,
						 .shape = *shape };
	CLEANUP(profile_fold) struct profile_fold *fold = NULL;
	CLEANUP_VM_TREE struct vm_tree t = { .tree = NULL };
	int r = vm_tree_init(&t, &options);

	if (r >= 0)
		r = vm_tree_fill(&t);
	if (r < 0)
		return error_set(e, -r, "cannot make the tree: %s", strerror(-r));
	r = profile_fold_new(&fold, t.tree, o, e);
	return r < 0 ? r : http_reply_json(reply, vm_tree_json(&t, fold), JSON_COMPACT, e);
}

int http_vm_tree(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_VM struct http_vm v = { .with_cells = true };
	struct profile_fold_options o = { .limit = NODES_DEFAULT, .value = PROFILE_WEIGHT };
	struct vm_shape shape;
	int r = get_nodes(q, &shape, &o, e);

	if (r >= 0)
		r = open_report(&v, q, e);
	return r < 0 ? r : reply_tree(&v, &shape, &o, reply, e);
}

/* --- slices --- */

static int get_slices(struct http_request *q, struct vm_slices_options *o, struct error *e)
{
	int r = http_target_get_count(&q->target, "width",
				      (struct http_bounds){ 1, VM_SLICES_WIDTH_MAX }, &o->width, e);

	return r < 0 ? r
		     : http_target_get_count(&q->target, "limit",
					     (struct http_bounds){ 1, VM_SLICES_ROWS_MAX },
					     &o->limit, e);
}

static int make_slices(struct http_vm *v, struct vm_slices_options *o, struct http_reply *reply,
		       struct error *e)
{
	const struct vm_slices_about about = { v->profile.selection.run.number,
					       v->profile.selection.run.ended };
	CLEANUP(vm_slices) struct vm_slices *s = NULL;
	struct place place;
	char *text = NULL;
	size_t len = 0;
	int r = find_place(v, HTTP_MARKS_VM, o->from_ns, &place, e);

	if (r < 0)
		return r;
	o->source = place.source;
	o->marks = v->marks;
	o->resume = place.state;
	o->resume_tick = place.tick;
	r = vm_slices_new(&s, o, e);
	if (r == -E2BIG)
		reply->status = MHD_HTTP_CONTENT_TOO_LARGE;
	if (r < 0)
		return name_run(v, r, e);
	if (vm_slices_format(s, &about, &text, &len) < 0)
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	return http_reply_text(reply, "application/json", text, len, e);
}

int http_vm_slices(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_HTTP_VM struct http_vm v = { .names = NULL };
	struct vm_slices_options o = { .width = WIDTH_DEFAULT, .limit = SPANS_DEFAULT };
	int r = get_slices(q, &o, e);

	if (r >= 0)
		r = open_names(&v, q, e);
	if (r < 0)
		return r;
	o.names = v.names;
	o.from_ns = v.profile.from_ns;
	o.to_ns = v.profile.to_ns;
	o.step = http_profile_step;
	o.step_data = &v.profile;
	return make_slices(&v, &o, reply, e);
}
