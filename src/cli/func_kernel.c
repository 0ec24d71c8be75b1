/* SPDX-License-Identifier: MIT */
/*
 * func kernel: the calls of this machine's kernel, recorded by `kiseki-agent kernel`, and then the report of
 * them.
 *
 * What to record are the agent's options, which are passed on as they are. The agent runs the command, so that
 * it can let the kernel record nothing else; its exit status is the command's, and ours. Ctrl-C reaches it by
 * itself: it ends the recording and puts everything back, and the report comes then, too.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/agent_path.h"
#include "cli/func_reading.h"
#include "cli/func_summary.h"
#include "cli/kiseki.h"
#include "cli/record_command.h"
#include "cli/signals.h"
#include "command/kernel_options.h"
#include "command/say.h"
#include "convert/func_input.h"
#include "trace/func_pack.h"

#define PATH_MAX_LEN 4200U
#define WORD_MAX 4096U
#define TURN_MS 1000
#define N_RECORDING (KERNEL_OPTIONS_N + 1) /* the first options of the table are the agent's */

static const struct cli_option options[] = {
	KERNEL_OPTIONS,
	{ 0, "sched", NULL, "record switches of tasks: splits local time", NULL },
	{ 'o', "output", "FILE", "keep the recording: a trace.dat, or FILE.ksk", NULL },
	{ 's', "sort", "KEY", "local (default) total calls avg max name",
	  "local total calls avg max name" },
	{ 'n', "limit", "N", "show this many functions (20); 0 shows all", NULL },
	{ 'f', "function", "PATTERN", "show only functions with such names", NULL },
	{ 'l', "lines", NULL, "show where functions are in the source", NULL },
	{ 0, "json", NULL, "print JSON (docs/reports.md)", NULL },
	{ 0 },
};

struct recording {
	const struct args *args;
	const char *packed;	   /* where it goes as function streams; NULL: nowhere */
	char folder[PATH_MAX_LEN]; /* "": the file is kept */
	char file[PATH_MAX_LEN];
	char agent[AGENT_PATH_MAX];
	char texts[N_RECORDING][WORD_MAX];
	const char *words[N_RECORDING + ARGS_OPERANDS_MAX + 8];
	struct record_command command;
};

static bool ends_in_ksk(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && !strcmp(path + len - 4, ".ksk");
}

static int choose_file(struct recording *r, struct error *e)
{
	const char *given = args_get(r->args, "output"), *tmp = getenv("TMPDIR");

	if (given && ends_in_ksk(given)) {
		r->packed = given;
	} else if (given) {
		snprintf(r->file, sizeof(r->file), "%s", given);
		return 0;
	}
	snprintf(r->folder, sizeof(r->folder), "%.4000s/kiseki-kernel-XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(r->folder)) {
		r->folder[0] = 0;
		return error_set(e, errno, "cannot make a folder in %s: %s",
				 tmp && *tmp ? tmp : "/tmp", strerror(errno));
	}
	snprintf(r->file, sizeof(r->file), "%.4100s/kernel.dat", r->folder);
	return 0;
}

static int make_words(struct recording *r, struct error *e)
{
	const char *value;
	size_t n = 0, i;
	int len;

	r->words[n++] = r->agent;
	r->words[n++] = "kernel";
	r->words[n++] = "--output";
	r->words[n++] = r->file;
	for (i = 0; i < N_RECORDING; i++) {
		value = r->args->values[i];
		if (!value)
			continue;
		len = snprintf(r->texts[i], WORD_MAX, options[i].argument ? "--%s=%s" : "--%s",
			       options[i].name, value);
		if (len >= (int)WORD_MAX)
			return error_set(e, E2BIG, "cannot use --%s: it is too long",
					 options[i].name);
		r->words[n++] = r->texts[i];
	}
	if (r->args->n_operands)
		r->words[n++] = "--";
	memcpy(r->words + n, r->args->operands, r->args->n_operands * sizeof(*r->words));
	r->words[n + r->args->n_operands] = NULL;
	return 0;
}

static int run_agent(struct recording *r, struct error *e)
{
	CLEANUP_SIGNALS int signals = signals_open(e);
	struct pollfd p = { .fd = signals, .events = POLLIN };
	int rc, s;

	if (signals < 0)
		return signals;
	rc = record_command_new(&r->command, r->words, false, e);
	if (rc < 0)
		return rc;
	record_command_go(&r->command);
	while (record_command_check(&r->command), r->command.pid) {
		poll(&p, 1, TURN_MS);
		while ((s = signals_next(signals)))
			if (signals_is_end(s) && s != SIGINT)
				record_command_signal(&r->command, s);
	}
	return 0;
}

/* Into the streams that programs have, too (docs/format/func.md). */
static int pack(const struct recording *r, struct error *e)
{
	struct func_packing p = { 0 };
	struct func_source *calls;
	int rc = func_input_open(r->file, &calls, e);

	if (rc < 0)
		return rc;
	rc = func_pack_file(r->packed, calls, &p, e);
	func_source_free(calls);
	return rc;
}

/* The agent has said why, if there is no file. */
static int print_report(struct recording *r)
{
	CLEANUP_FUNC_READING struct func_reading in = { 0 };
	const char *kept = r->packed ? r->packed : r->file;
	struct error e = ERROR_INIT;

	if (access(r->file, R_OK))
		return r->command.status ? r->command.status : EXIT_FAILED;
	if (r->packed && pack(r, &e) < 0)
		return say_failure(&e);
	if (func_reading_open(&in, r->args, kept, &e) < 0)
		return func_reading_failure(&in, &e);
	in.path = r->args->n_operands ? r->args->operands[0] : "the kernel";
	if (r->packed || !r->folder[0])
		in.path = kept;
	func_summary_print(&in, r->args);
	return r->command.status;
}

static int run(const struct args *a)
{
	static struct recording r; /* its words are many */
	struct error e = ERROR_INIT;
	int rc, status;

	r.args = a;
	record_command_init(&r.command);
	if (func_summary_check(a, &e) < 0)
		return say_usage(&e);
	rc = agent_path_find(r.agent, &e);
	if (rc >= 0)
		rc = choose_file(&r, &e);
	if (rc >= 0)
		rc = make_words(&r, &e);
	if (rc >= 0)
		rc = run_agent(&r, &e);
	status = rc < 0 ? say_failure(&e) : print_report(&r);
	record_command_done(&r.command);
	if (r.folder[0]) {
		unlink(r.file);
		rmdir(r.folder);
	}
	return status;
}

static const struct cli_example examples[] = {
	{ "What does the kernel do while a program runs?", "kiseki func kernel -- ls -l" },
	{ "Calls of a millisecond and more, of all tasks, for ten seconds:",
	  "kiseki func kernel --min-time 1ms --time 10s" },
	{ NULL, NULL },
};

const struct command command_func_kernel = {
	.name = "kernel",
	.summary = "record the calls of the kernel's functions, and report them",
	.usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.description =
		"Lets the kernel's function_graph record while a command runs, or until Ctrl-C, "
		"and "
		"prints what each function cost. It needs root and a kernel with "
		"CONFIG_FUNCTION_GRAPH_TRACER. With a command, what is recorded is the kernel's "
		"work "
		"for it and for all that it starts; else all tasks.\n\n"
		"`kiseki-agent kernel` does the recording, also alone on a device; --output keeps "
		"its file, a trace.dat that trace-cmd reads, too, or packs it into FILE.ksk, which "
		"takes a part of the room. The kernel's switches are put back as they were "
		"(docs/format/graph.md).",
	.options = options,
	.examples = examples,
	.parent = &command_func,
	.operands = NULL,
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
