/* SPDX-License-Identifier: MIT */
/* reading: see reading.h. */
#include "cli/reading.h"

#include <errno.h>
#include <string.h>

#include "command/say.h"
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

/* Reads the command's options into the filters: which items to read, which tasks to report on. */
static int parse_filters(struct reading *r, const struct args *a, struct trace_filter *items,
			 struct trace_filter *tasks, struct error *e)
{
	const struct {
		const char *name;
		int (*parse)(struct trace_filter *f, const char *text, struct error *e);
		struct trace_filter *filter;
	} parsers[] = {
		{ "from", parse_from, items },	     { "to", parse_to, items },
		{ "cpu", filter_parse_cpus, items }, { "event", filter_parse_kinds, items },
		{ "pid", filter_parse_pids, tasks }, { "comm", filter_parse_comms, tasks },
	};
	size_t i;
	int rc;

	for (i = 0; i < sizeof(parsers) / sizeof(parsers[0]); i++) {
		const char *text = option(a, parsers[i].name);

		rc = text ? parsers[i].parse(parsers[i].filter, text, e) : 0;
		if (rc < 0) {
			r->misused = true;
			return error_prefix(e, rc, "cannot take --%s", parsers[i].name);
		}
	}
	filter_settle(tasks);
	return 0;
}

static int get_rate(struct reading *r, const struct args *a, uint64_t *ret, struct error *e)
{
	const char *text = option(a, "clock-hz");

	if (!text || clock_parse_rate(text, ret) == 0)
		return 0;
	r->misused = true;
	return error_set(e, EINVAL,
			 "cannot take --clock-hz: \"%.32s\" is not a rate; write 2.5G, 1200M or "
			 "50000000",
			 text);
}

/* Ticks of unknown length are shown as such. There are no times to select by, and no report on them. */
static int check_ticks(const struct reading *r, const struct trace_filter *items, bool report,
		       struct error *e)
{
	const struct trace_clock *clock = &r->source->info.clock;

	if (!clock_is_ticks(clock) || !(report || items->from.given || items->to.given))
		return 0;
	return error_set(e, EINVAL,
			 "cannot %s %s: its clock %s counts ticks of unknown length; say with "
			 "--clock-hz how many there are in a second",
			 report ? "report on" : "select by time in", r->path, clock->name);
}

/* Puts the filter in front of the source if it asks for anything. */
static int select_items(struct reading *r, struct trace_filter *items, struct error *e)
{
	struct trace_source *filtered;
	int rc;

	if (filter_is_empty(items))
		return 0;
	r->is_part = true;
	rc = filter_source_new(&filtered, r->source, items, e);
	if (rc >= 0)
		r->source = filtered;
	return rc;
}

static int open_selected(struct reading *r, const struct args *a, bool report, struct error *e)
{
	struct trace_filter items;
	uint64_t clock_hz = 0;
	int rc;

	rc = get_rate(r, a, &clock_hz, e);
	if (rc == 0)
		rc = input_open_rate(&r->input, r->path, clock_hz, e);
	if (rc < 0)
		return rc;
	r->source = input_take_source(r->input);
	filter_init(&items);
	rc = parse_filters(r, a, &items, report ? &r->tasks : &items, e);
	if (rc >= 0)
		rc = check_ticks(r, &items, report, e);
	if (rc >= 0)
		rc = filter_find_lives(&r->tasks, r->source, e);
	if (rc >= 0)
		rc = select_items(r, &items, e);
	filter_done(&items);
	if (rc < 0)
		return rc;
	progress_init(&r->progress, r->source, "reading");
	return 0;
}

int reading_open(struct reading *r, const struct args *a, const char *path, struct error *e)
{
	r->path = path;
	return open_selected(r, a, false, e);
}

int reading_open_report(struct reading *r, const struct args *a, const char *path, struct error *e)
{
	r->path = path;
	return open_selected(r, a, true, e);
}

int reading_next(struct reading *r, struct trace_item *item, struct error *e)
{
	int rc = r->source->ops->next(r->source, item, e);

	progress_step(&r->progress);
	r->has_items |= rc > 0;
	if (rc <= 0)
		progress_done(&r->progress);
	return rc < 0 ? input_error(r->path, rc, e) : rc;
}

int reading_expect_items(const struct reading *r, struct error *e)
{
	if (r->has_items || r->is_part)
		return 0;
	return error_set(e, ENODATA,
			 "cannot report on %s: it has no events of the scheduler; kiseki info says "
			 "what it has",
			 r->path);
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
	filter_done(&r->tasks);
	memset(r, 0, sizeof(*r));
}
