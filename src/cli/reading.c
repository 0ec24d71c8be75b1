/* SPDX-License-Identifier: MIT */
/* reading: see reading.h. */
#include "cli/reading.h"

#include <string.h>

#include "cli/say.h"
#include "trace/filter.h"
#include "trace/filter_parse.h"

static const char *option(const struct args *a, const char *name)
{
	const struct cli_option *o = a->command->options;
	size_t i;

	for (i = 0; o && o[i].name; i++)
		if (!strcmp(o[i].name, name))
			return a->values[i];
	return NULL;
}

static int parse_from(struct trace_filter *f, const char *text, struct error *e)
{
	return filter_parse_time(&f->from, text, e);
}

static int parse_to(struct trace_filter *f, const char *text, struct error *e)
{
	return filter_parse_time(&f->to, text, e);
}

/* Puts a filter in front of the source if one of the options asks for it. */
static int select_items(struct reading *r, struct trace_filter *f, const struct args *a,
			struct error *e)
{
	static const struct {
		const char *name;
		int (*parse)(struct trace_filter *f, const char *text, struct error *e);
	} parsers[] = {
		{ "from", parse_from },		{ "to", parse_to },
		{ "cpu", filter_parse_cpus },	{ "pid", filter_parse_pids },
		{ "comm", filter_parse_comms }, { "event", filter_parse_kinds },
	};
	struct trace_source *filtered;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
		const char *text = option(a, parsers[i].name);

		rc = text ? parsers[i].parse(f, text, e) : 0;
		if (rc < 0) {
			r->misused = true;
			return error_prefix(e, rc, "cannot take --%s", parsers[i].name);
		}
	}
	if (filter_is_empty(f))
		return 0;
	rc = filter_source_new(&filtered, r->source, f, e);
	if (rc >= 0)
		r->source = filtered;
	return rc;
}

int reading_open(struct reading *r, const struct args *a, const char *path, struct error *e)
{
	struct trace_filter filter;
	int rc;

	r->path = path;
	rc = input_open(&r->input, path, e);
	if (rc < 0)
		return rc;
	r->source = input_take_source(r->input);
	filter_init(&filter);
	rc = select_items(r, &filter, a, e);
	filter_done(&filter);
	if (rc < 0)
		return rc;
	progress_init(&r->progress, r->source, "reading");
	return 0;
}

int reading_next(struct reading *r, struct trace_item *item, struct error *e)
{
	int rc = r->source->ops->next(r->source, item, e);

	progress_step(&r->progress);
	if (rc <= 0)
		progress_done(&r->progress);
	return rc < 0 ? input_error(r->path, rc, e) : rc;
}

int reading_failure(struct reading *r, const struct error *e)
{
	progress_done(&r->progress);
	return r->misused ? say_usage(e) : say_failure(e);
}

void reading_close(struct reading *r)
{
	progress_done(&r->progress);
	source_free(r->source);
	input_free(r->input);
	memset(r, 0, sizeof(*r));
}
