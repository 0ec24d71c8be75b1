/* SPDX-License-Identifier: MIT */
/*
 * func_summary: see func_summary.h. The numbers are analysis/call_report.h's, the words
 * docs/reports.md's.
 */
#include "cli/func_summary.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/call_json.h"
#include "analysis/call_report.h"
#include "cli/func_print.h"
#include "cli/jsonout.h"
#include "cli/units.h"
#include "command/say.h"

#define LIMIT_DEFAULT 20

struct wanted {
	size_t order;
	uint64_t limit;
	uint64_t min_ns;
	const char *pattern;
	bool lines;
};

static int read_options(struct wanted *w, const struct args *a, struct error *e)
{
	w->limit = LIMIT_DEFAULT;
	w->order = CALL_BY_LOCAL;
	w->pattern = args_get(a, "function");
	w->lines = args_has(a, "lines");
	if (args_get_count(a, "limit", &w->limit, e) < 0 ||
	    args_get_word(a, "sort", call_order_words, &w->order, e) < 0)
		return -1;
	return func_reading_length(a, "min-time", &w->min_ns, e);
}

int func_summary_check(const struct args *a, struct error *e)
{
	struct wanted w = { 0 };

	return read_options(&w, a, e);
}

static void print_head(const struct call_report *r, const struct func_reading *in, size_t functions)
{
	const struct call_totals *t = call_report_totals(r);
	char length[UNITS_LEN];

	printf("%s: %" PRIu64 " call%s of %zu function%s in %s, %" PRIu64 " thread%s\n", in->path,
	       t->counts.calls, t->counts.calls == 1 ? "" : "s", functions,
	       functions == 1 ? "" : "s", units_duration(t->to_ns - t->from_ns, length), t->threads,
	       t->threads == 1 ? "" : "s");
	if (t->counts.calls && !t->os_threads)
		puts("Whether local time was user, kernel, preempted or blocked is not known: no "
		     "records of the\nscheduler are beside the calls.");
}

static void print_stat(const struct call_stat *s, const struct func_columns *c, uint64_t all_ns)
{
	uint64_t local = call_split_sum(&s->local);
	char a[6][UNITS_LEN];
	bool complete = call_stat_complete(s) > 0;

	printf("%9" PRIu64 " %8s %8s %6s %8s %8s %8s", s->calls, units_duration(s->total_ns, a[0]),
	       units_duration(local, a[1]), units_percent(local, all_ns, a[2]),
	       complete ? units_duration(call_stat_average(s), a[3]) : "-",
	       complete ? units_duration(s->min_ns, a[4]) : "-",
	       complete ? units_duration(s->max_ns, a[5]) : "-");
	func_print_split(c, &s->local);
	fputs("  ", stdout);
}

static void print_report(const struct call_report *r, struct func_reading *in,
			 const struct wanted *w, size_t functions)
{
	uint64_t all_ns = call_split_sum(call_report_local(r));
	struct func_columns columns;
	const struct call_stat *s;
	size_t n, i;

	func_print_choose(&columns, call_report_totals(r));
	print_head(r, in, functions);
	s = call_report_get(r, &n);
	printf("\n%s    calls    total    local local%%      avg      min      max",
	       say_style(stdout, STYLE_HEAD));
	func_print_titles(&columns);
	printf("  function%s\n", say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < n && (!w->limit || i < w->limit); i++) {
		print_stat(&s[i], &columns, all_ns);
		func_print_name(in->names, s[i].function, w->lines);
	}
	if (i < n)
		printf("%s          ... and %zu more functions; --limit 0 shows all%s\n",
		       say_style(stdout, STYLE_DIM), n - i, say_style(stdout, STYLE_PLAIN));
	func_print_missing(call_report_totals(r));
}

int func_summary_print(struct func_reading *in, const struct args *a)
{
	CLEANUP(call_report) struct call_report *r = NULL;
	struct error e = ERROR_INIT;
	struct wanted w = { 0 };
	size_t functions;

	if (read_options(&w, a, &e) < 0)
		return say_usage(&e);
	if (call_report_new(&r, &in->walk, &e) < 0)
		return func_reading_failure(in, &e);
	func_reading_warn(in);
	call_report_get(r, &functions);
	call_report_filter(r, w.pattern, w.min_ns);
	call_report_sort(r, (enum call_order)w.order);
	if (args_has(a, "json"))
		return jsonout_print(call_report_json(r, w.limit));
	print_report(r, in, &w, functions);
	return EXIT_OK;
}
