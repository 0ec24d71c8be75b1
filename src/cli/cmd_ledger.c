/* SPDX-License-Identifier: MIT */
/* ledger: the account of every lost event of a run. */
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
#include "wire/block.h"

static const struct table_column columns[] = {
	{ "stream", true }, { "cause", true },	{ "events", false },
	{ "from", true },   { "until", false }, { NULL, false },
};

/* How long the gap is, where both ends are known. */
static void push_length(struct table *t, const json_t *row)
{
	uint64_t from = device_json_count(row, "from_ns"), to = device_json_count(row, "to_ns");
	char text[UNITS_LEN];

	if (!from || to < from)
		table_push(t, NULL);
	else
		table_printf(t, "+%s", units_duration(to - from, text));
}

static void push_row(struct table *t, const json_t *row)
{
	const json_t *cpu = json_object_get(row, "cpu"), *count = json_object_get(row, "count");
	const json_t *tid = json_object_get(row, "tid");
	char text[UNITS_LEN];

	if (json_is_integer(cpu))
		table_printf(t, "CPU %" JSON_INTEGER_FORMAT, json_integer_value(cpu));
	else if (json_is_integer(tid))
		table_printf(t, "thread %" JSON_INTEGER_FORMAT, json_integer_value(tid));
	else if (device_json_count(row, "stream") == STREAM_BOOT)
		table_push(t, "boot");
	else
		table_push(t, "all");
	table_push(t, device_json_text(row, "cause"));
	if (json_is_integer(count))
		table_printf(t, "%" JSON_INTEGER_FORMAT, json_integer_value(count));
	else
		table_push(t, "unknown");
	if (*device_json_text(row, "from"))
		table_push(t, device_json_text(row, "from"));
	else if (device_json_count(row, "from_ns"))
		table_push(t, units_moment(device_json_count(row, "from_ns"), text));
	else
		table_push(t, "the start");
	push_length(t, row);
}

/* How much of the time is in no recording. */
static void print_uncovered(const json_t *u)
{
	uint64_t missing = device_json_count(u, "lost_ns") + device_json_count(u, "gaps_ns");
	uint64_t total = device_json_count(u, "total_ns"), runs = device_json_count(u, "runs");
	uint64_t planned = device_json_count(u, "planned_ns");
	char a[3][UNITS_LEN];

	if (!json_is_object(u))
		return;
	printf("uncovered: %s%% of %s in %" PRIu64 " run%s", units_percent(missing, total, a[0]),
	       units_duration(total, a[1]), runs, runs == 1 ? "" : "s");
	if (device_json_count(u, "gaps_ns"))
		printf(", gaps between runs %s",
		       units_duration(device_json_count(u, "gaps_ns"), a[2]));
	if (planned)
		printf("; planned pauses %s", units_duration(planned, a[2]));
	putchar('\n');
}

static const struct {
	const char *cause, *advice;
} advices[] = {
	{ "ring", "events came faster than the agent read them; what helps: a larger ring\n"
		  "      (kiseki configure DEVICE --ring SIZE) or fewer events (--events)" },
	{ "buffer", "the driver's memory was full; what helps: more of it (mem=) or fewer events" },
	{ "spool", "the link was away for too long, or is too slow; what helps: a larger spool\n"
		   "       (kiseki-agent --spool SIZE), fewer events (--events) or a filter" },
	{ "damage", "stored bytes are torn or flipped; kiseki check says where" },
	{ "store", "the collector removed old records (--retain-size, --retain-age)" },
};

/* What to do about the causes that are in the rows. */
static void print_advice(const json_t *rows)
{
	bool is_first = true;
	const json_t *row;
	size_t k, i;

	for (k = 0; k < sizeof(advices) / sizeof(advices[0]); k++) {
		json_array_foreach(rows, i, row)
		{
			if (strcmp(device_json_text(row, "cause"), advices[k].cause) != 0)
				continue;
			printf("%s%s: %s\n", is_first ? "\n" : "", advices[k].cause,
			       advices[k].advice);
			is_first = false;
			break;
		}
	}
}

static void print_ledger(const json_t *l)
{
	uint64_t events = device_json_count(l, "events");
	uint64_t lost = device_json_lost(json_object_get(l, "lost"));
	uint64_t uncounted = device_json_count(l, "lost_uncounted");
	const json_t *rows = json_object_get(l, "rows");
	CLEANUP_TABLE struct table t = { 0 };
	char text[UNITS_LEN];
	size_t i;

	printf("run %" PRIu64 "%s: %" PRIu64 " events stored, %" PRIu64 " lost (%s%%)",
	       device_json_count(l, "run"),
	       json_is_true(json_object_get(l, "ended")) ? "" : ", open", events, lost,
	       units_percent(lost, events + lost, text));
	if (uncounted)
		printf(", and %" PRIu64 " gap%s of unknown size", uncounted,
		       uncounted == 1 ? "" : "s");
	putchar('\n');
	print_uncovered(json_object_get(l, "uncovered"));
	if (!json_array_size(rows))
		return;
	table_init(&t, columns);
	for (i = 0; i < json_array_size(rows); i++)
		push_row(&t, json_array_get(rows, i));
	putchar('\n');
	table_print(&t, stdout, 0);
	print_advice(rows);
}

/* A number is a run, unless a device is called so. */
static void make_url(struct url *u, const char *operand, bool device)
{
	url_init(u, device ? "/api/v1/devices" : "/api/v1/runs");
	url_push(u, operand);
	url_push(u, "ledger");
}

static bool is_number(const char *text)
{
	return strlen(text) < 10 && strspn(text, "0123456789") == strlen(text);
}

static int run(const struct args *a)
{
	CLEANUP(client) struct client *c = NULL;
	struct error e = ERROR_INIT;
	json_t *answer = NULL;
	struct url u;

	if (client_open(&c, a, &e) < 0)
		return say_usage(&e);
	make_url(&u, a->operands[0], !is_number(a->operands[0]));
	if (client_get_json(c, &u, &answer, &e) < 0)
		return say_failure(&e);
	if (args_has(a, "json"))
		return jsonout_print(answer);
	print_ledger(answer);
	json_decref(answer);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "json", NULL, "print the collector's JSON", NULL },
	CLIENT_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What the latest run of a device lacks:", "kiseki ledger board-7" },
	{ "Why, by cause:", "kiseki ledger 12 --json | jq .lost" },
	{ NULL, NULL },
};

const struct command command_ledger = {
	.name = "ledger",
	.summary = "account for every lost event of a run",
	.usage = "DEVICE|RUN [--json]",
	.description =
		"Events generated = events stored + events in the ledger. Each row is a gap on one "
		"CPU or of one thread: how many events, why (ring: the kernel's memory was "
		"overwritten; buffer, "
		"spool: the device's was full; damage; store), and when. A device stands for its "
		"latest run.\n\n"
		"Uncovered is the part of the time in which nothing was recorded although it "
		"should "
		"have been: where records were lost, and, of a device, between its runs of that "
		"kind. Pauses that were asked for are no part of it.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
