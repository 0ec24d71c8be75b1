/* SPDX-License-Identifier: MIT */
/* vm steal: what kept virtual CPUs from running: whom, why, and which function of the host. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/vm_exit.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/table.h"
#include "cli/units.h"
#include "cli/vm_print.h"
#include "cli/vm_reading.h"
#include "command/say.h"

#define LIMIT_DEFAULT 20

static void print_title(const char *text)
{
	printf("\n%s%s%s\n", say_style(stdout, STYLE_HEAD), text, say_style(stdout, STYLE_PLAIN));
}

static const char *exit_name(const struct vm_reading *r, bool is_known, const uint64_t reason[2],
			     char text[VM_EXIT_NAME_LEN])
{
	if (!is_known)
		return "-";
	vm_exit_format(text, (enum sample_exits)r->in.source->sampling.exits, reason[0], reason[1]);
	return text;
}

static uint64_t wall_of(const struct vm_reading *r, uint32_t vcpu)
{
	return vm_sums_wall(vm_account_get(vm_report_account(r->report), vcpu));
}

static void print_culprits(const struct vm_reading *r, uint64_t limit)
{
	static const struct table_column columns[] = {
		{ "vm/vcpu", true }, { "%", false }, { "steal", false }, { "waiting", false },
		{ "times", false },  { "by", true }, { NULL, false },
	};
	CLEANUP_TABLE struct table table;
	char name[VM_PRINT_VCPU_LEN], text[UNITS_LEN], comm[UNITS_COMM_LEN];
	size_t n = 0, i;
	const struct vm_culprit **rows =
		say_checked(vm_account_dup_culprits(vm_report_account(r->report), &n));

	print_title("Type 1: others had the CPU while it could run");
	table_init(&table, columns);
	for (i = 0; rows && i < n && (!limit || i < limit); i++) {
		const struct sample_task *t = &rows[i]->task;
		uint64_t ns = rows[i]->steal_ns + rows[i]->waiting_ns;

		table_push(&table, vm_print_vcpu(r, rows[i]->vcpu, name));
		table_push(&table, units_percent(ns, wall_of(r, rows[i]->vcpu), text));
		table_push(&table, units_duration(rows[i]->steal_ns, text));
		table_push(&table, units_duration(rows[i]->waiting_ns, text));
		table_printf(&table, "%" PRIu64, rows[i]->times);
		if (t->tid < 0)
			table_push(&table, "not known");
		else if (t->tid == 0)
			table_push(&table, "nobody: the CPU was idle");
		else if (t->vcpu >= 0)
			table_printf(&table, "vcpu %" PRId32 " of VM %" PRId32, t->vcpu, t->pid);
		else
			table_printf(&table, "%s (%" PRId32 ")", units_comm(t->comm, comm), t->tid);
	}
	table_print(&table, stdout, 0);
	vm_print_more(i, n);
	free(rows);
}

static void print_reasons(const struct vm_reading *r, uint64_t limit)
{
	static const struct table_column columns[] = {
		{ "vm/vcpu", true }, { "%", false },	   { "exits", false },
		{ "kernel", false }, { "program", false }, { "sampling", false },
		{ "exit", true },    { NULL, false },
	};
	CLEANUP_TABLE struct table table;
	char name[VM_PRINT_VCPU_LEN], text[UNITS_LEN], word[VM_EXIT_NAME_LEN];
	size_t n = 0, i;
	const struct vm_reason **rows =
		say_checked(vm_account_dup_reasons(vm_report_account(r->report), &n));

	print_title("Type 2: the VMM worked for it");
	table_init(&table, columns);
	for (i = 0; rows && i < n && (!limit || i < limit); i++) {
		const uint64_t reason[2] = { rows[i]->reason, rows[i]->detail };

		table_push(&table, vm_print_vcpu(r, rows[i]->vcpu, name));
		table_push(&table, units_percent(rows[i]->kernel_ns + rows[i]->outside_ns,
						 wall_of(r, rows[i]->vcpu), text));
		table_printf(&table, "%" PRIu64, rows[i]->exits);
		table_push(&table, units_duration(rows[i]->kernel_ns, text));
		table_push(&table, units_duration(rows[i]->outside_ns, text));
		table_push(&table, units_duration(rows[i]->ours_ns, text));
		table_push(&table, exit_name(r, rows[i]->is_known, reason, word));
	}
	table_print(&table, stdout, 0);
	vm_print_more(i, n);
	free(rows);
}

static void print_host(const struct vm_reading *r, uint64_t limit)
{
	static const struct table_column columns[] = {
		{ "vm/vcpu", true },  { "samples", false }, { "exit", true },
		{ "function", true }, { "object", true },   { NULL, false },
	};
	CLEANUP_TABLE struct table table;
	char name[VM_PRINT_VCPU_LEN], word[VM_EXIT_NAME_LEN];
	size_t n = 0, i;
	const struct vm_host_row **rows = say_checked(vm_report_dup_host(r->report, &n));

	if (!n) {
		free(rows);
		return;
	}
	print_title("Functions of the host that did it, by samples");
	table_init(&table, columns);
	for (i = 0; rows && i < n && (!limit || i < limit); i++) {
		const uint64_t reason[2] = { rows[i]->reason, rows[i]->detail };
		const struct function *f =
			functions_get(profile_names_functions(r->in.names), rows[i]->function);

		table_push(&table, vm_print_vcpu(r, rows[i]->vcpu, name));
		table_printf(&table, "%" PRIu64, rows[i]->samples);
		table_push(&table, exit_name(r, rows[i]->is_known, reason, word));
		table_push(&table, f->name);
		table_push(&table, f->object);
	}
	table_print(&table, stdout, 0);
	vm_print_more(i, n);
	free(rows);
}

static int run(const struct args *a)
{
	CLEANUP_VM_READING struct vm_reading in = { 0 };
	bool json = args_has(a, "json");
	uint64_t limit = json ? 0 : LIMIT_DEFAULT;
	struct error e = ERROR_INIT;

	if (args_get_count(a, "limit", &limit, &e) < 0)
		return say_usage(&e);
	if (vm_reading_open(&in, a, &e) < 0)
		return vm_reading_failure(&in, &e);
	in.json.limit = limit;
	if (json)
		return jsonout_print(vm_steal_json(&in.json));
	vm_print_head(&in);
	printf("\n");
	vm_print_machines(&in);
	print_culprits(&in, limit);
	print_reasons(&in, limit);
	print_host(&in, limit);
	vm_print_rest(&in);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'n', "limit", "N", "show this many rows of each list (20); 0 shows all", NULL },
	{ 0, "json", NULL, "print JSON (docs/vm.md)", NULL },
	VM_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Who took time from the machines, and why:", "kiseki vm steal vm.ksk" },
	{ NULL, NULL },
};

const struct command command_vm_steal = {
	.name = "steal",
	.summary = "who and what kept virtual CPUs from running",
	.usage = "FILE|STORE|DEVICE|RUN [--limit N] [OPTION...]",
	.description = "Steal of type 1 is time in which a virtual CPU could run and another task "
		       "had its CPU: which "
		       "one. It is what a guest counts as its steal time. Steal of type 2 is the "
		       "VMM's work for the virtual CPU, in the "
		       "kernel and in its own program, by the reason for which the guest was left; "
		       "guests do not see it. What the "
		       "sampling itself cost is told apart.",
	.options = options,
	.examples = examples,
	.parent = &command_vm,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
