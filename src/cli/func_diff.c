/* SPDX-License-Identifier: MIT */
/* func diff: two traces side by side: what got slower, faster, what is new, what is gone. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/call_diff.h"
#include "analysis/call_json.h"
#include "cli/func_print.h"
#include "cli/func_reading.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/units.h"
#include "command/say.h"

#define LIMIT_DEFAULT 10

struct diff {
	struct func_reading before, after;
	struct call_report *reports[2];
	struct call_diff *diff;
	size_t order;
	uint64_t limit, min_ns;
	const char *pattern;
};

enum section { SLOWER, FASTER, NEW, GONE, SAME };

static enum section section_of(const struct call_change *c, enum call_order order)
{
	int64_t by = call_change_by(c, order);

	if (!c->before)
		return NEW;
	if (!c->after)
		return GONE;
	return by > 0 ? SLOWER : by < 0 ? FASTER : SAME;
}

static const char *figure(const struct call_stat *s, enum call_order order, char text[UNITS_LEN])
{
	uint64_t value = call_stat_figure(s, order);

	if (!s)
		return "-";
	if (order != CALL_BY_CALLS)
		return units_duration(value, text);
	snprintf(text, UNITS_LEN, "%" PRIu64, value);
	return text;
}

static const char *change(int64_t by, enum call_order order, char text[UNITS_LEN])
{
	uint64_t size = by < 0 ? -(uint64_t)by : (uint64_t)by;
	char plain[UNITS_LEN];

	if (order == CALL_BY_CALLS)
		snprintf(plain, sizeof(plain), "%" PRIu64, size);
	else
		units_duration(size, plain);
	snprintf(text, UNITS_LEN, "%c%.24s", by < 0 ? '-' : '+', plain);
	return text;
}

static void print_change(struct diff *d, const struct call_change *c)
{
	enum call_order order = (enum call_order)d->order;
	uint64_t before = call_stat_figure(c->before, order);
	int64_t by = call_change_by(c, order);
	char a[4][UNITS_LEN];

	printf("%9s %9s %9s", figure(c->before, order, a[0]), figure(c->after, order, a[1]),
	       change(by, order, a[2]));
	if (before && c->after)
		printf(" %7s%%",
		       units_percent(by < 0 ? -(uint64_t)by : (uint64_t)by, before, a[3]));
	else
		printf(" %8s", "-");
	printf(" %9" PRIu64 " %9" PRIu64 "  ", c->before ? c->before->calls : 0,
	       c->after ? c->after->calls : 0);
	if (c->after)
		func_print_name(d->after.names, c->after->function, false);
	else
		func_print_name(d->before.names, c->before->function, false);
}

/* What shrank most stands last in the list, and first in its section. */
static void print_section(struct diff *d, enum section which, const char *title)
{
	const struct call_change *c, *each;
	uint64_t shown = 0, more = 0;
	size_t n, i;

	c = call_diff_get(d->diff, &n);
	for (i = 0; i < n; i++) {
		each = which == FASTER || which == GONE ? &c[n - 1 - i] : &c[i];
		if (section_of(each, (enum call_order)d->order) != which)
			continue;
		if (d->limit && shown == d->limit) {
			more++;
			continue;
		}
		if (!shown++)
			printf("\n%s%s\n   before     after    change   change     calls     "
			       "after  function%s\n",
			       say_style(stdout, STYLE_HEAD), title,
			       say_style(stdout, STYLE_PLAIN));
		print_change(d, each);
	}
	if (more)
		printf("%s          ... and %" PRIu64 " more; --limit 0 shows all%s\n",
		       say_style(stdout, STYLE_DIM), more, say_style(stdout, STYLE_PLAIN));
}

static void print_diff(struct diff *d)
{
	char a[2][UNITS_LEN];

	printf("%s: %" PRIu64 " calls, %s of local time\n", d->before.path,
	       call_report_totals(d->reports[0])->counts.calls,
	       units_duration(call_split_sum(call_report_local(d->reports[0])), a[0]));
	printf("%s: %" PRIu64 " calls, %s of local time\n", d->after.path,
	       call_report_totals(d->reports[1])->counts.calls,
	       units_duration(call_split_sum(call_report_local(d->reports[1])), a[1]));
	print_section(d, SLOWER, d->order == CALL_BY_CALLS ? "Called more" : "Slower");
	print_section(d, FASTER, d->order == CALL_BY_CALLS ? "Called less" : "Faster");
	print_section(d, NEW, "New");
	print_section(d, GONE, "Gone");
}

static int read_one(struct diff *d, const struct args *a, int which, struct error *e)
{
	struct func_reading *in = which ? &d->after : &d->before;
	int r = func_reading_open(in, a, a->operands[which], e);

	if (r >= 0)
		r = call_report_new(&d->reports[which], &in->walk, e);
	if (r < 0)
		return r;
	func_reading_warn(in);
	call_report_filter(d->reports[which], d->pattern, d->min_ns);
	return 0;
}

static int read_options(struct diff *d, const struct args *a, struct error *e)
{
	d->limit = LIMIT_DEFAULT;
	d->order = CALL_BY_LOCAL;
	d->pattern = args_get(a, "function");
	if (args_get_count(a, "limit", &d->limit, e) < 0 ||
	    args_get_word(a, "sort", call_order_words, &d->order, e) < 0)
		return -EINVAL;
	return func_reading_length(a, "min-time", &d->min_ns, e);
}

static void diff_done(struct diff *d)
{
	call_diff_free(d->diff);
	call_report_free(d->reports[0]);
	call_report_free(d->reports[1]);
	func_reading_close(&d->before);
	func_reading_close(&d->after);
}

static int run(const struct args *a)
{
	__attribute__((cleanup(diff_done))) struct diff d = { 0 };
	struct error e = ERROR_INIT;
	int r;

	if (read_options(&d, a, &e) < 0)
		return say_usage(&e);
	r = read_one(&d, a, 0, &e);
	if (r >= 0)
		r = read_one(&d, a, 1, &e);
	if (r >= 0)
		r = call_diff_new(&d.diff, d.reports[0], d.reports[1], &e);
	if (r < 0)
		return say_failure(&e);
	call_diff_sort(d.diff, (enum call_order)d.order);
	if (args_has(a, "json"))
		return jsonout_print(call_diff_json(d.diff, args_has(a, "limit") ? d.limit : 0));
	print_diff(&d);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 's', "sort", "KEY", "what is compared: local (default) total calls avg max",
	  "local total calls avg max" },
	{ 'n', "limit", "N", "show this many functions of each kind (10); 0: all", NULL },
	{ 'f', "function", "PATTERN", "only functions with such names: 'read_*'", NULL },
	{ 0, "min-time", "TIME", "only functions that took at least this: 10us", NULL },
	{ 0, "json", NULL, "print JSON (docs/reports.md)", NULL },
	FUNC_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What did the new version make slower?", "kiseki func diff old.ksk new.ksk" },
	{ NULL, NULL },
};

const struct command command_func_diff = {
	.name = "diff",
	.summary = "compare two traces: what got slower, faster, is new, is gone",
	.usage = "BEFORE AFTER [--sort KEY] [OPTION...]",
	.description = "Functions are the same in both if their names are, and the names of their "
		       "files. --sort says which figure is compared.",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = "FILE",
	.operands_min = 2,
	.operands_max = 2,
	.run = run,
};
