/* SPDX-License-Identifier: MIT */
/*
 * boot report: why a boot took as long as it did. The numbers are analysis/boot_report.h's, the words
 * docs/reports.md's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/boot_report_json.h"
#include "base/when.h"
#include "cli/boot_print.h"
#include "cli/boot_reading.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/table.h"
#include "cli/units.h"
#include "command/say.h"

#define LIMIT_DEFAULT 10U
#define MIN_DEFAULT_NS 10000000ULL /* or, of a short recording, a hundredth of it */
#define MIN_DEFAULT_PART 100U
#define WAITERS_SHOWN 4U
#define MEMBERS_SHOWN 6U

struct wanted {
	struct boot_report_options options;
	struct boot_moment to;
	bool has_to;
	uint64_t limit;
};

/* --- the times --- */

static void print_row(const char *what, uint64_t ns, const char *text)
{
	char moment[BOOT_PRINT_TIME], shown[160];

	snprintf(shown, sizeof(shown), "%s", text);
	table_clean(shown);
	printf("  %-18s %12s%s%s\n", what, boot_print_moment(ns, moment), *shown ? "  " : "",
	       shown);
}

/* How long it took, from wherever there is something to count from. */
static void print_goal(const struct boot_report *r)
{
	char text[160] = "", a[UNITS_LEN], b[UNITS_LEN];
	const struct boot *boot = r->boot;
	uint64_t ns = r->to.ns;
	bool has_user = r->is_boot && r->user_ns && r->user_ns < ns;

	snprintf(text, sizeof(text), "%.60s%s%s%s%s after the recording began",
		 r->to.text ? r->to.text : "", r->to.text ? ": " : "",
		 has_user ? units_duration(ns - r->user_ns, a) : "",
		 has_user ? " after user space, " : "",
		 units_duration(ns > boot->from_ns ? ns - boot->from_ns : 0, b));
	print_row(r->is_target ? "target reached" : "no target; the end", ns, text);
}

static void print_times(const struct boot_report *r)
{
	const struct boot *b = r->boot;

	boot_print_title(r->is_boot ? "Time since the kernel started" : "Time");
	if (r->is_boot && r->user_ns)
		print_row("user space began", r->user_ns, "");
	print_row("recording began", b->from_ns, "");
	print_goal(r);
	if (r->is_target)
		print_row("recording ended", b->to_ns, b->is_cut ? "cut off" : "");
}

static void print_part(const char *what, uint64_t part, uint64_t whole)
{
	char text[UNITS_LEN];

	if (part)
		printf("  %s %s%%", what, units_percent(part, whole, text));
}

static void print_machine(const struct boot_report *r)
{
	uint64_t busy = r->user_cpu_ns + r->system_ns + r->irq_ns;
	uint64_t all = busy + r->iowait_ns + r->idle_ns + r->steal_ns;
	char a[UNITS_LEN], b[UNITS_LEN];

	printf("  %zu process%s", r->processes, r->processes == 1 ? "" : "es");
	if (r->between)
		printf(" (%zu of them lived between two passes)", r->between);
	printf(", %zu kernel thread%s\n", r->kernel_threads, r->kernel_threads == 1 ? "" : "s");
	if (all) {
		fputs("  CPU: ", stdout);
		boot_print_bar(busy, all);
		print_part("user", r->user_cpu_ns, all);
		print_part("system", r->system_ns, all);
		print_part("interrupts", r->irq_ns, all);
		print_part("waiting for disk", r->iowait_ns, all);
		print_part("idle", r->idle_ns, all);
		print_part("stolen", r->steal_ns, all);
		putchar('\n');
	}
	if (r->boot->n_disks)
		printf("  disks: read %s, written %s\n", units_bytes(r->read_bytes, a),
		       units_bytes(r->written_bytes, b));
}

/* --- lists --- */

