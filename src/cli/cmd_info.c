/* SPDX-License-Identifier: MIT */
/* info: what a trace says about itself, and how much is in it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "cli/digest.h"
#include "cli/func_digest.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/store_report.h"
#include "cli/units.h"
#include "command/args.h"
#include "command/command.h"
#include "command/say.h"
#include "trace/word.h"

static void print_clock(const struct trace_clock *c)
{
	printf("clock     %s, ", c->name[0] ? c->name : "not named");
	if (clock_is_ticks(c))
		printf("ticks of unknown length (--clock-hz says how many there are in a second)");
	else if (c->mult == 1 && c->shift == 0)
		printf("nanoseconds");
	else
		printf("ticks of %.6g ns (%" PRIu32 " >> %" PRIu32 ")",
		       (double)c->mult / (double)(1ULL << c->shift), c->mult, c->shift);
	if (c->has_realtime)
		printf(", real time is %+.6f s (error %.6f s)", (double)c->realtime_off_ns / 1e9,
		       (double)c->realtime_err_ns / 1e9);
	putchar('\n');
}

static void print_span(const struct trace_summary *s, const struct trace_clock *c)
{
	char from[UNITS_LEN], to[UNITS_LEN], length[UNITS_LEN];
	int i;

	if (s->events)
		printf("time      %s to %s%s (%s)\n", units_clock_moment(c, s->first_ns, from),
		       units_clock_moment(c, s->last_ns, to), clock_is_ticks(c) ? "" : " s",
		       units_clock_duration(c, s->last_ns - s->first_ns, length));
	printf("events    %" PRIu64 "\n", s->events);
	for (i = 0; i < SCHED_KINDS; i++)
		if (s->kinds[i])
			printf("          %-10s %10" PRIu64 "\n", word_kind((uint32_t)i),
			       s->kinds[i]);
}

/* Who a pid was: every name it had, from when to when, and whether it began or ended in the trace. */
static void print_tasks(const struct tasks *tasks, const struct trace_clock *clock)
{
	char comm[UNITS_COMM_LEN], tgid[16], from[UNITS_LEN], to[UNITS_LEN];
	const struct task_name *n;
	size_t i;

	printf("\n%s    pid    tgid  %-16s %20s %20s%s\n", say_style(stdout, STYLE_HEAD), "task",
	       "first heard of", "last heard of", say_style(stdout, STYLE_PLAIN));
	for (i = 0; (n = tasks_get(tasks, i)); i++) {
		snprintf(tgid, sizeof(tgid), "%" PRId32, n->tgid);
		printf("%7" PRId32 " %7s  %-16s %20s %20s%s%s\n", n->pid, n->tgid < 0 ? "-" : tgid,
		       units_comm(n->comm, comm), units_clock_moment(clock, n->from_ns, from),
		       units_clock_moment(clock, n->to_ns, to), n->forked ? " forked" : "",
		       n->exited ? " exited" : "");
	}
}

static const char *or_unknown(const char *text)
{
	return text && *text ? text : "not known";
}

/* has_others: the file's bytes are not the scheduler's alone. */
static void print_info(const struct reading *r, const struct trace_summary *s, bool has_others)
{
	const struct trace_info *info = &r->source->info;
	uint64_t size = input_get_size(r->input);
	char bytes[UNITS_LEN];

	printf("file      %s\n", r->path);
	printf("format    %s", recognise_name(input_get_format(r->input)));
	if (s->version)
		printf(" version %" PRIu32 ", codec %s", s->version, digest_codec(s));
	if (size)
		printf(", %s", units_bytes(size, bytes));
	if (size && s->events && !has_others)
		printf(", %.2f bytes per event", (double)size / (double)s->events);
	printf("\norigin    %s\n", or_unknown(info->origin));
	printf("device    %s\n", or_unknown(info->device));
	printf("kernel    %s%s%s\n", or_unknown(info->kernel), info->machine[0] ? ", " : "",
	       info->machine);
	printf("CPUs      %" PRIu32 "\n", info->cpus);
	print_clock(&info->clock);
	print_span(s, &info->clock);
	if (info->skipped)
		printf("left out  %" PRIu64 " events of other kinds\n", info->skipped);
	digest_print_ledger(s);
	if (info->agent_tgid)
		printf("agent     pid %" PRId32 "\n", info->agent_tgid);
	printf("tasks     %zu known by name\n", info->n_tasks);
}

static json_t *tasks_json(const struct tasks *tasks)
{
	json_t *list = json_array();
	const struct task_name *n;
	size_t i;

	for (i = 0; (n = tasks_get(tasks, i)); i++)
		json_array_append_new(
			list, json_pack("{so so so so so sb sb}", "pid", json_integer(n->pid),
					"tgid", n->tgid < 0 ? json_null() : json_integer(n->tgid),
					"comm", jsonout_comm(n->comm), "from_ns",
					jsonout_count(n->from_ns), "to_ns", jsonout_count(n->to_ns),
					"forked", n->forked, "exited", n->exited));
	return list;
}

