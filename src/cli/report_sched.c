/* SPDX-License-Identifier: MIT */
/* report sched: who had the CPUs. The numbers are analysis/running.h's, the words docs/reports.md's. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "analysis/running.h"
#include "analysis/running_json.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/reading.h"
#include "cli/units.h"
#include "command/args.h"
#include "command/command.h"
#include "command/say.h"

#define LIMIT_DEFAULT 20

/* --- text --- */

static void print_head(const struct running *r, const char *path)
{
	const struct running_total *t = running_get_total(r);
	char length[UNITS_LEN], from[UNITS_LEN], to[UNITS_LEN];

	printf("%s: %" PRIu64 " events on %" PRIu32 " CPU%s in %s (%s to %s)\n", path,
	       t->cpu.events, t->cpus, t->cpus == 1 ? "" : "s",
	       units_duration(t->to_ns - t->from_ns, length), units_moment(t->from_ns, from),
	       units_moment(t->to_ns, to));
	if (t->cpu.losses)
		printf("%slost: %" PRIu64 " events%s in %" PRIu64 " gap%s%s\n",
		       say_style(stdout, STYLE_BAD), t->cpu.lost,
		       t->cpu.lost_unknown ? " and an unknown number more" : "", t->cpu.losses,
		       t->cpu.losses == 1 ? "" : "s", say_style(stdout, STYLE_PLAIN));
}

static void print_cpu(const char *name, const struct running_cpu *c)
{
	uint64_t length_ns = c->busy_ns + c->idle_ns + c->unknown_ns;
	char a[6][UNITS_LEN];

	printf("%4s  %8s %6s%%  %8s %6s%%  %8s  %8s  %9" PRIu64 "  %9" PRIu64 "\n", name,
	       units_duration(c->busy_ns, a[0]), units_percent(c->busy_ns, length_ns, a[1]),
	       units_duration(c->idle_ns, a[2]), units_percent(c->idle_ns, length_ns, a[3]),
	       units_duration(c->unknown_ns, a[4]), units_duration(c->inferred_ns, a[5]),
	       c->switches, c->events);
}

static void print_cpus(const struct running *r)
{
	const struct running_cpu *c;
	char name[24];
	size_t n, i;

	c = running_get_cpus(r, &n);
	printf("\n%s%4s  %16s  %16s  %8s  %8s  %9s  %9s%s\n", say_style(stdout, STYLE_HEAD), "CPU",
	       "busy", "idle", "unknown", "inferred", "switches", "events",
	       say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < n; i++) {
		if (!running_has_cpu(&c[i]))
			continue;
		snprintf(name, sizeof(name), "%zu", i);
		print_cpu(name, &c[i]);
	}
	print_cpu("all", &running_get_total(r)->cpu);
}

#define COMM_COLUMNS 16

/* As wide as the widest name that is shown. */
static size_t name_columns(const struct running_task *t, size_t n)
{
	char names[UNITS_NAMES_LEN];
	size_t most = COMM_COLUMNS, columns, i;

	for (i = 0; i < n; i++) {
		columns = units_columns(units_names(t[i].first_comm, t[i].comm, names));
		most = columns > most ? columns : most;
	}
	return most;
}

static void print_task(const struct running_task *t, const char *comm, size_t columns,
		       uint64_t length_ns)
{
	char pid[16] = "", tgid[16] = "-", a[5][UNITS_LEN];

	if (t->pid)
		snprintf(pid, sizeof(pid), "%" PRId32, t->pid);
	if (t->tgid >= 0)
		snprintf(tgid, sizeof(tgid), "%" PRId32, t->tgid);
	printf("%7s %7s  %-*s %8s %6s%% %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64
	       " %8s %8s %8s\n",
	       pid, t->pid ? tgid : "", units_width(comm, columns), comm,
	       units_duration(t->cpu_ns, a[0]), units_percent(t->cpu_ns, length_ns, a[1]),
	       t->switches, t->preemptions, t->wakeups, t->migrations,
	       t->waits ? units_duration(running_wait_average(t), a[2]) : "-",
	       t->waits ? units_duration(t->wait_max_ns, a[3]) : "-",
	       t->preempted_waits ? units_duration(t->preempted_max_ns, a[4]) : "-");
}

