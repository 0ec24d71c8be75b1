/* SPDX-License-Identifier: MIT */
/* alerts: what takes more of the time than it used to, on any device. */
#include <stdio.h>
#include <string.h>

#include "cli/device_json.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "command/args.h"
#include "command/say.h"

static void print_alert(const json_t *row)
{
	bool is_open = json_is_null(json_object_get(row, "until_s"));

	printf("%s%-4s%s %s: %s\n", say_style(stdout, is_open ? STYLE_BAD : STYLE_PLAIN),
	       is_open ? "now" : "over", say_style(stdout, STYLE_PLAIN),
	       device_json_text(row, "device"), device_json_text(row, "text"));
}

static void print_alerts(const json_t *rows)
{
	size_t i;

	for (i = 0; i < json_array_size(rows); i++)
		print_alert(json_array_get(rows, i));
	if (!i)
		puts("nothing is out of line");
}

static int run(const struct args *a)
{
	CLEANUP(client) struct client *c = NULL;
	struct error e = ERROR_INIT;
	json_t *answer = NULL;
	struct url u;

	if (client_open(&c, a, &e) < 0)
		return say_usage(&e);
	url_init(&u, "/api/v1/alerts");
	if (a->n_operands)
		url_push_param(&u, "device", a->operands[0]);
	if (!args_has(a, "all"))
		url_push_param(&u, "open", "1");
	if (client_get_json(c, &u, &answer, &e) < 0)
		return say_failure(&e);
	if (args_has(a, "json"))
		return jsonout_print(answer);
	print_alerts(json_object_get(answer, "alerts"));
	json_decref(answer);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'a', "all", NULL, "also those that are over", NULL },
	{ 0, "json", NULL, "print the collector's JSON", NULL },
	CLIENT_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What is wrong now, anywhere:", "kiseki alerts" },
	{ "What was, on one device:", "kiseki alerts board-7 --all" },
	{ NULL, NULL },
};

const struct command command_alerts = {
	.name = "alerts",
	.summary = "tell what takes more time than it used to",
	.usage = "[DEVICE] [--all] [--json]",
	.description =
		"The collector watches the facts of each minute: every function, process, task and "
		"virtual machine against its own last hour, and against the same hour of earlier "
		"days. Here is what is out of line: how much, since when, and who is behind it.\n\n"
		"A function is named when it takes more beside the rest of its process than "
		"before, and "
		"more of the machine; a process when all of it grew. What stays as it is for half "
		"an hour is usual from then on.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.run = run,
};
