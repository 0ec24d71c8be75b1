/* SPDX-License-Identifier: MIT */
/*
 * graph_program: see graph_program.h.
 *
 * The command exists before the recording and waits in a read of a pipe, so that nothing of it is missed
 * and nothing of us is in it. Signals that end programs are taken from a descriptor: they end the
 * recording, and everything is put back. The exit status is the command's.
 */
#include "device/graph/graph_program.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "command/args.h"
#include "command/man.h"
#include "command/say.h"
#include "device/agent/powers.h"
#include "device/agent/program.h"
#include "device/graph/graph_control.h"
#include "device/graph/graph_output.h"
#include "device/graph/graph_rings.h"
#include "device/graph/graph_settings.h"

#define TURN_MS 100
#define EXIT_SIGNALLED 128

struct recording {
	struct graph_settings settings;
	struct graph_control control;
	struct graph_rings rings;
	int signals;
	sigset_t old_mask;
	void (*old_int)(int);
	pid_t pid; /* of the command; 0: none, or it is over */
	int go_fd;
	int status;
	bool was_on, is_over;
};

/* --- the command --- */

static void run_command(const struct recording *r, int go_fd)
{
	const char *const *argv = r->settings.command;
	char word;
	ssize_t n;

	signal(SIGPIPE, SIG_DFL);
	signal(SIGINT, r->old_int);
	sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
	do
		n = read(go_fd, &word, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(EXIT_FAILED);
	execvp(argv[0], (char *const *)argv);
	fprintf(stderr, "kiseki-agent: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

static int start_command(struct recording *r, struct error *e)
{
	int ends[2];

	r->go_fd = -1;
	if (!r->settings.command)
		return 0;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_set(e, errno, "cannot make a pipe: %m");
	r->pid = fork();
	if (r->pid == 0) {
		close(ends[1]);
		run_command(r, ends[0]);
	}
	close(ends[0]);
	r->go_fd = ends[1];
	return r->pid < 0 ? error_set(e, errno, "cannot start a process: %m") : 0;
}

static void take_status(struct recording *r)
{
	int status;

	if (!r->pid || waitpid(r->pid, &status, WNOHANG) != r->pid)
		return;
	r->status = WIFSIGNALED(status) ? EXIT_SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
	r->pid = 0;
	r->is_over = true;
}

/* --- the recording --- */

static void take_signals(struct recording *r)
{
	struct signalfd_siginfo s;

	while (read(r->signals, &s, sizeof(s)) == (ssize_t)sizeof(s)) {
		if (s.ssi_signo == SIGCHLD) {
			take_status(r);
			continue;
		}
		/* One from the terminal has reached the command already. */
		if (r->pid && s.ssi_signo != SIGINT)
			kill(r->pid, (int)s.ssi_signo);
		r->is_over = true;
	}
}

static bool is_stopped(struct recording *r)
{
	bool on;

	if (!r->settings.stop)
		return false;
	on = graph_control_is_on(&r->control);
	r->was_on |= on;
	return r->was_on && !on;
}

static int record(struct recording *r, struct error *e)
{
	uint64_t end_ms = clock_mono_ms() + r->settings.time_ms;
	int failed = graph_control_start(&r->control, r->pid, e);

	if (failed < 0)
		return failed;
	r->was_on = !r->settings.start;
	if (r->go_fd >= 0 && write(r->go_fd, "g", 1) != 1)
		return error_set(e, errno, "cannot start the command: %m");
	while (!r->is_over && failed == 0) {
		if (graph_rings_wait(&r->rings, r->signals, TURN_MS))
			take_signals(r);
		failed = graph_rings_drain(&r->rings, false, e);
		if (graph_rings_is_full(&r->rings) ||
		    (r->settings.time_ms && clock_mono_ms() >= end_ms) || is_stopped(r))
			r->is_over = true;
	}
	if (failed == 0)
		failed = graph_control_stop(&r->control, e);
	return failed < 0 ? failed : graph_rings_drain(&r->rings, true, e);
}

static int record_all(struct recording *r, struct error *e)
{
	/* The command runs already, with all that it was given. */
	int failed = powers_keep(POWERS_OF_KERNEL, 1, e);

	if (failed == 0)
		failed = graph_control_open(&r->control, &r->settings, e);
	if (failed == 0)
		failed = graph_rings_open(&r->rings, r->control.folder, r->settings.output, e);
	r->rings.only_exits = r->settings.min_us > 0;
	r->rings.calls_max = r->settings.calls_max;
	if (failed == 0)
		failed = record(r, e);
	if (failed == 0)
		failed = graph_output_write(r->settings.output, &r->control, &r->rings, e);
	return failed;
}

static int open_signals(struct recording *r, struct error *e)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &r->old_mask);
	signal(SIGPIPE, SIG_IGN);
	/* A shell lets what it starts with & ignore SIGINT; scripts end a recording with it. */
	r->old_int = signal(SIGINT, SIG_DFL);
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signals < 0 ? error_set(e, errno, "cannot take signals: %m") : 0;
}

static void finish(struct recording *r)
{
	if (r->go_fd >= 0)
		close(r->go_fd);
	if (r->pid > 0) {
		int status;

		/* The command goes on without us, or never began; its end is ours either way. */
		while (waitpid(r->pid, &status, 0) < 0 && errno == EINTR)
			;
		r->status = WIFSIGNALED(status) ? EXIT_SIGNALLED + WTERMSIG(status)
						: WEXITSTATUS(status);
	}
	if (r->signals >= 0)
		close(r->signals);
}

static int run_kernel(const struct args *a)
{
	struct recording r = { .signals = -1, .go_fd = -1, .control = { .guard_fd = -1 } };
	struct error e = ERROR_INIT, why = ERROR_INIT;
	int failed, closed;

	if (args_has(a, "man")) {
		man_print(a->command, stdout);
		return EXIT_OK;
	}
	if (graph_settings_load(&r.settings, a, &e) < 0)
		return say_usage(&e);
	failed = open_signals(&r, &e);
	if (failed == 0)
		failed = start_command(&r, &e);
	if (failed == 0)
		failed = record_all(&r, &e);
	if (failed == 0)
		say_note("%" PRIu64 " calls, %" PRIu64 " records lost, in %s%s", r.rings.calls,
			 r.rings.missed, r.settings.output,
			 r.control.is_own ? "" : " (with the kernel's one tracer)");
	graph_rings_close(&r.rings);
	closed = graph_control_close(&r.control, &why);
	finish(&r);
	if (failed < 0)
		return say_failure(&e);
	if (closed < 0)
		return say_failure(&why);
	return r.status;
}

static const struct cli_example examples[] = {
	{ "What does the kernel do while a program runs?", "kiseki-agent kernel -- ls -l" },
	{ "Calls of a millisecond and more, of all tasks, for ten seconds:",
	  "kiseki-agent kernel --min-time 1ms -t 10s" },
	{ NULL, NULL },
};

const struct command command_agent_kernel = {
	.name = "kernel",
	.summary = "record the calls of the kernel's functions",
	.usage = "[OPTION...] [-- COMMAND [ARGUMENT...]]",
	.description =
		"Lets the kernel's function_graph record, reads its rings as they fill, and writes "
		"a "
		"trace.dat with all that is needed to read it elsewhere. It needs root and a "
		"kernel "
		"with CONFIG_FUNCTION_GRAPH_TRACER. With a command, what is recorded is the "
		"kernel's "
		"work for it and for all that it starts; else all tasks, until SIGINT.\n\n"
		"Since Linux 6.11 it uses an instance of its own. Before, there is one "
		"function_graph, "
		"and it is used only while nobody else traces. Filters by function, depth and time "
		"are the whole kernel's in either case. All of it is put back at the end, also "
		"after SIGKILL.\n\n"
		"With --min-time the kernel records only ends of calls; the tree is made from "
		"them.",
	.options = graph_options,
	.examples = examples,
	.parent = &command_agent,
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run_kernel,
};
