/* SPDX-License-Identifier: MIT */
/* profile top: what takes the most time on any devices, over any time. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/device_json.h"
#include "cli/fleet_asking.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/profile_print.h"
#include "command/say.h"

static void print_rows(const json_t *document)
{
	const json_t *rows = json_object_get(document, "rows"), *row;
	const json_t *basis = json_object_get(document, "basis");
	uint64_t all = fleet_asking_amount(document, basis, "all"), self;
	char a[3][UNITS_LEN];
	size_t i;

	fleet_asking_print_basis("", basis);
	if (!json_array_size(rows)) {
		puts("No facts. A collector works them out minute by minute: kiseki serve");
		return;
	}
	printf("\n%s  self%%  total%%        self  %s%s\n", say_style(stdout, STYLE_HEAD),
	       device_json_text(document, "by"), say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < json_array_size(rows); i++) {
		row = json_array_get(rows, i);
		self = fleet_asking_amount(document, row, "self");
		printf("%7s %7s %11s  ", profile_print_share(self, all, a[0]),
		       profile_print_share(fleet_asking_amount(document, row, "total"), all, a[1]),
		       fleet_asking_format(document, self, a[2]));
		profile_print_name(device_json_text(row, "name"), device_json_text(row, "object"));
	}
}

static int run(const struct args *a)
{
	const struct fleet_asking asking = { .path = "top",
					     .params = "kind last from to by sort value limit",
					     .answer = fact_answer_top,
					     .has_operands = true };
	struct error e = ERROR_INIT;
	json_t *document = NULL;
	int r = fleet_asking_ask(&asking, a, &document, &e);

	if (r < 0)
		return fleet_asking_failure(r, &e);
	if (args_has(a, "json"))
		return jsonout_print(document);
	print_rows(document);
	json_decref(document);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'b', "by", "WHAT",
	  "rows: function process object device; of vm also class machine (function)",
	  "function process object device class machine" },
	{ 's', "sort", "KEY", "by what ends in it or what is below it: self, total (self)",
	  "self total" },
	{ 0, "value", "VALUE", "count samples or time (time)", "samples time" },
	{ 'n', "limit", "N", "show this many rows (50); 0 shows all", NULL },
	FLEET_ASKING_KIND_OPTION,
	FLEET_ASKING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What the whole fleet spent its time in since yesterday:",
	  "kiseki profile top --fleet --last 24h" },
	{ "The programs of the boards in production, this hour:",
	  "kiseki profile top --devices env=prod --by process" },
	{ NULL, NULL },
};

const struct command command_profile_top = {
	.name = "top",
	.summary = "list what takes the most time, over many devices and long times",
	.usage = "DEVICE...|--devices SEL|--fleet [--last LENGTH] [OPTION...]",
	.description =
		"Answered from facts, the sums that a collector keeps of each minute and each "
		"hour (docs/fleet.md): no recording is decoded for it. A range of six hours "
		"or more begins with a whole hour.",
	.options = options,
	.examples = examples,
	.parent = &command_profile,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
