/* SPDX-License-Identifier: MIT */
/* runs: the recordings that a collector holds. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/device_json.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/table.h"
#include "cli/units.h"
#include "command/args.h"
#include "command/say.h"

static const struct table_column columns[] = {
	{ "run", false },  { "device", true },	{ "kind", true },  { "from", true },
	{ "to", true },	   { "events", false }, { "size", false }, { "B/event", false },
	{ "lost", false }, { "state", true },	{ NULL, false },
};

static bool has_machines(const json_t *kinds)
{
	const char *last = json_string_value(json_array_get(kinds, json_array_size(kinds) - 1));

	return last && !strcmp(last, "vm");
}

/* What it has; of programs, of how many threads. */
static void push_kind(struct table *t, const json_t *r)
{
	const json_t *kinds = json_object_get(r, "kinds");
	uint64_t threads = device_json_count(r, "threads");

	if (!json_array_size(kinds))
		table_push(t, NULL);
	else if (threads)
		table_printf(t, "%s of %" PRIu64 " thread%s",
			     json_is_true(json_object_get(r, "split")) ? "split" : "func", threads,
			     threads == 1 ? "" : "s");
	else
		table_push(t, has_machines(kinds) ? "vm"
						  : json_string_value(json_array_get(kinds, 0)));
}

static void push_run(struct table *t, const json_t *r)
{
	uint64_t events = device_json_count(r, "events"), bytes = device_json_count(r, "bytes");
	bool uncounted = json_is_true(device_json_get(r, "lost_unknown"));
	char text[UNITS_LEN];

	table_printf(t, "%" PRIu64, device_json_count(r, "run"));
	table_push(t, device_json_text(r, "device"));
	push_kind(t, r);
	table_push(t, device_json_text(r, "first"));
	table_push(t, device_json_text(r, "last"));
	table_printf(t, "%" PRIu64, events);
	table_push(t, units_bytes(bytes, text));
	if (events)
		table_printf(t, "%.2f", (double)bytes / (double)events);
	else
		table_push(t, NULL);
	table_printf(t, "%" PRIu64 "%s", device_json_lost(device_json_get(r, "lost")),
		     uncounted ? "+?" : "");
	table_push(t, json_is_true(device_json_get(r, "ended")) ? "ended" : "open");
}

static void print_runs(const json_t *answer)
{
	const json_t *list = json_object_get(answer, "runs");
	uint64_t more = device_json_count(answer, "more");
	CLEANUP_TABLE struct table t = { 0 };
	size_t i;

	table_init(&t, columns);
	for (i = 0; i < json_array_size(list); i++)
		push_run(&t, json_array_get(list, i));
	table_print(&t, stdout, 0);
	if (more)
		printf("… and %" PRIu64 " more; --limit shows them\n", more);
}

static int run(const struct args *a)
{
	CLEANUP(client) struct client *c = NULL;
	struct error e = ERROR_INIT;
	json_t *answer = NULL;
	struct url u;

	if (client_open(&c, a, &e) < 0)
		return say_usage(&e);
	url_init(&u, a->n_operands ? "/api/v1/devices" : "/api/v1/runs");
	if (a->n_operands) {
		url_push(&u, a->operands[0]);
		url_push(&u, "runs");
	}
	url_push_param(&u, "limit", args_get(a, "limit"));
	url_push_param(&u, "kind", args_get(a, "kind"));
	if (client_get_json(c, &u, &answer, &e) < 0)
		return say_failure(&e);
	if (args_has(a, "json"))
		return jsonout_print(answer);
	print_runs(answer);
	json_decref(answer);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'n', "limit", "N", "at most so many (1000)", NULL },
	{ 'k', "kind", "KIND", "only those of this kind: sched func boot profile vm",
	  "sched func boot profile vm" },
	{ 0, "json", NULL, "print the collector's JSON", NULL },
	CLIENT_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "The last recordings of a device:", "kiseki runs board-7 --limit 5" },
	{ NULL, NULL },
};

const struct command command_runs = {
	.name = "runs",
	.summary = "list the recordings that a collector holds",
	.usage = "[DEVICE] [--kind KIND] [--limit N] [--json]",
	.description = "A run is one recording of one device, from start to stop. `export` takes a "
		       "part of one, `ledger` says what is missing in it, `func` reads those of "
		       "programs, `boot` those of boots, `profile` and `vm` those with samples.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = 1,
	.run = run,
};