static json_t *clock_json(const struct trace_clock *c)
{
	json_t *object =
		json_pack("{so ss so so so so}", "name", jsonout_text(c->name), "unit",
			  clock_is_ticks(c) ? "ticks" : "ns", "mult", jsonout_count(c->mult),
			  "shift", jsonout_count(c->shift), "base_ns", jsonout_count(c->base_ns),
			  "digits", jsonout_count(c->print_digits));

	json_object_set_new(object, "realtime_off_ns",
			    c->has_realtime ? json_integer(c->realtime_off_ns) : json_null());
	json_object_set_new(object, "realtime_err_ns",
			    c->has_realtime ? jsonout_count(c->realtime_err_ns) : json_null());
	return object;
}

static json_t *info_json(const struct reading *r, const struct trace_summary *s,
			 const struct tasks *tasks)
{
	const struct trace_info *info = &r->source->info;
	json_t *object = json_pack(
		"{so so so so so so so so so so so so so so so so}", "file", jsonout_text(r->path),
		"format", json_string(recognise_name(input_get_format(r->input))), "version",
		jsonout_count(s->version), "bytes", jsonout_count(input_get_size(r->input)),
		"origin", jsonout_text(info->origin), "device", jsonout_text(info->device),
		"kernel", jsonout_text(info->kernel), "machine", jsonout_text(info->machine),
		"cpus", jsonout_count(info->cpus), "clock", clock_json(&info->clock), "from_ns",
		jsonout_count(s->first_ns), "to_ns", jsonout_count(s->last_ns), "events",
		jsonout_count(s->events), "kinds", digest_kinds_json(s), "skipped",
		jsonout_count(info->skipped), "ledger", digest_ledger_json(s));

	json_object_set_new(object, "agent",
			    info->agent_tgid ? json_integer(info->agent_tgid) : json_null());
	json_object_set_new(object, "codec",
			    s->version ? json_string(digest_codec(s)) : json_null());
	if (tasks)
		json_object_set_new(object, "tasks", tasks_json(tasks));
	return object;
}

static int show(struct reading *r, const struct args *a, struct trace_summary *s, struct error *e)
{
	CLEANUP(tasks) struct tasks *tasks = NULL;
	CLEANUP_FUNC_DIGEST struct func_digest calls = { 0 };
	CLEANUP_BOOT_DIGEST struct boot_digest boot = { 0 };
	CLEANUP_PROFILE_DIGEST struct profile_digest profile = { 0 };
	json_t *object;
	int rc;

	if (args_has(a, "tasks") && !(tasks = tasks_new(&r->source->info)))
		return error_set(e, ENOMEM, "cannot list the tasks: out of memory");
	if (digest_read(r, s, tasks, e) < 0)
		return -EIO;
	rc = digest_read_calls(r, &calls, e);
	if (rc >= 0)
		rc = digest_read_boot(r, &boot, e);
	if (rc >= 0)
		rc = digest_read_profile(r, &profile, e);
	if (rc < 0)
		return rc;
	if (args_has(a, "json")) {
		object = info_json(r, s, tasks);
		if (calls.source)
			json_object_set_new(object, "functions", func_digest_json(&calls, false));
		if (boot.source)
			json_object_set_new(object, "boot", boot_digest_json(&boot));
		if (profile.source)
			json_object_set_new(object, "profile", profile_digest_json(&profile));
		return jsonout_print(object);
	}
	print_info(r, s, calls.source || boot.source || profile.source);
	if (calls.source)
		func_digest_print_info(&calls);
	if (boot.source)
		boot_digest_print_info(&boot);
	if (profile.source)
		profile_digest_print_info(&profile);
	if (tasks)
		print_tasks(tasks, &r->source->info.clock);
	return EXIT_OK;
}

static int run(const struct args *a)
{
	CLEANUP_READING struct reading r = { 0 };
	struct trace_summary s;
	struct error e = ERROR_INIT;
	int status;

	if (store_report_wants(a->operands[0]))
		return store_report_run(a, a->operands[0], false);
	if (func_digest_is_record(a->operands[0]))
		return func_digest_run(a, a->operands[0], false);
	summary_init(&s);
	status = reading_open(&r, a, a->operands[0], &e);
	if (status >= 0)
		status = show(&r, a, &s, &e);
	if (status < 0)
		status = reading_failure(&r, &e);
	summary_done(&s);
	return status;
}

static const struct cli_option options[] = {
	{ 't', "tasks", NULL, "list the tasks and their names over time, too", NULL },
	READING_CLOCK_OPTION,
	{ 0, "json", NULL, "print JSON", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Which kernel was it, and how long did it record:", "kiseki info trace.dat" },
	{ NULL, NULL },
};

const struct command command_info = {
	.name = "info",
	.summary = "show what a trace is and what is in it",
	.usage = "FILE|FOLDER [--tasks] [--clock-hz N] [--json]",
	.description =
		"Format, origin, device, kernel, CPUs, clock, time span, events by kind, and "
		"what was lost. To know this, all of the trace is read. Of calls: processes, "
		"threads, and how many. Of a boot chart or a profile: its records. Of a "
		"collector's folder: its "
		"runs.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "FILE",
	.operands_min = 1,
	.operands_max = 1,
	.run = run,
};
