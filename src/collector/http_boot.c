/* SPDX-License-Identifier: MIT */
/*
 * http_boot: GET …/boot.html, …/boot.svg, …/boot.chart.json and …/boot.json: the chart of a boot, drawn while the client
 * waits; with=RUN puts a second boot beside it.
 *
 * A scheduler's run of the same boot makes it exact (analysis/boot_run.h), unless sampled=1 is asked for. What is drawn
 * goes to a file without a name first: it may be large, and a client that reads slowly holds no memory. Charts
 * count as exports, since each holds a thread and a model in memory for as long as it is made.
 *
 * The page carries a policy of its own beside that of all answers, and is as safe as its names are: boot_text.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/boot_moment.h"
#include "base/when.h"
#include "chart/boot_json.h"
#include "chart/boot_layout.h"
#include "collector/http_boot.h"
#include "collector/http_range.h"

typedef int (*put_chart)(FILE *f, const struct boot *b, const struct boot_chart_options *o,
			 struct error *e);

struct chart {
	struct http_request *q;
	put_chart put;
	const char *type;
};

static int put_json(FILE *f, const struct boot *b, const struct boot_chart_options *o,
		    struct error *e)
{
	(void)o;
	return boot_json_write(f, b, e);
}

/* --- what is asked for --- */

int http_boot_get_flag(struct http_request *q, const char *name, bool *ret, struct error *e)
{
	const char *text = http_target_get(&q->target, name);

	*ret = text && !strcmp(text, "1");
	if (text && strcmp(text, "1") != 0 && strcmp(text, "0") != 0)
		return error_set(e, EINVAL, "cannot take %s=%s: it is 0 or 1", name, text);
	return 0;
}

/* path= is the target, path=MOMENT another. */
static int get_path(struct http_request *q, const struct boot *b, struct boot_chart_options *o,
		    struct error *e)
{
	const char *text = http_target_get(&q->target, "path");
	struct boot_moment to = { .process = BOOT_NONE };
	int r;

	o->path = text != NULL;
	if (!text || !*text)
		return 0;
	r = boot_moment_parse(text, b, &to, e);
	if (r < 0)
		return error_prefix(e, EINVAL, "cannot take path=%s", text);
	o->path_ns = to.ns;
	o->path_of = to.process == BOOT_NONE ? 0 : to.process + 1;
	return 0;
}

static int get_options(struct http_request *q, const struct boot *b, struct boot_chart_options *o,
		       struct error *e)
{
	const char *least = http_target_get(&q->target, "min");
	uint64_t width = 0;
	int r = http_boot_get_flag(q, "kernel", &o->kernel, e);

	if (r >= 0 && least && when_parse_length(least, &o->min_ns, e) < 0)
		r = error_prefix(e, EINVAL, "cannot take min=%s", least);
	if (r >= 0)
		r = http_target_get_count(&q->target, "width",
					  (struct http_bounds){ 1, BOOT_LAYOUT_WIDTH_MAX }, &width,
					  e);
	o->width = (uint32_t)width;
	return r < 0 ? r : get_path(q, b, o, e);
}

/* --- drawing --- */

static int open_file(FILE **ret, struct error *e)
{
	const char *tmp = getenv("TMPDIR");
	char path[256];
	int fd;

	if (!tmp || *tmp != '/' || strlen(tmp) > 200)
		tmp = "/var/tmp";
	snprintf(path, sizeof(path), "%s/kiseki-chart-XXXXXX", tmp);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return error_set(e, errno, "cannot draw: no file in %s: %s", tmp, strerror(errno));
	unlink(path);
	*ret = fdopen(fd, "w+");
	if (!*ret) {
		close(fd);
		return error_set(e, ENOMEM, "cannot draw: out of memory");
	}
	return 0;
}

