/* SPDX-License-Identifier: MIT */
/*
 * vm report: where the time of virtual machines went, in their guests and outside.
 *
 * Rows of a machine are shares of its wall time: functions of its guest by their true time, and in brackets what kept it
 * from running. Together they are 100 percent.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/units.h"
#include "cli/vm_print.h"
#include "cli/vm_reading.h"
#include "command/say.h"

#define LIMIT_DEFAULT 20

struct wanted {
	size_t by;
	uint64_t limit;
	bool json;
};

static void print_line(uint64_t ns, uint64_t wall, const char *samples)
{
	char a[2][UNITS_LEN];

	printf("%7s %9s %8s  ", units_percent(ns, wall, a[0]), units_duration(ns, a[1]), samples);
}

/* --- what ran --- */

static void print_place(const struct vm_reading *r, const struct vm_place *p, size_t by)
{
	const struct function *f;

	if (by == VM_BY_FUNCTION) {
		f = vm_names_function(r->names, p->function);
		printf("%s", f->name);
		if (*f->object && strcmp(f->name, f->object) != 0)
			printf(f->object[0] == '[' ? " %s" : " [%s]", f->object);
		printf("  ");
	}
	if (by == VM_BY_THREAD)
		printf("%s of ", vm_names_thread(r->names, p->thread));
	printf("%s\n", vm_names_process(r->names, p->process));
}

/* The share of OS and USER, for the line above the rows. */
static void sum_modes(const struct vm_reading *r, int32_t vm, uint64_t ret[2])
{
	size_t n, i;
	const struct vm_stat **rows =
		say_checked(vm_correct_dup(vm_report_correct(r->report), VM_BY_FUNCTION, &n));

	ret[0] = ret[1] = 0;
	for (i = 0; rows && i < n; i++)
		if (vm_names_vm(r->names, rows[i]->place.process) == vm)
			ret[!vm_names_is_kernel(r->names, rows[i]->place.function)] +=
				rows[i]->true_ns;
	free(rows);
}

static void print_rows(const struct vm_reading *r, int32_t vm, uint64_t wall,
		       const struct wanted *w)
{
	size_t n, i, shown = 0, all = 0;
	const struct vm_stat **rows =
		say_checked(vm_correct_dup(vm_report_correct(r->report), (enum vm_level)w->by, &n));
	char samples[24];

	for (i = 0; rows && i < n; i++) {
		if (vm_names_vm(r->names, rows[i]->place.process) != vm)
			continue;
		all++;
		if (w->limit && shown >= w->limit)
			continue;
		shown++;
		snprintf(samples, sizeof(samples), "%" PRIu64, rows[i]->samples);
		print_line(rows[i]->true_ns, wall, samples);
		print_place(r, &rows[i]->place, w->by);
	}
	free(rows);
	vm_print_more(shown, all);
}

/* --- what did not --- */

/* One line for each, and one for all who are beyond the limit: the lines of a machine are its wall time. */
static void print_culprits(const struct vm_reading *r, int32_t vm, uint64_t wall, uint64_t limit)
{
	size_t n, i, shown = 0, more = 0;
	uint64_t more_ns = 0;
	const struct vm_culprit **rows =
		say_checked(vm_account_dup_culprits(vm_report_account(r->report), &n));
	char name[UNITS_COMM_LEN];

	for (i = 0; rows && i < n; i++) {
		const struct sample_task *t = &rows[i]->task;
		uint64_t ns = rows[i]->steal_ns + rows[i]->waiting_ns;

		if (vm_time_get(vm_report_time(r->report), rows[i]->vcpu)->pid != vm)
			continue;
		if (limit && shown >= limit) {
			more++;
			more_ns += ns;
			continue;
		}
		shown++;
		print_line(ns, wall, "");
		if (t->tid < 0)
			printf("[ steal ] (not known by whom)\n");
		else if (t->tid == 0)
			printf("[ steal ] (the CPU was idle)\n");
		else if (t->vcpu >= 0)
			printf("[ steal ] (vcpu %" PRId32 " of VM %" PRId32 ")\n", t->vcpu, t->pid);
		else
			printf("[ steal ] (%s, %" PRId32 ")\n", units_comm(t->comm, name), t->tid);
	}
	free(rows);
	if (more) {
		print_line(more_ns, wall, "");
		printf("[ steal ] (others: %zu)\n", more);
	}
}

