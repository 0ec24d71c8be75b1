/* SPDX-License-Identifier: MIT */
/* profile trend: one function over time, on any devices. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/device_json.h"
#include "cli/fleet_asking.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/profile_print.h"
#include "command/say.h"

#define BAR_LEN 40U

static double share_of(const json_t *point, const char *part)
{
	char path[32];
	uint64_t all = device_json_count(point, "all.ns");

	snprintf(path, sizeof(path), "%s.ns", part);
	return all ? 100.0 * (double)device_json_count(point, path) / (double)all : 0;
}

static void print_point(const json_t *document, const json_t *point, double most)
{
	double share = share_of(point, "total");
	int bar = most > 0 ? (int)(share / most * BAR_LEN + 0.5) : 0;
	char text[UNITS_LEN], line[BAR_LEN + 1];

	memset(line, '#', BAR_LEN);
	line[bar] = '\0';
	printf("%-20s %7.2f %7.2f %11s  %s%s%s\n", device_json_text(point, "at"),
	       share_of(point, "self"), share,
	       fleet_asking_format(document, device_json_count(point, "total.ns"), text),
	       say_style(stdout, STYLE_BAR), line, say_style(stdout, STYLE_PLAIN));
}

static void print_points(const json_t *document)
{
	const json_t *points = json_object_get(document, "points");
	double most = 0, share;
	size_t i;

	fleet_asking_print_basis("", json_object_get(document, "basis"));
	for (i = 0; i < json_array_size(points); i++) {
		share = share_of(json_array_get(points, i), "total");
		most = share > most ? share : most;
	}
	if (!json_array_size(points)) {
		puts("No facts in this time.");
		return;
	}
	if (most <= 0) {
		printf("No %s is called so in this time.\n", device_json_text(document, "by"));
		return;
	}
	printf("\n%s%-20s %7s %7s %11s%s\n", say_style(stdout, STYLE_HEAD), "at", "self%", "total%",
	       "total", say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < json_array_size(points); i++)
		print_point(document, json_array_get(points, i), most);
}

static int run(const struct args *a)
{
	const struct fleet_asking asking = { .path = "trend",
					     .params = "kind last from to by object step",
					     .answer = fact_answer_trend,
					     .name = a->operands[0] };
	struct error e = ERROR_INIT;
	json_t *document = NULL;
	int r = fleet_asking_ask(&asking, a, &document, &e);

	if (r < 0)
		return fleet_asking_failure(r, &e);
	if (args_has(a, "json"))
		return jsonout_print(document);
	print_points(document);
	json_decref(document);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'b', "by", "WHAT",
	  "what NAME is: function process object; of vm also class machine (function)",
	  "function process object class machine" },
	{ 0, "object", "FILE", "only the function of this object (of all that have it)", NULL },
	{ 0, "step", "LENGTH", "one row for so long: 1m, 1h (1h from six hours on, else 1m)",
	  NULL },
	FLEET_ASKING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Since when the allocator takes more:",
	  "kiseki profile trend malloc --fleet --last 7d --step 1h" },
	{ NULL, NULL },
};

const struct command command_profile_trend = {
	.name = "trend",
	.summary = "show how much of the time one function took, hour by hour",
	.usage = "NAME --devices SEL|--fleet [--last LENGTH] [OPTION...]",
	.description =
		"Shares are of all that the devices did in that minute or hour, so it does not "
		"matter how many of them there were. Where nothing was recorded there is no "
		"row. Steps below an hour need minutes, which are kept for less long.",
	.options = options,
	.examples = examples,
	.parent = &command_profile,
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
