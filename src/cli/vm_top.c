/* SPDX-License-Identifier: MIT */
/* vm top: virtual machines of any devices, over any time, by what their time went to. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/vm_time.h"
#include "cli/device_json.h"
#include "cli/fleet_asking.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/table.h"
#include "cli/vm_print.h"
#include "command/say.h"

/* The columns behind the name and the time: what ran, what was taken, what was not wanted. */
static const enum vm_class shown[] = { VM_GUEST, VM_KERNEL, VM_OUTSIDE, VM_STEAL,  VM_WAITING,
				       VM_HALT,	 VM_POLL,   VM_ASLEEP,	VM_UNKNOWN };

/* Who took the most: "steal by other 12.3 %". */
static void push_cause(struct table *table, const json_t *row, uint64_t all)
{
	const json_t *cause = json_array_get(json_object_get(row, "causes"), 0);
	char text[UNITS_LEN];

	if (!cause)
		table_push(table, NULL);
	else
		table_printf(table, "%s %s: %s",
			     units_percent(device_json_count(cause, "ns"), all, text),
			     device_json_text(cause, "class"), device_json_text(cause, "name"));
}

static void print_rows(const json_t *document)
{
	static const struct table_column columns[] = {
		{ "machine", true },   { "time", false },     { "guest%", false },
		{ "kernel%", false },  { "program%", false }, { "steal%", false },
		{ "waiting%", false }, { "halt%", false },    { "poll%", false },
		{ "asleep%", false },  { "unknown%", false }, { "most of it", true },
		{ NULL, false },
	};
	const json_t *rows = json_object_get(document, "rows"), *row;
	CLEANUP_TABLE struct table table;
	char text[UNITS_LEN];
	uint64_t all;
	size_t i, k;

	fleet_asking_print_basis("", json_object_get(document, "basis"));
	if (!json_array_size(rows)) {
		puts("No facts about virtual machines. They are of kiseki-agent vm --server.");
		return;
	}
	putchar('\n');
	table_init(&table, columns);
	for (i = 0; i < json_array_size(rows); i++) {
		row = json_array_get(rows, i);
		all = device_json_count(row, "ns");
		table_push(&table, device_json_text(row, "name"));
		table_push(&table, units_duration(all, text));
		for (k = 0; k < sizeof(shown) / sizeof(shown[0]); k++)
			table_push(&table,
				   units_percent((uint64_t)json_integer_value(json_object_get(
							 json_object_get(row, "classes"),
							 vm_class_words[shown[k]])),
						 all, text));
		push_cause(&table, row, all);
	}
	table_print(&table, stdout, 0);
	vm_print_more(i, (size_t)device_json_count(document, "machines"));
}

static int run(const struct args *a)
{
	const struct fleet_asking asking = { .path = "machines",
					     .params = "last from to limit",
					     .answer = fact_answer_machines,
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
	{ 'n', "limit", "N", "show this many machines (50); 0 shows all", NULL },
	FLEET_ASKING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "The machines of all hosts since yesterday, and what was taken from them:",
	  "kiseki vm top --fleet --last 24h" },
	{ NULL, NULL },
};

const struct command command_vm_top = {
	.name = "top",
	.summary = "list virtual machines by what their time went to, over many hosts",
	.usage = "DEVICE...|--devices SEL|--fleet [--last LENGTH] [OPTION...]",
	.description =
		"Answered from facts, the sums that a collector keeps of each minute and each "
		"hour (docs/fleet.md). Each nanosecond of each virtual CPU is in one column. "
		"The last column is the largest of what was taken: by whom (steal, waiting), or "
		"for which exit (vmm-kernel, vmm-user). A machine is what its VMM is called: "
		"those of one name on several hosts are one row.",
	.options = options,
	.examples = examples,
	.parent = &command_vm,
	.operands = "DEVICE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