static void print_outside(const struct vm_reading *r, int32_t vm, const struct vm_sums *s,
			  uint64_t limit)
{
	static const struct {
		enum vm_class class;
		const char *text;
	} lines[] = {
		{ VM_KERNEL, "[ VMM ] (kernel)" },   { VM_OUTSIDE, "[ VMM ] (its program)" },
		{ VM_HALT, "[ idle ] (halt exit)" }, { VM_POLL, "[ idle ] (halt polling)" },
		{ VM_ASLEEP, "[ VMM ] (asleep)" },   { VM_UNKNOWN, "[ unknown ]" },
	};
	uint64_t wall = vm_sums_wall(s);
	size_t i;

	print_culprits(r, vm, wall, limit);
	for (i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		if (!s->ns[lines[i].class])
			continue;
		print_line(s->ns[lines[i].class], wall, "");
		printf("%s\n", lines[i].text);
	}
}

static void print_machine(const struct vm_reading *r, int32_t vm, const struct wanted *w)
{
	const char *name = sample_spaces_comm(r->in.source->spaces, vm, UINT64_MAX);
	uint64_t modes[2], wall;
	struct vm_sums s;
	char a[4][UNITS_LEN];

	vm_report_sum(r->report, vm, &s);
	wall = vm_sums_wall(&s);
	sum_modes(r, vm, modes);
	printf("\n%sVM %" PRId32 "%s%s%s, OS:USER:IDLE:steal = %s:%s:%s:%s%%\n",
	       say_style(stdout, STYLE_HEAD), vm, name ? " " : "", name ? name : "",
	       say_style(stdout, STYLE_PLAIN), units_percent(modes[0], wall, a[0]),
	       units_percent(modes[1], wall, a[1]),
	       units_percent(s.ns[VM_HALT] + s.ns[VM_POLL], wall, a[2]),
	       units_percent(vm_sums_steal1(&s) + vm_sums_steal2(&s), wall, a[3]));
	printf("%s      %%      time  samples  %s%s\n", say_style(stdout, STYLE_HEAD),
	       vm_level_words[w->by], say_style(stdout, STYLE_PLAIN));
	print_rows(r, vm, wall, w);
	print_outside(r, vm, &s, w->limit);
}

static void print_report(const struct vm_reading *r, const struct wanted *w)
{
	const struct vm_time *t = vm_report_time(r->report);
	uint32_t i;

	vm_print_head(r);
	printf("\n");
	vm_print_machines(r);
	for (i = 0; i < vm_time_count(t); i++)
		if (vm_time_is_first(t, i))
			print_machine(r, vm_time_get(t, i)->pid, w);
	vm_print_rest(r);
}

static int print_json(struct vm_reading *r, const struct wanted *w)
{
	r->json.limit = w->limit;
	return jsonout_print(vm_report_json(&r->json, (enum vm_level)w->by));
}

static int run(const struct args *a)
{
	CLEANUP_VM_READING struct vm_reading in = { 0 };
	struct wanted w = { .by = VM_BY_FUNCTION, .json = args_has(a, "json") };
	struct error e = ERROR_INIT;

	w.limit = w.json ? 0 : LIMIT_DEFAULT;
	if (args_get_count(a, "limit", &w.limit, &e) < 0 ||
	    args_get_word(a, "by", vm_level_words, &w.by, &e) < 0)
		return say_usage(&e);
	if (vm_reading_open(&in, a, &e) < 0)
		return vm_reading_failure(&in, &e);
	if (w.json)
		return print_json(&in, &w);
	print_report(&in, &w);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'b', "by", "WHAT", "what the rows are: process thread function (function)",
	  "process thread function" },
	{ 'n', "limit", "N", "show this many rows of each machine (20); 0 shows all", NULL },
	{ 0, "json", NULL, "print JSON (docs/vm.md)", NULL },
	VM_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Where the time of all machines went:", "kiseki vm report vm.ksk" },
	{ "Only between two moments, by process:",
	  "kiseki vm report vm.ksk --from +2s --to +4s --by process" },
	{ NULL, NULL },
};

const struct command command_vm_report = {
	.name = "report",
	.summary = "where the time of virtual machines went",
	.usage = "FILE|STORE|DEVICE|RUN [--by WHAT] [--limit N] [OPTION...]",
	.description =
		"Of each virtual CPU every moment is in one class: in its guest; work of the "
		"kernel or of "
		"the VMM's program for it; stolen by others while it could run; woken and waiting; "
		"halted; "
		"polled for; asleep in the VMM; not known. The rows of a machine are what ran in "
		"its guest, by "
		"true time, and in brackets what kept it from running: together its wall time.\n\n"
		"FILE is a recording of kiseki vm record. Of the folder of a collector's store, "
		"and "
		"of a DEVICE of the collector that --server names, the latest recording of virtual "
		"machines is meant; a number is that run of the collector.",
	.options = options,
	.examples = examples,
	.parent = &command_vm,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
