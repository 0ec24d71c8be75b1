/* SPDX-License-Identifier: MIT */
/* fleet_diff: see fleet_diff.h. */
#include "cli/fleet_diff.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "cli/device_json.h"
#include "cli/fleet_asking.h"
#include "cli/fleet_flame.h"
#include "cli/jsonout.h"
#include "cli/profile_print.h"
#include "command/say.h"

#define LEAST 0.005 /* of a percent: a change that shows as 0.01 */

static double number(const json_t *row, const char *name)
{
	return json_number_value(json_object_get(row, name));
}

static void print_change(const json_t *c)
{
	printf("%8.2f %8.2f %+8.2f  ", number(c, "before_percent"), number(c, "after_percent"),
	       number(c, "change"));
	profile_print_name(device_json_text(c, "name"), device_json_text(c, "object"));
}

/* What shrank most stands last in the list, and first in its section. */
static void print_section(const json_t *document, bool grown)
{
	const json_t *list = json_object_get(document, "changes"), *c;
	size_t n = json_array_size(list), i, shown = 0;
	double by;

	for (i = 0; i < n; i++) {
		c = json_array_get(list, grown ? i : n - 1 - i);
		by = number(c, "change");
		if (fabs(by) < LEAST || (by > 0) != grown)
			continue;
		if (!shown++)
			printf("\n%s%s\n before%%   after%%   change  %s%s\n",
			       say_style(stdout, STYLE_HEAD),
			       grown ? "Larger share" : "Smaller share",
			       device_json_text(document, "by"), say_style(stdout, STYLE_PLAIN));
		print_change(c);
	}
}

int fleet_diff_run(const struct args *a)
{
	const struct fleet_asking asking = {
		.path = "diff",
		.params = "kind last from to by sort limit at with_from with_to with_devices",
		.answer = fact_answer_diff
	};
	struct error e = ERROR_INIT;
	json_t *document = NULL;
	const char *flame = args_get(a, "flame");
	int r = flame ? fleet_flame_write_diff(a, flame, &e) : 0;

	if (r >= 0)
		r = fleet_asking_ask(&asking, a, &document, &e);

	if (r < 0)
		return fleet_asking_failure(r, &e);
	if (args_has(a, "json"))
		return jsonout_print(document);
	fleet_asking_print_basis("before: ", json_object_get(document, "before"));
	fleet_asking_print_basis("after:  ", json_object_get(document, "after"));
	print_section(document, true);
	print_section(document, false);
	json_decref(document);
	return EXIT_OK;
}
