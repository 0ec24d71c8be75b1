/* SPDX-License-Identifier: MIT */
/*
 * report latency: how long tasks wait from wakeup to run. The numbers are analysis/latency.h's, the
 * words docs/reports.md's; the JSON form is in analysis/latency_json.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/latency.h"
#include "analysis/latency_json.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/reading.h"
#include "cli/units.h"
#include "command/args.h"
#include "command/command.h"
#include "command/say.h"

#define LIMIT_DEFAULT 20
#define WORST_DEFAULT 5
#define BAR 40

static void heading(const char *text)
{
	printf("\n%s%s%s\n", say_style(stdout, STYLE_HEAD), text, say_style(stdout, STYLE_PLAIN));
}

#define NAME_COLUMNS 16

static void print_percentiles(const char *name, size_t columns, const struct histogram *h)
{
	char a[6][UNITS_LEN];

	if (!h->count) {
		printf("%-*s %9d\n", units_width(name, columns), name, 0);
		return;
	}
	printf("%-*s %9" PRIu64 " %8s %8s %8s %8s %8s %8s\n", units_width(name, columns), name,
	       h->count, units_duration(h->sum / h->count, a[0]),
	       units_duration(histogram_permille(h, 500), a[1]),
	       units_duration(histogram_permille(h, 900), a[2]),
	       units_duration(histogram_permille(h, 990), a[3]),
	       units_duration(histogram_permille(h, 999), a[4]), units_duration(h->max, a[5]));
}

static void print_unknown(const struct latency_waits *w)
{
	if (w->ends[WAIT_UNKNOWN] + w->ends[WAIT_INFERRED] + w->ends[WAIT_NEVER] +
		    w->ends[WAIT_UNSEEN] ==
	    0)
		return;
	printf("\nNot in these figures: %" PRIu64
	       " unknown (across a loss or an unseen run), %" PRIu64
	       " inferred (the\nswitch is missing), %" PRIu64 " that never ran, %" PRIu64
	       " runs after a sleep without a\nrecorded wakeup.\n",
	       w->ends[WAIT_UNKNOWN], w->ends[WAIT_INFERRED], w->ends[WAIT_NEVER],
	       w->ends[WAIT_UNSEEN]);
}

static void print_histogram(const struct histogram *h)
{
	uint32_t power, first = 64, last = 0, k;
	uint64_t most = 0, count;
	char a[2][UNITS_LEN];

	for (power = 0; power < 64; power++) {
		count = histogram_power(h, power);
		if (!count)
			continue;
		first = first == 64 ? power : first;
		last = power;
		most = count > most ? count : most;
	}
	if (first == 64)
		return;
	heading("    from        to     waits");
	for (power = first; power <= last; power++) {
		count = histogram_power(h, power);
		printf("%8s  %8s %9" PRIu64 "  %s", units_duration(power ? 1ULL << power : 0, a[0]),
		       power < 63 ? units_duration(2ULL << power, a[1]) : "", count,
		       say_style(stdout, STYLE_BAR));
		for (k = 0; k < (count * BAR + most - 1) / most; k++)
			putchar('#');
		puts(say_style(stdout, STYLE_PLAIN));
	}
}

/* As wide as the widest name that is shown. */
static size_t name_columns(const struct latency_task *t, size_t n, uint64_t limit)
{
	size_t most = NAME_COLUMNS, columns, i;
	char names[UNITS_NAMES_LEN];
	uint64_t shown = 0;

	for (i = 0; i < n && (!limit || shown < limit); i++) {
		if (!t[i].waits[WAIT_WAKEUP].known.count)
			continue;
		shown++;
		columns = units_columns(units_names(t[i].first_comm, t[i].comm, names));
		most = columns > most ? columns : most;
	}
	return most;
}

static void print_tasks(const struct latency *l, uint64_t limit)
{
	const struct latency_task *t;
	size_t n, i, columns, shown = 0, more = 0;
	char names[UNITS_NAMES_LEN];

	t = latency_get_tasks(l, &n);
	columns = name_columns(t, n, limit);
	printf("\n%s    pid  %-*s     waits      avg      p50      p90      p99    p99.9      "
	       "max%s\n",
	       say_style(stdout, STYLE_HEAD), (int)columns, "task", say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < n; i++) {
		const struct histogram *h = &t[i].waits[WAIT_WAKEUP].known;

		if (!h->count)
			continue;
		if (limit && shown == limit) {
			more++;
			continue;
		}
		shown++;
		printf("%7" PRId32 "  ", t[i].pid);
		print_percentiles(units_names(t[i].first_comm, t[i].comm, names), columns, h);
	}
	if (more)
		printf("%s         ... and %zu more tasks; --limit 0 shows all%s\n",
		       say_style(stdout, STYLE_DIM), more, say_style(stdout, STYLE_PLAIN));
}

static void print_part(const char *who, int32_t pid, uint64_t ns, const struct latency_case *c)
{
	char a[UNITS_LEN], b[UNITS_LEN], name[48];

	if (!ns)
		return;
	if (pid)
		snprintf(name, sizeof(name), "%s-%" PRId32, who, pid);
	else
		snprintf(name, sizeof(name), "(%s)", who);
	printf("        %8s %6s%%  %s", units_duration(ns, a),
	       units_percent(ns, c->to_ns - c->from_ns, b), name);
}

