/* SPDX-License-Identifier: MIT */
/* vm flame: a flame graph of the time of virtual machines. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "chart/flame_chart.h"
#include "cli/kiseki.h"
#include "cli/units.h"
#include "cli/vm_reading.h"
#include "command/say.h"

#define OUTPUT_DEFAULT "flame.html"
#define ABOUT_LEN 256U

static void describe(const struct vm_reading *in, uint64_t wall_ns, char about[ABOUT_LEN])
{
	const struct vm_time *t = vm_report_time(in->report);
	const struct vm_losses *losses = vm_report_losses(in->report);
	char text[UNITS_LEN];
	int n = snprintf(about, ABOUT_LEN, "%zu virtual CPU%s, %s in all", vm_time_count(t),
			 vm_time_count(t) == 1 ? "" : "s", units_duration(wall_ns, text));

	if (losses->places && n > 0 && n < (int)ABOUT_LEN)
		snprintf(about + n, ABOUT_LEN - (size_t)n, "; %" PRIu64 "%s records lost",
			 losses->events, losses->uncounted ? " and more" : "");
}

static int draw(struct vm_reading *in, const char *path, struct error *e)
{
	CLEANUP_VM_TREE struct vm_tree t = { 0 };
	char about[ABOUT_LEN];
	struct flame_chart chart;
	uint64_t wall_ns;
	int r = vm_tree_init(&t, &in->tree);

	if (r >= 0)
		r = vm_tree_fill(&t);
	if (r < 0)
		return error_set(e, -r, "cannot draw: %s", strerror(-r));
	wall_ns = profile_tree_total(t.tree, 0)[PROFILE_WEIGHT];
	if (!wall_ns)
		return error_set(e, ENODATA, "cannot draw %s: no time is selected", in->in.path);
	describe(in, wall_ns, about);
	chart = (struct flame_chart){ .tree = t.tree,
				      .functions = &t.functions,
				      .value = PROFILE_WEIGHT,
				      .unit = "ns",
				      .title = in->in.path,
				      .subtitle = about };
	return flame_chart_write(&chart, path, e);
}

static int run(const struct args *a)
{
	CLEANUP_VM_READING struct vm_reading in = { .with_cells = true };
	const char *path = args_get(a, "output") ? args_get(a, "output") : OUTPUT_DEFAULT;
	struct error e = ERROR_INIT;

	if (!flame_chart_takes(path)) {
		error_set(&e, EINVAL, "cannot write %s: a flame graph is .html or .svg", path);
		return say_usage(&e);
	}
	if (vm_reading_open(&in, a, &e) < 0 || draw(&in, path, &e) < 0)
		return vm_reading_failure(&in, &e);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'o', "output", "OUT", "where to write it: .html or .svg (flame.html); - is a page",
	  NULL },
	VM_READING_TREE_OPTIONS,
	VM_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "A page that can be zoomed and searched:", "kiseki vm flame vm.ksk -o flame.html" },
	{ NULL, NULL },
};

const struct command command_vm_flame = {
	.name = "flame",
	.summary = "draw a flame graph of the time of virtual machines",
	.usage = "FILE|STORE [-o OUT] [OPTION...]",
	.description =
		"From the host up: machine, process of the guest, class of time, and what the "
		"class has: "
		"object and function of the guest; the reason of the exit and the functions of the "
		"host "
		"that worked for it; who ran instead. The width is wall time: all of it of all "
		"virtual "
		"CPUs is there, and what samples do not tell says so. The page needs nothing but a "
		"browser. The output appears whole or not at all.",
	.options = options,
	.examples = examples,
	.parent = &command_vm,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
