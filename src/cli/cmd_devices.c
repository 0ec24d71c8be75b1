/* SPDX-License-Identifier: MIT */
/* devices: what the collector knows of its devices now, once or again and again. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/when.h"
#include "cli/device_json.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "cli/units.h"
#include "command/args.h"
#include "command/say.h"

#define WATCH_MS 1000

static const struct table_column columns[] = {
	{ "device", true },	{ "state", true }, { "source", true }, { "events/s", false },
	{ "B/event", false },	{ "lost", false }, { "spool", false }, { "clock", false },
	{ "last seen", false }, { NULL, false },
};

static void push_seen(struct table *t, const json_t *d)
{
	char text[UNITS_LEN];
	uint64_t ns, now = clock_real_ns();

	if (json_is_true(device_json_get(d, "online")))
		table_push(t, "now");
	else if (when_parse(device_json_text(d, "seen"), now, &ns, NULL) < 0)
		table_push(t, NULL);
	else
		table_printf(t, "%s ago", units_duration(now > ns ? now - ns : 0, text));
}

static void push_device(struct table *t, const json_t *d)
{
	uint64_t events = device_json_count(d, "received.events");
	uint64_t bytes = device_json_count(d, "received.bytes");
	const json_t *clock = device_json_get(d, "clock.error_ns");
	char text[UNITS_LEN];

	table_push(t, device_json_text(d, "name"));
	table_push(t, device_json_text(d, "state"));
	table_push(t, device_json_text(d, "status.source"));
	table_printf(t, "%" PRIu64, device_json_count(d, "received.events_per_s"));
	if (events)
		table_printf(t, "%.2f", (double)bytes / (double)events);
	else
		table_push(t, NULL);
	table_printf(t, "%" PRIu64, device_json_lost(device_json_get(d, "status.lost")));
	table_printf(t, "%s%%",
		     units_percent(device_json_count(d, "status.spool_used"),
				   device_json_count(d, "status.spool_size"), text));
	if (json_is_integer(clock))
		table_printf(t, "\u00b1%s",
			     units_duration(device_json_count(d, "clock.error_ns"), text));
	else
		table_push(t, NULL);
	push_seen(t, d);
}

/* Why those that should trace do not, below the table. */
static void print_reasons(const json_t *list)
{
	size_t i;

	for (i = 0; i < json_array_size(list); i++) {
		const json_t *d = json_array_get(list, i);
		char name[TABLE_CELL_MAX], text[256];

		if (!*device_json_text(d, "status.text"))
			continue;
		snprintf(name, sizeof(name), "%s", device_json_text(d, "name"));
		snprintf(text, sizeof(text), "%s", device_json_text(d, "status.text"));
		table_clean(name);
		table_clean(text);
		printf("%s: %s\n", name, text);
	}
}

/* The members of a list, with commas between them. */
static void put_list(FILE *to, const json_t *list)
{
	char text[TABLE_CELL_MAX];
	const json_t *member;
	size_t i;

	json_array_foreach(list, i, member)
	{
		if (json_is_integer(member))
			snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT,
				 json_integer_value(member));
		else
			snprintf(text, sizeof(text), "%s", json_string_value(member));
		table_clean(text);
		fprintf(to, "%s%s", i ? "," : " ", text);
	}
}

/* Which tasks alone are recorded: it stays so until a device is configured otherwise. */
static void print_filters(const json_t *d)
{
	static const char *const keys[] = { "pid", "comm", "cgroup" };
	const json_t *config = device_json_get(d, "config"), *list;
	char name[TABLE_CELL_MAX];
	bool any = false;
	size_t i;

	snprintf(name, sizeof(name), "%s", device_json_text(d, "name"));
	table_clean(name);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		list = json_object_get(config, keys[i]);
		if (!json_array_size(list))
			continue;
		if (any)
			printf("; %s", keys[i]);
		else
			printf("%s: a filter is set: %s", name, keys[i]);
		put_list(stdout, list);
		any = true;
	}
	if (any)
		putchar('\n');
}

