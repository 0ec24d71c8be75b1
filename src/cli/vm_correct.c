/* SPDX-License-Identifier: MIT */
/* vm correct: how long guests' programs really took. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/table.h"
#include "cli/units.h"
#include "cli/vm_print.h"
#include "cli/vm_reading.h"
#include "command/say.h"

#define LIMIT_DEFAULT 20

static bool is_wanted(const struct vm_reading *r, const struct vm_stat *s, const char *pattern)
{
	char text[VM_NAME_TEXT + 2];

	if (!pattern)
		return true;
	/* A name without wildcards need not be whole: "nginx" means "nginx (812)", too. */
	snprintf(text, sizeof(text), "%s", vm_names_process(r->names, s->place.process));
	if (!fnmatch(pattern, text, 0))
		return true;
	text[strcspn(text, "(")] = '\0';
	if (*text && text[strlen(text) - 1] == ' ')
		text[strlen(text) - 1] = '\0';
	return !fnmatch(pattern, text, 0);
}

static void push_place(struct table *t, const struct vm_reading *r, const struct vm_place *p,
		       size_t by)
{
	const char *process = vm_names_process(r->names, p->process);

	if (by == VM_BY_FUNCTION)
		table_printf(t, "%s of %s", vm_names_function(r->names, p->function)->name,
			     process);
	else if (by == VM_BY_THREAD)
		table_printf(t, "%s of %s", vm_names_thread(r->names, p->thread), process);
	else
		table_push(t, process);
}

static void print_rows(const struct vm_reading *r, size_t by, uint64_t limit, const char *pattern)
{
	static const struct table_column columns[] = {
		{ "vm", true },	      { "apparent", false }, { "true", false },
		{ "+-", false },      { "steal 1", false },  { "steal 2", false },
		{ "samples", false }, { "what", true },	     { NULL, false },
	};
	CLEANUP_TABLE struct table table;
	size_t n = 0, i, shown = 0, all = 0;
	const struct vm_stat **rows =
		vm_correct_dup(vm_report_correct(r->report), (enum vm_level)by, &n);
	char text[UNITS_LEN];

	table_init(&table, columns);
	for (i = 0; rows && i < n; i++) {
		const struct vm_stat *s = rows[i];

		if (!is_wanted(r, s, pattern))
			continue;
		all++;
		if (limit && shown >= limit)
			continue;
		shown++;
		table_printf(&table, "%" PRId32, vm_names_vm(r->names, s->place.process));
		table_push(&table, units_duration(vm_stat_apparent(s), text));
		table_push(&table, units_duration(s->true_ns, text));
		table_push(&table, units_duration(vm_stat_error(s), text));
		table_push(&table, units_duration(s->steal1_ns, text));
		table_push(&table, units_duration(s->steal2_ns, text));
		table_printf(&table, "%" PRIu64, s->samples);
		push_place(&table, r, &s->place, by);
	}
	table_print(&table, stdout, 0);
	vm_print_more(shown, all);
	free(rows);
}

static void print_nobodys(const struct vm_reading *r, enum vm_level level)
{
	const struct vm_rest *rest = vm_correct_rest(vm_report_correct(r->report), level);
	char a[2][UNITS_LEN];

	if (rest->steal1_ns || rest->steal2_ns)
		printf("nobody's: %s of steal 1, %s of steal 2, between samples in different "
		       "places\n",
		       units_duration(rest->steal1_ns, a[0]),
		       units_duration(rest->steal2_ns, a[1]));
	if (rest->true_ns)
		printf("nobody's: %s in guests that were never sampled\n",
		       units_duration(rest->true_ns, a[0]));
}

static int run(const struct args *a)
{
	CLEANUP_VM_READING struct vm_reading in = { 0 };
	bool json = args_has(a, "json");
	uint64_t limit = json ? 0 : LIMIT_DEFAULT;
	size_t by = VM_BY_PROCESS;
	struct error e = ERROR_INIT;

	if (args_get_count(a, "limit", &limit, &e) < 0 ||
	    args_get_word(a, "by", vm_level_words, &by, &e) < 0)
		return say_usage(&e);
	if (vm_reading_open(&in, a, &e) < 0)
		return vm_reading_failure(&in, &e);
	in.json.limit = limit;
	if (json)
		return jsonout_print(vm_correct_json(&in.json, (enum vm_level)by));
	vm_print_head(&in);
	printf("\n");
	print_rows(&in, by, limit, args_get(a, "process"));
	print_nobodys(&in, (enum vm_level)by);
	vm_print_rest(&in);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'b', "by", "WHAT", "what the rows are: process thread function (process)",
	  "process thread function" },
	{ 'p', "process", "PATTERN", "only processes with such names", NULL },
	{ 'n', "limit", "N", "show this many rows (20); 0 shows all", NULL },
	{ 0, "json", NULL, "print JSON (docs/vm.md)", NULL },
	VM_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "How long a job in a guest took, without what others took from it:",
	  "kiseki vm correct vm.ksk -p postgres" },
	{ "The same of its functions:", "kiseki vm correct vm.ksk -p postgres --by function" },
	{ NULL, NULL },
};

const struct command command_vm_correct = {
	.name = "correct",
	.summary = "the true execution times of what ran in guests",
	.usage = "FILE|STORE [--by WHAT] [--process PATTERN] [OPTION...]",
	.description = "A guest's clock goes on while its virtual CPU does not run, so what it "
		       "measures, the apparent time, "
		       "has steal in it. The true time is that in which the virtual CPU was in the "
		       "guest; samples share it "
		       "out, and +- is one standard deviation of that share. Steal belongs to what "
		       "it struck; where "
		       "samples before and after it were in different places it is nobody's.",
	.options = options,
	.examples = examples,
	.parent = &command_vm,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