static void print_costs(const struct boot_report *r, const struct boot_costs *c, const char *title,
			const char *column, uint64_t limit)
{
	char a[UNITS_LEN], b[UNITS_LEN], percent[UNITS_LEN], start[BOOT_PRINT_TIME];
	const struct boot_cost *each;
	size_t i;

	if (!c->n)
		return;
	boot_print_title(title);
	printf("%9s      of      life       start  process\n", column);
	for (i = 0; i < c->n && (!limit || i < limit); i++) {
		each = &c->list[i];
		printf("%9s %6s%% %9s %11s  ", units_duration(each->ns, a),
		       units_percent(each->ns, each->life_ns, percent),
		       units_duration(each->life_ns, b),
		       r->boot->processes[each->process].was_there
			       ? "before"
			       : boot_print_moment(r->boot->processes[each->process].from_ns,
						   start));
		boot_print_bar(each->ns, c->list[0].ns);
		boot_print_process(r->boot, each->process, true);
		putchar('\n');
	}
	boot_print_more(c->n - i);
}

static void print_waiter(const struct boot *b, const struct boot_waiter *w)
{
	char waited[UNITS_LEN], where[80];

	printf("%34s %-8s ", units_duration(w->waited_ns, waited), boot_state_words[w->state]);
	boot_print_process(b, w->process, true);
	if (w->where && w->where < b->n_texts) {
		snprintf(where, sizeof(where), "%s", b->texts[w->where]);
		table_clean(where);
		printf(" in %s", where);
	}
	if (w->whom == BOOT_INTERRUPT) {
		fputs(", woken by an interrupt", stdout);
	} else if (w->whom != BOOT_NONE) {
		fputs(", woken by ", stdout);
		boot_print_process(b, w->whom, false);
	}
	putchar('\n');
}

static void print_idles(const struct boot_report *r, uint64_t limit)
{
	char start[BOOT_PRINT_TIME], length[UNITS_LEN], busy[UNITS_LEN];
	const struct boot_idle *each;
	size_t i, k;

	if (!r->idles->n)
		return;
	boot_print_title("Idle stretches, and who waited for their end");
	puts("      start    length   busy");
	for (i = 0; i < r->idles->n && (!limit || i < limit); i++) {
		each = &r->idles->list[i];
		printf("%11s %9s %5s%%  %s", boot_print_moment(each->from_ns, start),
		       units_duration(each->to_ns - each->from_ns, length),
		       units_percent(each->busy_permille, 1000, busy),
		       each->is_disk ? "the disk was busy; " : "");
		if (each->ended_by == BOOT_NONE) {
			puts("nobody did anything at its end");
			continue;
		}
		fputs("first behind it: ", stdout);
		boot_print_process(r->boot, each->ended_by, false);
		putchar('\n');
		for (k = 0; k < each->n_waiters && k < WAITERS_SHOWN; k++)
			print_waiter(r->boot, &each->waiters[k]);
		if (k < each->n_waiters)
			printf("%43s ... and %zu more\n", "", each->n_waiters - k);
	}
	boot_print_more(r->idles->n - i);
}

static void print_chains(const struct boot_report *r, uint64_t limit)
{
	char start[BOOT_PRINT_TIME], sum[UNITS_LEN], longest[UNITS_LEN], busy[UNITS_LEN];
	const struct boot_chain *each;
	size_t i, k;

	if (!r->chains->n)
		return;
	boot_print_title("Serial chains: children of one parent, one after the other");
	puts("      start       sum   longest   busy  parent");
	for (i = 0; i < r->chains->n && (!limit || i < limit); i++) {
		each = &r->chains->list[i];
		printf("%11s %9s %9s %5s%%  ", boot_print_moment(each->from_ns, start),
		       units_duration(each->sum_ns, sum), units_duration(each->longest_ns, longest),
		       units_percent(each->busy_permille, 1000, busy));
		boot_print_process(r->boot, each->parent, true);
		printf("\n%38s%zu: ", "", each->n);
		for (k = 0; k < each->n && k < MEMBERS_SHOWN; k++) {
			fputs(k ? ", " : "", stdout);
			boot_print_process(r->boot, each->members[k], false);
		}
		puts(k < each->n ? ", ..." : "");
	}
	boot_print_more(r->chains->n - i);
}

/* --- the command --- */

static void print_report(const struct boot_report *r, const struct boot_path *path,
			 const struct wanted *w, const char *name)
{
	boot_print_head(r->boot, name);
	print_times(r);
	print_machine(r);
	print_costs(r, &r->cpu, "CPU time", "cpu", w->limit);
	print_costs(r, &r->disk, "Waits for the disk", "waited", w->limit);
	print_idles(r, w->limit);
	print_chains(r, w->limit);
	print_costs(r, &r->waiting, "Only waited, and ended", "waited", w->limit);
	if (path)
		boot_print_path(r->boot, path);
	boot_print_missing(r->boot);
}

