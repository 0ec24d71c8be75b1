/* SPDX-License-Identifier: MIT */
/* fleet_flame: see fleet_flame.h. */
#include "cli/fleet_flame.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/profile_diff.h"
#include "base/ending.h"
#include "chart/flame_chart.h"
#include "cli/device_json.h"
#include "cli/fleet_asking.h"
#include "cli/fleet_tree.h"
#include "command/say.h"
#include "convert/folded.h"

#define ABOUT_LEN 256U
/* Each of those may be as wide as the narrowest box that is drawn (FLAME_CHART_LEAST). */
#define NODES_MOST "50000"

bool fleet_flame_takes(const char *path)
{
	return flame_chart_takes(path) || ending_fits(path, ".folded");
}

/* "from A to B, 3 devices" */
static void describe(const json_t *basis, char about[ABOUT_LEN])
{
	uint64_t devices = device_json_count(basis, "devices");
	uint64_t lost = device_json_count(basis, "lost");
	int n = snprintf(about, ABOUT_LEN, "%s to %s, %" PRIu64 " device%s",
			 device_json_text(basis, "from"), device_json_text(basis, "to"), devices,
			 devices == 1 ? "" : "s");

	if (lost && n > 0 && n < (int)ABOUT_LEN)
		snprintf(about + n, ABOUT_LEN - (size_t)n, "; %" PRIu64 " records lost", lost);
}

static const char *title_of(const struct args *a)
{
	if (args_has(a, "devices"))
		return args_get(a, "devices");
	return args_has(a, "fleet") ? "all devices" : a->operands[0];
}

static int sort_tree(struct fleet_tree *t, size_t value, struct error *e)
{
	if (profile_tree_sort(t->tree, value, functions_compare, &t->functions) < 0)
		return error_set(e, ENOMEM, "cannot draw: out of memory");
	if (!profile_tree_total(t->tree, 0)[value])
		return error_set(e, ENODATA, "cannot draw: there are no facts in this time");
	return 0;
}

struct drawing {
	const struct args *a;
	struct fleet_tree t;
	json_t *document;
};

static void drawing_done(struct drawing *d)
{
	fleet_tree_done(&d->t);
	json_decref(d->document);
}
#define CLEANUP_DRAWING __attribute__((cleanup(drawing_done)))

/* The answer as a tree, sorted by the value that is drawn. */
static int ask(struct drawing *d, const struct fleet_asking *asking,
	       const struct fleet_tree_shape *shape, size_t value, struct error *e)
{
	int r = fleet_asking_ask(asking, d->a, &d->document, e);

	if (r >= 0)
		r = fleet_tree_init(&d->t, d->document, shape, e);
	return r < 0 ? r : sort_tree(&d->t, value, e);
}

static int draw(const struct args *a, const char *path, struct error *e)
{
	bool samples = args_has(a, "samples");
	const struct fleet_param extra[] = { { "limit", NODES_MOST },
					     { "value", samples ? "samples" : "time" },
					     { NULL, NULL } };
	const struct fleet_asking asking = { .path = "tree",
					     .params = "kind last from to",
					     .extra = extra,
					     .answer = fact_answer_tree };
	const struct fleet_tree_shape shape = { .ungrouped = args_has(a, "no-groups"),
						.turned = args_has(a, "callers") };
	CLEANUP_DRAWING struct drawing d = { .a = a };
	struct flame_chart chart = { .value = samples ? PROFILE_SAMPLES : PROFILE_WEIGHT,
				     .unit = samples ? "samples" : "ns",
				     .title = title_of(a) };
	char about[ABOUT_LEN];
	int r = ask(&d, &asking, &shape, chart.value, e);

	if (r < 0)
		return r;
	if (ending_fits(path, ".folded"))
		return folded_write_file(d.t.tree, &d.t.functions, chart.value, path, e);
	describe(json_object_get(d.document, "basis"), about);
	chart.tree = d.t.tree;
	chart.functions = &d.t.functions;
	chart.subtitle = about;
	return flame_chart_write(&chart, path, e);
}

int fleet_flame_run(const struct args *a, const char *path)
{
	struct error e = ERROR_INIT;
	int r;

	if (args_has(a, "threads"))
		r = error_set(&e, EINVAL, "cannot draw threads: facts of devices have processes");
	else
		r = draw(a, path, &e);
	return r < 0 ? fleet_asking_failure(r, &e) : EXIT_OK;
}

int fleet_flame_write_diff(const struct args *a, const char *path, struct error *e)
{
	const struct fleet_param extra[] = { { "limit", NODES_MOST }, { NULL, NULL } };
	const struct fleet_asking asking = {
		.path = "diff/tree",
		.params = "kind last from to at with_from with_to with_devices",
		.extra = extra,
		.answer = fact_answer_diff_tree
	};
	const struct fleet_tree_shape shape = { .is_diff = true };
	CLEANUP_DRAWING struct drawing d = { .a = a };
	char about[2][ABOUT_LEN];
	struct flame_chart chart = { .value = PROFILE_VALUES + PROFILE_WEIGHT,
				     .before = PROFILE_WEIGHT,
				     .is_diff = true,
				     .unit = "ns",
				     .title = about[1],
				     .subtitle = about[0] };
	int r = ask(&d, &asking, &shape, chart.value, e);

	if (r < 0)
		return r;
	describe(json_object_get(d.document, "before"), about[0]);
	describe(json_object_get(d.document, "after"), about[1]);
	chart.tree = d.t.tree;
	chart.functions = &d.t.functions;
	return flame_chart_write(&chart, path, e);
}