static void print_case(const struct latency_case *c, size_t number)
{
	char a[UNITS_LEN], b[UNITS_LEN], comm[UNITS_COMM_LEN];
	uint32_t i;

	printf("%4zu. %s%s%s  %s-%" PRId32 " on CPU %" PRIu32 " at %s, ", number,
	       say_style(stdout, STYLE_HEAD), units_duration(c->to_ns - c->from_ns, a),
	       say_style(stdout, STYLE_PLAIN), units_comm(c->comm, comm), c->pid, c->cpu,
	       units_moment(c->from_ns, b));
	if (c->waker_pid)
		printf("woken by %s-%" PRId32, units_comm(c->waker_comm, comm), c->waker_pid);
	else
		printf("woken in idle");
	if (c->waker_cpu != TRACKER_NONE)
		printf(" on CPU %" PRIu32, c->waker_cpu);
	printf("; meanwhile there ran\n");
	for (i = 0; i < c->n_blockers; i++) {
		const struct latency_blocker *k = &c->blockers[i];

		print_part(units_comm(k->comm, comm), k->pid, k->ns, c);
		printf(" (+%s to +%s)\n", units_duration(k->from_ns - c->from_ns, a),
		       units_duration(k->to_ns - c->from_ns, b));
	}
	print_part("other tasks", 0, c->others_ns, c);
	fputs(c->others_ns ? "\n" : "", stdout);
	print_part("idle", 0, c->idle_ns, c);
	fputs(c->idle_ns ? "\n" : "", stdout);
	print_part("not known", 0, c->unknown_ns, c);
	fputs(c->unknown_ns ? "\n" : "", stdout);
}

static void print_report(const struct latency *l, const char *path, uint64_t limit)
{
	const struct latency_waits *w = latency_get_all(l, WAIT_WAKEUP);
	const struct latency_case *c;
	char length[UNITS_LEN];
	size_t n, i;

	printf("%s: waits from wakeup to run in %s\n", path,
	       units_duration(latency_to_ns(l) - latency_from_ns(l), length));
	heading("                     waits      avg      p50      p90      p99    p99.9      max");
	print_percentiles("after wakeup", NAME_COLUMNS, &w->known);
	print_percentiles("after preemption", NAME_COLUMNS,
			  &latency_get_all(l, WAIT_PREEMPTED)->known);
	print_unknown(w);
	print_histogram(&w->known);
	print_tasks(l, limit);
	c = latency_get_cases(l, &n);
	if (n)
		heading("The longest waits after a wakeup");
	for (i = 0; i < n; i++)
		print_case(&c[i], i + 1);
}

static int compute(struct latency **ret, struct reading *in, uint32_t n_cases, struct error *e)
{
	CLEANUP(latency) struct latency *l = NULL;
	struct trace_item item;
	int rc, more;

	if (latency_new(&l, &in->source->info, n_cases) < 0)
		return error_set(e, ENOMEM, "cannot make the report: out of memory");
	latency_select(l, &in->tasks);
	while ((more = reading_next(in, &item, e)) > 0) {
		rc = latency_add(l, &item, e);
		if (rc < 0)
			return rc;
	}
	rc = more < 0 ? more : latency_finish(l, e);
	if (rc >= 0)
		rc = reading_expect_items(in, e);
	if (rc >= 0)
		*ret = take_ptr(l);
	return rc;
}

static int run(const struct args *a)
{
	CLEANUP_READING struct reading in = { 0 };
	CLEANUP(latency) struct latency *l = NULL;
	struct error e = ERROR_INIT;
	uint64_t limit = LIMIT_DEFAULT, worst = WORST_DEFAULT;
	size_t order = LATENCY_BY_MAX;

	if (args_get_count(a, "limit", &limit, &e) < 0 ||
	    args_get_count(a, "worst", &worst, &e) < 0 ||
	    args_get_word(a, "sort", latency_order_words, &order, &e) < 0)
		return say_usage(&e);
	if (worst > LATENCY_CASES_MAX) {
		error_set(&e, EINVAL, "cannot show %" PRIu64 " waits: at most %u", worst,
			  LATENCY_CASES_MAX);
		return say_usage(&e);
	}
	if (reading_open_report(&in, a, a->operands[0], &e) < 0 ||
	    compute(&l, &in, (uint32_t)worst, &e) < 0)
		return reading_failure(&in, &e);
	latency_sort(l, (enum latency_order)order);
	if (args_has(a, "json"))
		return jsonout_print(latency_json(l, limit));
	print_report(l, in.path, limit);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'n', "limit", "N", "show this many tasks (20); 0 shows all", NULL },
	{ 's', "sort", "KEY", "max (default) p99 avg total count pid comm",
	  "max p99 avg total count pid comm" },
	{ 'w', "worst", "N", "show this many of the longest waits (5), at most 1000", NULL },
	READING_TASK_OPTIONS,
	READING_CLOCK_OPTION,
	{ 0, "json", NULL, "print JSON (docs/reports.md)", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "The ten longest waits and who ran instead:",
	  "kiseki report latency trace.ksk --worst 10" },
	{ "The 99.9th percentile over all tasks, in nanoseconds:",
	  "kiseki report latency trace.ksk --json | jq .wakeup.p999_ns" },
	{ NULL, NULL },
};

const struct command command_report_latency = {
	.name = "latency",
	.summary = "time from wakeup to run: histogram, percentiles, worst cases",
	.usage = "FILE [--worst N] [--sort KEY] [--limit N] [OPTION...]",
	.description =
		"A wait begins when a sleeping task is woken and ends when it gets a CPU. The "
		"percentiles are good to about one percent, the maxima are exact. The longest "
		"waits "
		"are shown with who woke the task and who had its CPU meanwhile. Tasks that were "
		"preempted wait as well; those waits are summed up apart.",
	.options = options,
	.examples = examples,
	.parent = &command_report,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