static void print_devices(const json_t *list, const struct args *a)
{
	CLEANUP_TABLE struct table t = { 0 };
	size_t i;

	table_init(&t, columns);
	for (i = 0; i < json_array_size(list); i++)
		push_device(&t, json_array_get(list, i));
	table_print(&t, stdout, 0);
	for (i = 0; i < json_array_size(list); i++)
		print_filters(json_array_get(list, i));
	print_reasons(list);
	if (!json_array_size(list) && args_get(a, "group"))
		printf("No device is in group %s.\n", args_get(a, "group"));
	else if (!json_array_size(list))
		puts(DEVICE_JSON_NONE_YET);
}

/* Keeps the devices that the operands name, each of which must name one. */
static int keep_named(json_t *list, const struct args *a, struct error *e)
{
	size_t i = 0, k;
	bool wanted;

	for (k = 0; k < a->n_operands; k++) {
		for (i = 0, wanted = false; i < json_array_size(list) && !wanted; i++)
			wanted = device_json_match(json_array_get(list, i), a->operands[k]);
		if (!wanted)
			return error_set(e, ENOENT, "there is no device %s", a->operands[k]);
	}
	for (i = 0; a->n_operands && i < json_array_size(list);) {
		for (k = 0, wanted = false; k < a->n_operands && !wanted; k++)
			wanted = device_json_match(json_array_get(list, i), a->operands[k]);
		if (wanted)
			i++;
		else
			json_array_remove(list, i);
	}
	return 0;
}

/* Takes out those of other groups; NULL: none is. */
static void keep_group(json_t *list, const char *group)
{
	size_t i = 0;

	while (group && i < json_array_size(list))
		if (strcmp(device_json_text(json_array_get(list, i), "group"), group) != 0)
			json_array_remove(list, i);
		else
			i++;
}

static int show_once(struct client *c, const struct args *a, struct error *e)
{
	json_t *list = NULL;
	int r = device_json_list(c, &list, e);

	if (r < 0)
		return r;
	keep_group(list, args_get(a, "group"));
	r = keep_named(list, a, e);
	if (r < 0) {
		json_decref(list);
		return r;
	}
	if (args_has(a, "json"))
		return jsonout_print(json_pack("{so}", "devices", list)) == EXIT_OK ? 0 : -EIO;
	print_devices(list, a);
	json_decref(list);
	return 0;
}

/* On a terminal each picture replaces the last one. */
static int watch(struct client *c, const struct args *a, struct error *e)
{
	CLEANUP_SIGNALS int fd = signals_open(e);
	bool terminal = isatty(STDOUT_FILENO);
	int r;

	if (fd < 0)
		return fd;
	do {
		if (terminal)
			fputs("\033[H\033[2J", stdout);
		r = show_once(c, a, e);
		if (r == 0 && !terminal)
			putchar('\n');
		if (r == 0)
			r = say_flush(e);
	} while (r == 0 && signals_wait(fd, WATCH_MS));
	return r;
}

static int run(const struct args *a)
{
	CLEANUP(client) struct client *c = NULL;
	struct error e = ERROR_INIT;
	int r;

	if (client_open(&c, a, &e) < 0)
		return say_usage(&e);
	r = args_has(a, "watch") ? watch(c, a, &e) : show_once(c, a, &e);
	return r < 0 ? say_failure(&e) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'g', "group", "GROUP", "only those in this group", NULL },
	{ 'w', "watch", NULL, "show it again every second until Ctrl-C", NULL },
	{ 0, "json", NULL, "print the collector's JSON", NULL },
	CLIENT_OPTION,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "All devices, refreshed:", "kiseki devices --watch" },
	{ "Those that should trace and cannot:",
	  "kiseki devices --json | jq -r '.devices[] | select(.state == \"failed\").name'" },
	{ NULL, NULL },
};

const struct command command_devices = {
	.name = "devices",
	.summary = "list the devices of a collector and how they are",
	.usage = "[DEVICE...] [--group GROUP] [--watch] [--json]",
	.description =
		"Of each device: what it does (idle, tracing, failed: it should trace and cannot, "
		"offline), where its events come from, events per second, bytes that one event "
		"takes on the wire, events that were lost and counted, how full its spool is, by "
		"how much its clock may be wrong, and when it was last heard of.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
