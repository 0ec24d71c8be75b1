/* SPDX-License-Identifier: MIT */
/*
 * boot_record: record this machine as a boot is recorded: `kiseki-boot` as a child, until it stops by itself, the
 * command that was given ends, or somebody ends it.
 *
 * The command exists before the recording and starts when that is on, so that nothing of it is missed.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "cli/agent_path.h"
#include "cli/kiseki.h"
#include "cli/record_command.h"
#include "cli/signals.h"
#include "command/args.h"
#include "command/say.h"

#define TURN_MS 200
#define WORDS_MAX 64U
#define DEFAULT_FILE "boot.ksk"

/* Passed on as they are. */
static const char *const passed[] = { "interval", "until", "linger", "idle",
				      "time",	  "exact", "kmsg",   NULL };

struct boot_record {
	const struct args *args;
	struct record_command command;
	pid_t recorder; /* 0: it is over */
	int status;	/* its own, as waitpid() gives it */
	int ready;	/* it writes there when it is */
	int signals;
	char program[AGENT_PATH_MAX];
	char fd[16];
	const char *words[WORDS_MAX];
};

static void push(struct boot_record *r, size_t *n, const char *word)
{
	if (*n + 1 < WORDS_MAX)
		r->words[(*n)++] = word;
}

/* Without a command it stops as a boot's recorder does; with one, when that ends. */
static void make_words(struct boot_record *r, char options[][32])
{
	bool has_command = r->args->n_operands;
	const char *value;
	size_t n = 0, i;

	push(r, &n, r->program);
	push(r, &n, "--out");
	value = args_get(r->args, "output");
	push(r, &n, value ? value : DEFAULT_FILE);
	push(r, &n, "--ready-fd");
	push(r, &n, r->fd);
	push(r, &n, "--config");
	push(r, &n, "/dev/null"); /* that of the machine's boot is not meant */
	for (i = 0; passed[i]; i++) {
		value = args_get(r->args, passed[i]);
		if (!value && has_command &&
		    (!strcmp(passed[i], "idle") || !strcmp(passed[i], "time")))
			value = "no";
		if (!value)
			continue;
		snprintf(options[i], sizeof(options[i]), "--%s", passed[i]);
		push(r, &n, options[i]);
		push(r, &n, value);
	}
	if (args_has(r->args, "threads"))
		push(r, &n, "--threads");
	r->words[n] = NULL;
}

static int start(struct boot_record *r, struct error *e)
{
	char options[sizeof(passed) / sizeof(*passed)][32];
	int fds[2];

	if (pipe(fds))
		return error_set(e, errno, "cannot start %s: %s", r->program, strerror(errno));
	snprintf(r->fd, sizeof(r->fd), "%d", fds[1]);
	make_words(r, options);
	r->recorder = fork();
	if (r->recorder == 0) {
		close(fds[0]);
		signals_restore();
		setpgid(0, 0); /* Ctrl-C is ours to pass on, when the command has ended */
		execv(r->program, (char *const *)(uintptr_t)r->words);
		fprintf(stderr, "kiseki: cannot run %s: %m\n", r->program);
		_exit(EXIT_FAILED);
	}
	close(fds[1]);
	r->ready = fds[0];
	return r->recorder < 0
		       ? error_set(e, errno, "cannot start %s: %s", r->program, strerror(errno))
		       : 0;
}

static void check_recorder(struct boot_record *r)
{
	if (r->recorder > 0 && waitpid(r->recorder, &r->status, WNOHANG) == r->recorder)
		r->recorder = 0;
}

static void stop_recorder(struct boot_record *r)
{
	if (r->recorder > 0)
		kill(r->recorder, SIGTERM);
}

/* True once it is ready; false if it has ended without. */
static bool wait_until_ready(struct boot_record *r)
{
	char line[8];

	return read(r->ready, line, sizeof(line)) > 0;
}

