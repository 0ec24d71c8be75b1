/* SPDX-License-Identifier: MIT */
/* profile diff: two profiles side by side, by their shares. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/profile_diff.h"
#include "analysis/profile_json.h"
#include "chart/flame_chart.h"
#include "cli/fleet_asking.h"
#include "cli/fleet_diff.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/profile_print.h"
#include "cli/profile_reading.h"
#include "command/say.h"

#define LIMIT_DEFAULT 10
#define LEAST 0.005 /* of a percent: a change that shows as 0.01 */

struct diff {
	struct profile_reading in[2];
	struct profile_report *reports[2];
	struct profile_diff *diff;
	size_t by, order;
	uint64_t limit;
	const char *flame;
};

static double change_of(const struct diff *d, const struct profile_change *c)
{
	enum profile_order order = (enum profile_order)d->order;

	return profile_diff_share(d->diff, c, 1, order) - profile_diff_share(d->diff, c, 0, order);
}

static const char *share(const struct diff *d, const struct profile_change *c, int which,
			 char text[UNITS_LEN])
{
	if (!(which ? c->after : c->before))
		return "-";
	snprintf(text, UNITS_LEN, "%.2f",
		 profile_diff_share(d->diff, c, which, (enum profile_order)d->order));
	return text;
}

static void print_change(const struct diff *d, const struct profile_change *c)
{
	char a[2][UNITS_LEN];

	printf("%8s %8s %+8.2f  ", share(d, c, 0, a[0]), share(d, c, 1, a[1]), change_of(d, c));
	profile_print_name(c->name, c->object);
}

/* What shrank most stands last in the list, and first in its section. */
static void print_section(const struct diff *d, bool grown)
{
	const struct profile_change *c, *each;
	uint64_t shown = 0, more = 0;
	size_t n, i;
	double by;

	c = profile_diff_get(d->diff, &n);
	for (i = 0; i < n; i++) {
		each = grown ? &c[i] : &c[n - 1 - i];
		by = change_of(d, each);
		if (fabs(by) < LEAST || (by > 0) != grown)
			continue;
		if (d->limit && shown == d->limit) {
			more++;
			continue;
		}
		if (!shown++)
			printf("\n%s%s\n before%%   after%%   change  %s%s\n",
			       say_style(stdout, STYLE_HEAD),
			       grown ? "Larger share" : "Smaller share", profile_by_words[d->by],
			       say_style(stdout, STYLE_PLAIN));
		print_change(d, each);
	}
	if (more)
		printf("%s        ... and %" PRIu64 " more; --limit 0 shows all%s\n",
		       say_style(stdout, STYLE_DIM), more, say_style(stdout, STYLE_PLAIN));
}

static void print_diff(const struct diff *d)
{
	int i;

	for (i = 0; i < 2; i++)
		profile_print_head(d->in[i].path, d->in[i].source,
				   profile_report_totals(d->reports[i]));
	print_section(d, true);
	print_section(d, false);
	for (i = 0; i < 2; i++)
		if (profile_report_totals(d->reports[i])->losses)
			printf("%s%s: %" PRIu64 "%s records lost%s\n", i ? "" : "\n", d->in[i].path,
			       profile_report_totals(d->reports[i])->lost,
			       profile_report_totals(d->reports[i])->lost_unknown ? " and more"
										  : "",
			       "");
}

static int read_one(struct diff *d, const struct args *a, int which, struct error *e)
{
	struct profile_reading *in = &d->in[which];
	int r = profile_reading_open(in, a, a->operands[which], e);

	if (r >= 0)
		r = profile_report_new(&d->reports[which], &in->walk, (enum profile_by)d->by, true,
				       e);
	if (r >= 0)
		profile_reading_warn(in);
	return r;
}

static int read_options(struct diff *d, const struct args *a, struct error *e)
{
	d->limit = LIMIT_DEFAULT;
	d->flame = args_get(a, "flame");
	if (args_get_count(a, "limit", &d->limit, e) < 0 ||
	    args_get_word(a, "by", profile_by_words, &d->by, e) < 0)
		return -EINVAL;
	return args_get_word(a, "sort", profile_order_words, &d->order, e);
}