static int read_options(struct wanted *w, const struct args *a, struct error *e)
{
	w->limit = LIMIT_DEFAULT;
	w->options.kernel = args_has(a, "kernel");
	if (args_get_count(a, "limit", &w->limit, e) < 0)
		return -EINVAL;
	if (args_has(a, "min") && when_parse_length(args_get(a, "min"), &w->options.min_ns, e) < 0)
		return error_prefix(e, EINVAL, "cannot take --min");
	return 0;
}

/* What depends on the boot. */
static int find_goal(struct wanted *w, const struct args *a, const struct boot *b, struct error *e)
{
	uint64_t part = (b->to_ns - b->from_ns) / MIN_DEFAULT_PART;

	if (!args_has(a, "min"))
		w->options.min_ns = part < MIN_DEFAULT_NS ? part : MIN_DEFAULT_NS;
	w->has_to = args_has(a, "to");
	if (w->has_to && boot_moment_parse(args_get(a, "to"), b, &w->to, e) < 0)
		return error_prefix(e, ENOENT, "cannot take --to");
	return 0;
}

static int run(const struct args *a)
{
	CLEANUP(boot_report) struct boot_report *report = NULL;
	CLEANUP(boot_path) struct boot_path *path = NULL;
	CLEANUP(boot) struct boot *b = NULL;
	struct error e = ERROR_INIT;
	struct wanted w = { 0 };
	int r;

	if (read_options(&w, a, &e) < 0)
		return say_usage(&e);
	r = boot_reading_open(&b, a, a->operands[0]);
	if (r != EXIT_OK)
		return r;
	if (find_goal(&w, a, b, &e) < 0)
		return say_failure(&e);
	r = boot_report_new(&report, b, w.has_to ? &w.to : NULL, &w.options);
	if (r >= 0 && args_has(a, "path"))
		r = boot_path_new(&path, b, report->to.process, report->to.ns);
	if (r < 0) {
		error_set(&e, -r, "cannot report on %s: %s", a->operands[0], strerror(-r));
		return say_failure(&e);
	}
	if (args_has(a, "json"))
		return jsonout_print(
			boot_report_json(report, path, args_has(a, "limit") ? w.limit : 0));
	print_report(report, path, &w, a->operands[0]);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'n', "limit", "N", "show this many of each list (10); 0: all", NULL },
	{ 0, "min", "TIME", "leave out what took less (10ms)", NULL },
	{ 0, "to", "MOMENT",
	  "up to this instead of the target: a time (12.5, +300ms), a process, or a text of a mark",
	  NULL },
	{ 0, "path", NULL, "the critical path to that moment, too", NULL },
	{ 'k', "kernel", NULL, "kernel threads, too", NULL },
	{ 0, "json", NULL, "print JSON (docs/reports.md)", NULL },
	BOOT_READING_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Where did the time to the target go?", "kiseki boot report boot.ksk --path" },
	{ "Up to the moment at which the web server started:",
	  "kiseki boot report boot.ksk --to nginx" },
	{ "The latest boot of a device of the collector:", "kiseki boot report board-7" },
	{ NULL, NULL },
};

const struct command command_boot_report = {
	.name = "report",
	.summary = "why a boot took so long: CPU, disk, idle stretches, chains",
	.usage = "FILE|DEVICE|RUN [--to MOMENT] [--path] [--min TIME] [OPTION...]",
	.description =
		"Time to the target and since user space began; the processes with the most CPU "
		"time and the longest waits for the disk; stretches in which the CPUs had nothing "
		"to do, with who waited for their end; children of one parent that ran one after "
		"the other; processes that only waited; and what is missing in the recording. "
		"Everything is up to the target, or to the moment of --to.\n\n"
		"FILE is a .ksk file with a boot chart, the archive or folder of a bootchart, any "
		"trace of the scheduler, or the folder of a collector's store. What is no file is "
		"asked of a collector: a number is a run, a name a device, whose latest boot is "
		"meant. With the scheduler's events of the same time all states are exact.",
	.options = options,
	.examples = examples,
	.parent = &command_boot,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