static void take_signals(struct boot_record *r)
{
	int s;

	while ((s = signals_next(r->signals))) {
		if (!signals_is_end(s))
			continue;
		if (r->command.pid && s != SIGINT)
			record_command_signal(&r->command, s);
		if (!r->command.pid)
			stop_recorder(r);
	}
}

static void run_both(struct boot_record *r)
{
	struct pollfd p = { r->signals, POLLIN, 0 };
	bool had_command = false;

	while (check_recorder(r), r->recorder > 0) {
		record_command_check(&r->command);
		if (had_command && !r->command.pid)
			stop_recorder(r);
		had_command = r->command.pid;
		poll(&p, 1, TURN_MS);
		take_signals(r);
	}
	/* What was recorded is over; the command may go on. */
	while (record_command_check(&r->command), r->command.pid) {
		poll(&p, 1, TURN_MS);
		take_signals(r);
	}
}

static int status_of(const struct boot_record *r)
{
	if (!WIFEXITED(r->status) || WEXITSTATUS(r->status))
		return WIFEXITED(r->status) ? WEXITSTATUS(r->status) : EXIT_FAILED;
	return r->command.given ? r->command.status : EXIT_OK;
}

static int run(const struct args *a)
{
	struct boot_record r = { .args = a, .ready = -1, .signals = -1 };
	struct error e = ERROR_INIT;
	int res, status;

	record_command_init(&r.command);
	res = agent_path_find_other(r.program, "kiseki-boot", "KISEKI_BOOT", &e);
	if (res >= 0)
		res = r.signals = signals_open(&e);
	if (res >= 0 && a->n_operands)
		res = record_command_new(&r.command, a->operands, false, &e);
	if (res >= 0)
		res = start(&r, &e);
	if (res >= 0) {
		if (wait_until_ready(&r))
			record_command_go(&r.command);
		else
			record_command_done(&r.command);
		run_both(&r);
	}
	status = res < 0 ? say_failure(&e) : status_of(&r);
	record_command_done(&r.command);
	cleanup_closep(&r.ready);
	signals_close(r.signals);
	return status;
}

static const struct cli_option options[] = {
	{ 'o', "output", "FILE", "write this file (" DEFAULT_FILE ")", NULL },
	{ 'i', "interval", "TIME", "look so often (20ms)", NULL },
	{ 'u', "until", "WHAT", "stop at unit:NAME, process:NAME, file:PATH, port:N", NULL },
	{ 0, "linger", "TIME", "and so much later", NULL },
	{ 0, "idle", "TIME", "stop when idle for so long (5s without a command), or no", NULL },
	{ 't', "time", "TIME", "stop after so long (120s without a command), or no", NULL },
	{ 0, "exact", "SOURCE", "trace the scheduler, too: auto, tracefs, bpf",
	  "no auto tracefs bpf" },
	{ 0, "kmsg", "WHICH", "kernel messages: new (default), all, off", "new all off" },
	{ 0, "threads", NULL, "record threads, not only processes", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What does this start, and what does it wait for?",
	  "kiseki boot record -o start.ksk -- /etc/init.d/network restart" },
	{ "The next ten seconds of this machine:", "kiseki boot record --time 10s --idle no" },
	{ NULL, NULL },
};

const struct command command_boot_record = {
	.name = "record",
	.summary = "record what this machine starts, as a boot is recorded",
	.usage = "[OPTION...] [-- COMMAND...]",
	.description =
		"Runs kiseki-boot (that of KISEKI_BOOT, or beside this program, or in PATH) on the "
		"running machine, which needs root, until it stops by itself, COMMAND ends, or "
		"Ctrl-C. The file is one for kiseki boot report and kiseki boot chart. The exit "
		"status "
		"is that of COMMAND.\n\n"
		"To record a boot from its first process on, kiseki-boot is put before init: see "
		"kiseki-boot(1) and docs/boot.md.",
	.options = options,
	.examples = examples,
	.parent = &command_boot,
	.operands = "FILE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
