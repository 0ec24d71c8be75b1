/* SPDX-License-Identifier: MIT */
/* profile flame: a flame graph of a profile. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/profile_stacks.h"
#include "base/ending.h"
#include "chart/flame_chart.h"
#include "cli/fleet_asking.h"
#include "cli/fleet_flame.h"
#include "cli/kiseki.h"
#include "cli/profile_print.h"
#include "cli/profile_reading.h"
#include "command/say.h"
#include "convert/folded.h"

#define OUTPUT_DEFAULT "flame.html"
#define ABOUT_LEN 256U

static void describe(const struct profile_reading *in, const struct profile_totals *t,
		     char about[ABOUT_LEN])
{
	char a[3][UNITS_LEN];
	int n = snprintf(about, ABOUT_LEN, "%" PRIu64 " samples, %s, in %s on %" PRIu64 " CPU%s",
			 t->values[PROFILE_SAMPLES],
			 profile_print_amount(in->source, PROFILE_WEIGHT, t->values[PROFILE_WEIGHT],
					      a[0]),
			 units_duration(t->to_ns - t->from_ns, a[1]), t->cpus,
			 t->cpus == 1 ? "" : "s");

	if (t->idle[PROFILE_SAMPLES] && n > 0 && n < (int)ABOUT_LEN)
		n += snprintf(about + n, ABOUT_LEN - (size_t)n, "; idle: %s beside these",
			      profile_print_amount(in->source, PROFILE_WEIGHT,
						   t->idle[PROFILE_WEIGHT], a[2]));
	if (t->losses && n > 0 && n < (int)ABOUT_LEN)
		snprintf(about + n, ABOUT_LEN - (size_t)n, "; %" PRIu64 "%s records lost", t->lost,
			 t->lost_unknown ? " and more" : "");
}

static int draw(struct profile_reading *in, const struct args *a, const char *path, struct error *e)
{
	const struct profile_shape shape = { .processes = !args_has(a, "no-groups"),
					     .threads = args_has(a, "threads"),
					     .numbered = args_has(a, "threads"),
					     .turned = args_has(a, "callers") };
	CLEANUP_PROFILE_STACKS struct profile_stacks s = { 0 };
	char about[ABOUT_LEN];
	struct flame_chart chart;
	int r = profile_stacks_init(&s, &in->walk, &shape, e);

	if (r < 0)
		return r;
	if (profile_stacks_sort(&s, in->value) < 0)
		return error_set(e, ENOMEM, "cannot draw: out of memory");
	if (!s.totals.values[in->value])
		return error_set(e, ENODATA, "cannot draw %s: no sample is selected", in->path);
	if (ending_fits(path, ".folded"))
		return folded_write_file(s.tree, s.functions, in->value, path, e);
	describe(in, &s.totals, about);
	chart = (struct flame_chart){ .tree = s.tree,
				      .functions = s.functions,
				      .value = in->value,
				      .unit = in->value == PROFILE_SAMPLES
						      ? "samples"
						      : profile_walk_unit(in->source),
				      .title = in->path,
				      .subtitle = about };
	return flame_chart_write(&chart, path, e);
}

static int run(const struct args *a)
{
	CLEANUP_PROFILE_READING struct profile_reading in = { 0 };
	const char *path = args_get(a, "output") ? args_get(a, "output") : OUTPUT_DEFAULT;
	struct error e = ERROR_INIT;

	if (!fleet_flame_takes(path)) {
		error_set(&e, EINVAL, "cannot write %s: a flame graph is .html, .svg or .folded",
			  path);
		return say_usage(&e);
	}
	if (args_has(a, "fleet") || args_has(a, "devices"))
		return fleet_flame_run(a, path);
	if (a->n_operands != 1) {
		error_set(&e, EINVAL,
			  "cannot draw: FILE, STORE, DEVICE or RUN, or --devices, or --fleet");
		return say_usage(&e);
	}
	if (profile_reading_open(&in, a, a->operands[0], &e) < 0 || draw(&in, a, path, &e) < 0)
		return profile_reading_failure(&in, &e);
	profile_reading_warn(&in);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'o', "output", "OUT", "where: .html .svg .folded (flame.html); - is a page", NULL },
	{ 0, "threads", NULL, "threads above the functions, too, and numbers", NULL },
	{ 0, "no-groups", NULL, "no processes above the functions: all of them as one", NULL },
	{ 'g', "callers", NULL, "turned around: functions first, their callers behind them", NULL },
	PROFILE_READING_OPTIONS,
	FLEET_ASKING_KIND_OPTION,
	FLEET_ASKING_PLACE_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "A page that can be zoomed and searched:",
	  "kiseki profile flame profile.ksk -o flame.html" },
	{ "What all devices did since yesterday:", "kiseki profile flame --fleet --last 24h" },
	{ NULL, NULL },
};

const struct command command_profile_flame = {
	.name = "flame",
	.summary = "draw a flame graph",
	.usage = "FILE|STORE|DEVICE|RUN|--devices SEL|--fleet [-o OUT] [OPTION...]",
	.description =
		"Each box is a function on the stack, as wide as its share of the time; what it "
		"called "
		"stands above it. The page needs nothing but a browser: click zooms, the field "
		"searches, arrow keys go from box to box. Boxes too narrow to be seen are left "
		"out. "
		"The output appears whole or not at all.\n\n"
		"With --devices or --fleet it is of facts of devices (docs/fleet.md), over the "
		"time that --last or --from and --to say, which are then moments.",
	.options = options,
	.examples = examples,
	.parent = &command_profile,
	.operands = "FILE",
	.operands_max = 1,
	.run = run,
};