/* Two profiles in one flame graph: as wide as after, in the colour of the change. */
static int draw(struct diff *d, struct error *e)
{
	const struct profile_shape shape = { .processes = true };
	CLEANUP_PROFILE_STACKS struct profile_stacks before = { 0 }, after = { 0 };
	CLEANUP_PROFILE_JOIN struct profile_join join = { 0 };
	struct profile_stacks *stacks[2] = { &before, &after };
	struct flame_chart chart = { .tree = NULL };
	int i, r = 0;

	for (i = 0; r >= 0 && i < 2; i++) {
		r = profile_reading_rewind(&d->in[i], e);
		if (r >= 0)
			r = profile_stacks_init(stacks[i], &d->in[i].walk, &shape, e);
	}
	if (r >= 0)
		r = profile_join_init(&join, &before, &after, e);
	if (r < 0)
		return r;
	if (profile_join_sort(&join, (enum profile_value)(PROFILE_VALUES + d->in[1].value)) < 0)
		return error_set(e, ENOMEM, "cannot draw: out of memory");
	chart.tree = join.tree;
	chart.functions = &join.functions;
	chart.value = PROFILE_VALUES + d->in[1].value;
	chart.before = d->in[0].value;
	chart.is_diff = true;
	chart.unit =
		d->in[1].value == PROFILE_SAMPLES ? "samples" : profile_walk_unit(d->in[1].source);
	chart.title = d->in[1].path;
	chart.subtitle = d->in[0].path;
	return flame_chart_write(&chart, d->flame, e);
}

static void diff_done(struct diff *d)
{
	int i;

	profile_diff_free(d->diff);
	for (i = 0; i < 2; i++) {
		profile_report_free(d->reports[i]);
		profile_reading_close(&d->in[i]);
	}
}

static int run(const struct args *a)
{
	__attribute__((cleanup(diff_done))) struct diff d = { .by = 0 };
	struct error e = ERROR_INIT;
	int r;

	if (args_has(a, "fleet") || args_has(a, "devices"))
		return fleet_diff_run(a);
	if (a->n_operands != 2) {
		error_set(&e, EINVAL, "cannot compare: BEFORE and AFTER, or --devices, or --fleet");
		return say_usage(&e);
	}
	if (read_options(&d, a, &e) < 0)
		return say_usage(&e);
	r = read_one(&d, a, 0, &e);
	if (r < 0)
		return profile_reading_failure(&d.in[0], &e);
	r = read_one(&d, a, 1, &e);
	if (r >= 0)
		r = profile_diff_new(&d.diff, d.reports[0], d.reports[1], d.in[1].value, &e);
	if (r >= 0 && d.flame)
		r = draw(&d, &e);
	if (r < 0)
		return profile_reading_failure(&d.in[1], &e);
	profile_diff_sort(d.diff, (enum profile_order)d.order);
	if (args_has(a, "json"))
		return jsonout_print(profile_diff_json(d.diff, args_has(a, "limit") ? d.limit : 0));
	print_diff(&d);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'b', "by", "WHAT", "what the rows are: function object process thread cpu (function)",
	  "function object process thread cpu" },
	{ 's', "sort", "KEY", "by the change of: self, total (self); or by name",
	  "self total name" },
	{ 'n', "limit", "N", "show this many rows of each kind (10); 0 shows all", NULL },
	{ 0, "flame", "OUT", "write a flame graph of both, too: OUT.html or OUT.svg", NULL },
	{ 0, "json", NULL, "print JSON (docs/profile.md)", NULL },
	PROFILE_READING_OPTIONS,
	FLEET_ASKING_KIND_OPTION,
	FLEET_ASKING_PLACE_OPTIONS,
	FLEET_DIFF_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What takes more of the time since the last release:",
	  "kiseki profile diff old.ksk new.ksk" },
	{ "What the release at noon changed, on all devices:",
	  "kiseki profile diff --fleet --at 12:00 --last 2h" },
	{ "The boards with the new kernel beside the others:",
	  "kiseki profile diff --devices k=new --with-devices k=old --last 24h" },
	{ NULL, NULL },
};

const struct command command_profile_diff = {
	.name = "diff",
	.summary = "compare two profiles: what takes more of the time, and what less",
	.usage = "BEFORE AFTER|--devices SEL|--fleet [--by WHAT] [--limit N] [OPTION...]",
	.description =
		"What is compared are shares, so the two may differ in length and in how often was "
		"sampled. A function is the same in both if its name is, and the name of its "
		"object: "
		"a program that was built again has its functions at other places. In the flame "
		"graph "
		"the widths are those of AFTER; red has grown, blue has shrunk.\n\n"
		"With --devices or --fleet what is compared are facts of devices (docs/fleet.md): "
		"two "
		"times, or two groups of devices. Times are then moments: -2h, 10:02, 2026-11-15.",
	.options = options,
	.examples = examples,
	.parent = &command_profile,
	.operands = "FILE",
	.operands_max = 2,
	.run = run,
};