static int reply_file(struct http_reply *reply, FILE *f, struct error *e)
{
	int fd = fflush(f) ? -1 : fcntl(fileno(f), F_DUPFD_CLOEXEC, 0), r;
	struct http_range range = { 0, 0 };
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0) {
		r = error_set(e, errno, "cannot draw: %s", strerror(errno));
	} else {
		range.len = (uint64_t)st.st_size;
		reply->length = range.len;
		reply->may_code = true;
		r = http_body_new_file(&reply->body, fd, &range, e);
	}
	if (r < 0 && fd >= 0)
		close(fd);
	return r;
}

static int draw(const struct chart *c, const struct boot *b, const struct boot *other,
		struct http_reply *reply, struct error *e)
{
	struct boot_chart_options o = { .other = other };
	FILE *f = NULL;
	int r = get_options(c->q, b, &o, e);

	if (r >= 0 && http_request_is_over(c->q))
		r = error_set(e, ECANCELED, "the client has gone");
	if (r >= 0)
		r = open_file(&f, e);
	if (r >= 0)
		r = c->put(f, b, &o, e);
	if (r >= 0)
		r = reply_file(reply, f, e);
	if (f)
		fclose(f);
	return r;
}

int http_boot_open_other(struct http_request *q, bool exact, struct boot **ret, struct error *e)
{
	struct store *store = q->http->options.store;
	struct boot_run run = { .boot = NULL };
	struct store_run found;
	uint64_t number = 0;
	int r = http_target_get_count(&q->target, "with", (struct http_bounds){ 1, UINT32_MAX },
				      &number, e);

	if (r < 0 || !number)
		return r;
	r = store_get_run(store, (uint32_t)number, &found, e);
	if (r == -ENOENT)
		return error_set(e, ENOENT, "there is no run %u", (uint32_t)number);
	if (r >= 0)
		r = boot_run_open(&run, store, &found, exact, e);
	if (r >= 0)
		*ret = run.boot;
	return r;
}

static int chart_run(const struct chart *c, struct http_reply *reply, struct error *e)
{
	CLEANUP(boot) struct boot *other = NULL;
	struct boot_run run = { .boot = NULL };
	struct store_run found;
	bool sampled = false;
	int r = http_boot_get_flag(c->q, "sampled", &sampled, e);

	if (r >= 0)
		r = http_range_find_run(c->q, HTTP_RUN_BOOT, &found, e);
	if (r >= 0)
		r = boot_run_open(&run, c->q->http->options.store, &found, !sampled, e);
	if (r < 0)
		return r;
	reply->type = c->type;
	if (run.sched)
		snprintf(reply->note, sizeof(reply->note),
			 run.has_common_clock
				 ? "exact by run %u of the scheduler"
				 : "run %u of the scheduler has no clock in common: left out",
			 run.sched);
	r = http_boot_open_other(c->q, !sampled, &other, e);
	if (r >= 0)
		r = draw(c, run.boot, other, reply, e);
	boot_free(run.boot);
	return r;
}

static int chart(const struct chart *c, struct http_reply *reply, struct error *e)
{
	atomic_uint *busy = &c->q->http->exports;
	int r;

	if (atomic_fetch_add(busy, 1) >= HTTP_EXPORTS_MAX)
		r = error_set(e, EBUSY, "%u exports are under way; try again later",
			      HTTP_EXPORTS_MAX);
	else
		r = chart_run(c, reply, e);
	atomic_fetch_sub(busy, 1);
	return r;
}

int http_boot_html(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return chart(&(struct chart){ q, boot_chart_html, "text/html; charset=utf-8" }, reply, e);
}

int http_boot_svg(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return chart(&(struct chart){ q, boot_chart_svg, "image/svg+xml" }, reply, e);
}

int http_boot_data(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return chart(&(struct chart){ q, boot_chart_data, "application/json" }, reply, e);
}

int http_boot_json(struct http_request *q, struct http_reply *reply, struct error *e)
{
	return chart(&(struct chart){ q, put_json, "application/json" }, reply, e);
}
