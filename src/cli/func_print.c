/* SPDX-License-Identifier: MIT */
/* func_print: see func_print.h. */
#include "cli/func_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/table.h"
#include "cli/units.h"
#include "command/say.h"

#define NAME_SHOWN 2048U /* bytes of a name; C++ has longer ones, screens have not */

static void print_clean(const char *text)
{
	char clean[NAME_SHOWN];

	snprintf(clean, sizeof(clean), "%s", text);
	table_clean(clean);
	fputs(clean, stdout);
}

void func_print_name(struct call_names *names, uint32_t function, bool lines)
{
	const struct function *f = call_names_get(names, function);
	const char *file = NULL;
	uint32_t line = 0;

	print_clean(f->name);
	fputs(say_style(stdout, STYLE_DIM), stdout);
	if (f->known && *f->object) {
		fputs("  [", stdout);
		print_clean(*f->object == '[' ? f->object + 1 : f->object);
		fputs(*f->object == '[' ? "" : "]", stdout);
	}
	if (lines && call_names_line(names, function, &file, &line) > 0) {
		fputs("  ", stdout);
		print_clean(file);
		printf(":%" PRIu32, line);
	}
	puts(say_style(stdout, STYLE_PLAIN));
}

void func_print_choose(struct func_columns *c, const struct call_totals *t)
{
	c->split = t->os_threads > 0;
	c->kernel = t->kernel_known;
	c->unknown = t->counts.local.ns[CALL_UNKNOWN] > 0;
}

void func_print_titles(const struct func_columns *c)
{
	if (!c->split)
		return;
	printf(" %s preempt.  blocked%s", c->kernel ? "    user   kernel" : " running",
	       c->unknown ? "  unknown" : "");
}

void func_print_split(const struct func_columns *c, const struct call_split *local)
{
	const uint64_t *ns = local->ns;
	bool known = ns[CALL_UNKNOWN] < call_split_sum(local) || !ns[CALL_UNKNOWN];
	const uint64_t shown[] = { c->kernel ? ns[CALL_USER] : ns[CALL_USER] + ns[CALL_KERNEL],
				   ns[CALL_KERNEL], ns[CALL_PREEMPTED], ns[CALL_BLOCKED] };
	char text[UNITS_LEN];
	int i;

	if (!c->split)
		return;
	for (i = 0; i < 4; i++)
		if (i != 1 || c->kernel)
			printf(" %8s", known ? units_duration(shown[i], text) : "-");
	if (c->unknown)
		printf(" %8s", units_duration(ns[CALL_UNKNOWN], text));
}

static void print_count(uint64_t n, const char *one, const char *many)
{
	if (n)
		printf("%" PRIu64 " %s\n", n, n == 1 ? one : many);
}

void func_print_missing(const struct call_totals *t)
{
	const struct call_counts *c = &t->counts;

	if (!t->losses && !t->os_losses && !c->ends[CALL_CUT] && !c->ends[CALL_OPEN] &&
	    !c->ends[CALL_UNWOUND] && !c->orphans && !c->too_deep)
		return;
	putchar('\n');
	if (t->losses)
		printf("%s%" PRIu64 "%s events lost%s at %" PRIu64 " place%s\n",
		       say_style(stdout, STYLE_BAD), t->lost, t->lost_unknown ? " and more" : "",
		       say_style(stdout, STYLE_PLAIN), t->losses, t->losses == 1 ? "" : "s");
	print_count(
		t->os_losses,
		"place where records of the scheduler or of system calls are lost: the split is "
		"unknown there",
		"places where records of the scheduler or of system calls are lost: the split is "
		"unknown there");
	print_count(c->ends[CALL_CUT], "call was open at a loss and counts up to it",
		    "calls were open at a loss and count up to it");
	print_count(c->ends[CALL_OPEN], "call was open at the end of its thread's trace",
		    "calls were open at the end of their threads' traces");
	print_count(c->ends[CALL_UNWOUND], "call was left without a return of its own",
		    "calls were left without returns of their own");
	print_count(c->orphans, "return of a function whose call is not in the trace",
		    "returns of functions whose calls are not in the trace");
	print_count(c->too_deep, "call was too deep to be followed",
		    "calls were too deep to be followed");
}