static void print_tasks(const struct running *r, uint64_t limit)
{
	const struct running_total *total = running_get_total(r);
	uint64_t length_ns = total->to_ns - total->from_ns;
	const struct running_task *t;
	char names[UNITS_NAMES_LEN];
	size_t n, i, shown, columns;

	t = running_get_tasks(r, &n);
	shown = limit && limit < n ? (size_t)limit : n;
	columns = name_columns(t, shown);
	printf("\n%s%7s %7s  %-*s %8s %7s %8s %8s %8s %8s %8s %8s %8s%s\n",
	       say_style(stdout, STYLE_HEAD), "pid", "tgid", (int)columns, "task", "CPU time",
	       "of CPU", "switches", "preempt.", "wakeups", "migrat.", "wait avg", "wait max",
	       "pre. max", say_style(stdout, STYLE_PLAIN));
	for (i = 0; i < shown; i++)
		print_task(&t[i], units_names(t[i].first_comm, t[i].comm, names), columns,
			   length_ns);
	if (i < n)
		printf("%s%16s  ... and %zu more tasks; --limit 0 shows all%s\n",
		       say_style(stdout, STYLE_DIM), "", n - i, say_style(stdout, STYLE_PLAIN));
	if (total->folded) {
		snprintf(names, sizeof(names), "%" PRIu64 " others", total->folded);
		print_task(&total->others, names, columns, length_ns);
	}
	print_task(&total->task, "all", columns, length_ns);
	if (total->task.waits_unknown || total->task.preempted_unknown)
		printf("\n%" PRIu64 " waits after wakeups and %" PRIu64
		       " after preemptions are not "
		       "known and not in these figures.\n",
		       total->task.waits_unknown, total->task.preempted_unknown);
}

/* --- the command --- */

static int compute(struct running **ret, struct reading *in, bool no_agent, struct error *e)
{
	CLEANUP(running) struct running *r = NULL;
	struct trace_item item;
	int rc, more;

	if (running_new(&r, &in->source->info) < 0)
		return error_set(e, ENOMEM, "cannot make the report: out of memory");
	running_select(r, &in->tasks);
	running_leave_out(r, no_agent ? in->source->info.agent_tgid : 0);
	while ((more = reading_next(in, &item, e)) > 0) {
		rc = running_add(r, &item, e);
		if (rc < 0)
			return rc;
	}
	rc = more < 0 ? more : running_finish(r, e);
	if (rc >= 0)
		rc = reading_expect_items(in, e);
	if (rc >= 0)
		*ret = take_ptr(r);
	return rc;
}

static int run(const struct args *a)
{
	CLEANUP_READING struct reading in = { 0 };
	CLEANUP(running) struct running *r = NULL;
	struct error e = ERROR_INIT;
	uint64_t limit = LIMIT_DEFAULT;
	size_t order = RUNNING_BY_CPU;

	if (args_get_count(a, "limit", &limit, &e) < 0 ||
	    args_get_word(a, "sort", running_order_words, &order, &e) < 0)
		return say_usage(&e);
	if (reading_open_report(&in, a, a->operands[0], &e) < 0 ||
	    compute(&r, &in, args_has(a, "no-agent"), &e) < 0)
		return reading_failure(&in, &e);
	running_sort(r, (enum running_order)order);
	if (args_has(a, "json"))
		return jsonout_print(running_json(r, limit));
	print_head(r, in.path);
	print_cpus(r);
	print_tasks(r, limit);
	return EXIT_OK;
}

static const struct cli_option options[] = {
	{ 'n', "limit", "N", "show this many tasks (20); 0 shows all", NULL },
	{ 's', "sort", "KEY",
	  "cpu (default) switches preempted wakeups migrations wait max pid comm",
	  "cpu switches preempted wakeups migrations wait max pid comm" },
	READING_TASK_OPTIONS,
	READING_CLOCK_OPTION,
	{ 0, "no-agent", NULL, "leave out the program that recorded the trace", NULL },
	{ 0, "json", NULL, "print JSON (docs/reports.md)", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Which tasks waited longest for a CPU:", "kiseki report sched trace.ksk --sort max" },
	{ "One program's tasks in the first second:",
	  "kiseki report sched trace.ksk --comm 'nginx*' --to +1" },
	{ "How busy each CPU was, for a program:",
	  "kiseki report sched trace.ksk --json | jq '.cpus[] | {cpu, busy_ns}'" },
	{ NULL, NULL },
};

const struct command command_report_sched = {
	.name = "sched",
	.summary = "CPU time, switches, wakeups and waits per task; load per CPU",
	.usage = "FILE [--sort KEY] [--limit N] [OPTION...]",
	.description =
		"Of every CPU: how long it was busy, idle, or it is not known, and which part of "
		"this is inferred because the kernel did not record a switch. The three add up to "
		"the length of the trace. Of every task: its CPU time, how often it left a CPU "
		"(switches), how often against its will (preempt.), its wakeups and migrations, "
		"the average and the longest time from a wakeup to running, and the longest wait "
		"after a preemption.\n\n"
		"Waits across a loss, or with a missing switch, are not in the figures; they are "
		"counted apart.",
	.options = options,
	.examples = examples,
	.parent = &command_report,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
