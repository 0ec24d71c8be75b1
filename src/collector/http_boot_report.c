/* SPDX-License-Identifier: MIT */
/*
 * http_boot_report: GET …/boot/report and …/boot/diff: what `kiseki boot report` and `boot diff` say with --json.
 *
 * The report also says which run of the scheduler has the same time, and how their clocks differ, so that a page can show
 * a moment of the boot there. Each holds a thread and one or two boots in memory, so it counts as an export does.
 */
#include <errno.h>
#include <string.h>

#include "analysis/boot_report_json.h"
#include "base/when.h"
#include "collector/http_boot.h"
#include "collector/http_range.h"

#define LIMIT_MAX 100000U
#define MIN_DEFAULT_NS 10000000ULL /* or, of a short recording, a hundredth of it */
#define MIN_DEFAULT_PART 100U

struct wanted {
	uint64_t limit, min_ns;
	bool has_min, kernel, path, sampled;
};

/* The boot of the path of the request, and the other one. */
struct opened {
	struct boot_run run;
	struct boot *other;
	atomic_uint *busy;
};

static void opened_done(struct opened *o)
{
	boot_free(o->run.boot);
	boot_free(o->other);
	if (o->busy)
		atomic_fetch_sub(o->busy, 1);
}
#define CLEANUP_OPENED __attribute__((cleanup(opened_done)))

static int get_wanted(struct http_request *q, struct wanted *w, struct error *e)
{
	const char *least = http_target_get(&q->target, "min");
	int r = http_target_get_count(&q->target, "limit", (struct http_bounds){ 1, LIMIT_MAX },
				      &w->limit, e);

	w->has_min = least != NULL;
	if (r >= 0 && least && when_parse_length(least, &w->min_ns, e) < 0)
		r = error_prefix(e, EINVAL, "cannot take min=%s", least);
	if (r >= 0)
		r = http_boot_get_flag(q, "kernel", &w->kernel, e);
	if (r >= 0)
		r = http_boot_get_flag(q, "path", &w->path, e);
	return r < 0 ? r : http_boot_get_flag(q, "sampled", &w->sampled, e);
}

static int open_boots(struct http_request *q, const struct wanted *w, struct opened *o,
		      struct error *e)
{
	struct store_run found;
	int r;

	o->busy = &q->http->exports;
	if (atomic_fetch_add(o->busy, 1) >= HTTP_EXPORTS_MAX)
		return error_set(e, EBUSY, "%u exports are under way; try again later",
				 HTTP_EXPORTS_MAX);
	r = http_range_find_run(q, HTTP_RUN_BOOT, &found, e);
	if (r >= 0)
		r = boot_run_open(&o->run, q->http->options.store, &found, !w->sampled, e);
	if (r >= 0)
		r = http_boot_open_other(q, !w->sampled, &o->other, e);
	if (r >= 0 && http_request_is_over(q))
		r = error_set(e, ECANCELED, "the client has gone");
	return r;
}

/* --- report --- */

/* Without one that shares a clock: null. */
static json_t *sched_json(const struct boot_run *run)
{
	if (!run->sched || !run->has_common_clock)
		return json_null();
	return json_pack("{sI sI}", "run", (json_int_t)run->sched, "offset_ns",
			 (json_int_t)run->offset_ns);
}

static int make_report(struct http_request *q, const struct wanted *w, const struct boot *b,
		       json_t **ret, struct error *e)
{
	CLEANUP(boot_report) struct boot_report *report = NULL;
	CLEANUP(boot_path) struct boot_path *path = NULL;
	struct boot_report_options o = { w->min_ns, w->kernel };
	uint64_t part = (b->to_ns - b->from_ns) / MIN_DEFAULT_PART;
	const char *text = http_target_get(&q->target, "to");
	struct boot_moment to = { .process = BOOT_NONE };
	int r = text ? boot_moment_parse(text, b, &to, e) : 0;

	if (r < 0)
		return error_prefix(e, EINVAL, "cannot take to=%s", text);
	if (!w->has_min)
		o.min_ns = part < MIN_DEFAULT_NS ? part : MIN_DEFAULT_NS;
	r = boot_report_new(&report, b, text ? &to : NULL, &o);
	if (r >= 0 && w->path)
		r = boot_path_new(&path, b, report->to.process, report->to.ns);
	if (r < 0)
		return error_set(e, -r, "cannot report on the boot: %s", strerror(-r));
	*ret = boot_report_json(report, path, w->limit);
	return 0;
}

int http_boot_report(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_OPENED struct opened o = { .busy = NULL };
	struct wanted w = { .limit = 0 };
	json_t *document = NULL;
	int r = get_wanted(q, &w, e);

	if (r >= 0)
		r = open_boots(q, &w, &o, e);
	if (r >= 0)
		r = make_report(q, &w, o.run.boot, &document, e);
	if (r < 0)
		return r;
	json_object_set_new(document, "sched", sched_json(&o.run));
	return http_reply_json(reply, document, JSON_COMPACT, e);
}

/* --- diff --- */

int http_boot_diff(struct http_request *q, struct http_reply *reply, struct error *e)
{
	CLEANUP_OPENED struct opened o = { .busy = NULL };
	CLEANUP(boot_diff) struct boot_diff *diff = NULL;
	struct wanted w = { .limit = 0 };
	struct boot_diff_json_options options;
	int r = get_wanted(q, &w, e);

	if (r >= 0 && !http_target_get(&q->target, "with"))
		r = error_set(e, EINVAL, "cannot compare: with=RUN says with what");
	if (r >= 0)
		r = open_boots(q, &w, &o, e);
	if (r < 0)
		return r;
	r = boot_diff_new(&diff, o.run.boot, o.other);
	if (r < 0)
		return error_set(e, -r, "cannot compare the boots: %s", strerror(-r));
	options = (struct boot_diff_json_options){ w.limit, w.has_min ? w.min_ns : MIN_DEFAULT_NS,
						   w.kernel };
	return http_reply_json(reply, boot_diff_json(diff, &options), JSON_COMPACT, e);
}
