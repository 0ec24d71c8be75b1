/* SPDX-License-Identifier: MIT */
/*
 * record: trace this machine into a file, with no collector: an agent as a child
 * (record_agent.h), whose collector this program is (collector/recording.h).
 *
 * A loop over its connection, its words, signals and the clock. What ends the recording (the
 * command's end, --duration, Ctrl-C) only asks the agent to stop; the loop ends when the run's last
 * block has come.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/when.h"
#include "cli/kiseki.h"
#include "cli/record_agent.h"
#include "cli/record_command.h"
#include "cli/signals.h"
#include "cli/table.h"
#include "cli/units.h"
#include "collector/recording.h"
#include "command/args.h"
#include "command/config_args.h"
#include "command/say.h"

#define TURN_MS 200
#define DRAW_MS 500
#define PING_MS 10000
#define HELLO_MS 20000 /* that the agent has to get ready */
#define STOP_MS 20000  /* that it has for the rest of the run */

struct record {
	const char *path;
	char path_made[64];
	struct message_config config;
	uint64_t duration_ms; /* 0: no end */
	bool quiet;
	struct recording *recording;
	struct record_agent agent;
	struct record_command command;
	int signals;
	uint64_t begin_ms, on_ms, stop_ms; /* 0: not yet */
	uint64_t ping_ms, draw_ms, drawn_events, drawn_ms;
	bool drawn;
	bool asked; /* to end, while the command ran */
};

static struct session_now now(void)
{
	return (struct session_now){ clock_mono_ns(), clock_real_ns() };
}

static uint64_t sum_lost(const struct recording_count *c)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < LOSS_CAUSES; i++)
		sum += c->lost[i];
	return sum;
}

/* --- the live line --- */

static void wipe(struct record *r)
{
	if (r->drawn)
		fputs("\r\033[K", stderr);
	r->drawn = false;
}

static void draw(struct record *r)
{
	const struct recording_count *c = recording_get_count(r->recording);
	uint64_t ms = clock_mono_ms(), events = c->events - r->drawn_events;
	char size[UNITS_LEN], length[UNITS_LEN];

	if (!r->on_ms || r->quiet || ms < r->draw_ms)
		return;
	fprintf(stderr,
		"\rrecording %s  %" PRIu64 " events/s  %.2f bytes/event  %s  %" PRIu64
		" lost\033[K",
		units_duration((ms - r->on_ms) * 1000000, length),
		ms > r->drawn_ms ? events * 1000 / (ms - r->drawn_ms) : 0,
		c->events ? (double)c->bytes / (double)c->events : 0, units_bytes(c->bytes, size),
		sum_lost(c));
	r->drawn = true;
	r->draw_ms = ms + DRAW_MS;
	r->drawn_ms = ms;
	r->drawn_events = c->events;
}

/* --- the loop --- */

static void stop(struct record *r)
{
	if (r->stop_ms)
		return;
	r->stop_ms = clock_mono_ms();
	recording_stop(r->recording);
}

/* Ctrl-C reaches the command, too: it may end as it likes, and that ends the recording. Asked again,
 * or without a command, the recording stops at once. */
static int take_signals(struct record *r, struct error *e)
{
	int s;

	while ((s = signals_next(r->signals))) {
		if (!signals_is_end(s))
			continue;
		if (!r->on_ms)
			return error_set(e, EINTR, "cannot record: interrupted before it began");
		if (r->stop_ms)
			return error_set(e, EINTR, "cannot finish the recording: interrupted");
		if (r->command.pid && s != SIGINT)
			record_command_signal(&r->command, s);
		if (!r->command.pid || r->asked)
			stop(r);
		r->asked = true;
	}
	return 0;
}

static int read_agent(struct record *r, struct error *e)
{
	struct session_now at = now();
	uint8_t bytes[SESSION_READ_MAX];
	ssize_t n = read(r->agent.fd, bytes, sizeof(bytes));

	if (n > 0)
		return recording_push(r->recording, bytes, (size_t)n, &at, e);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	recording_leave(r->recording);
	if (recording_get_state(r->recording) == RECORDING_ENDED)
		return 0;
	return error_set(e, ECONNRESET, "cannot record: the agent ended: %s",
			 record_agent_last_line(&r->agent));
}

static int write_agent(struct record *r, struct error *e)
{
	const uint8_t *bytes;
	size_t len;
	ssize_t n;

	bytes = recording_get(r->recording, &len);
	if (!len)
		return 0;
	n = send(r->agent.fd, bytes, len, MSG_NOSIGNAL);
	if (n > 0)
		recording_pop(r->recording, (size_t)n);
	else if (n < 0 && errno != EAGAIN && errno != EINTR && errno != EPIPE)
		return error_set(e, errno, "cannot talk to the agent: %s", strerror(errno));
	return 0;
}

static int wait_turn(struct record *r, struct error *e)
{
	struct pollfd p[] = {
		{ .fd = r->agent.fd, .events = POLLIN },
		{ .fd = r->signals, .events = POLLIN },
		{ .fd = r->agent.words_fd, .events = POLLIN },
	};
	size_t len;

	recording_get(r->recording, &len);
	if (len)
		p[0].events |= POLLOUT;
	poll(p, 3, TURN_MS);
	if (p[2].revents)
		record_agent_listen(&r->agent);
	if (p[2].revents & POLLHUP) {
		close(r->agent.words_fd);
		r->agent.words_fd = -1;
	}
	return p[0].revents & (POLLIN | POLLHUP | POLLERR) ? read_agent(r, e) : 0;
}

/* What follows from where the recording is. */
static int step(struct record *r, struct error *e)
{
	enum recording_state state = recording_get_state(r->recording);
	uint64_t ms = clock_mono_ms();
	struct session_now at = now();

	if (state == RECORDING_READY)
		recording_start(r->recording, &r->config);
	if (state == RECORDING_ON && !r->on_ms) {
		r->on_ms = r->drawn_ms = ms;
		r->draw_ms = ms + DRAW_MS;
		record_command_go(&r->command);
	}
	if (state < RECORDING_ON && ms > r->begin_ms + HELLO_MS)
		return error_set(e, ETIMEDOUT, "cannot record: the agent does not get ready: %s",
				 record_agent_last_line(&r->agent));
	if (state == RECORDING_LAST)
		record_agent_stop(&r->agent);
	if (r->stop_ms && ms > r->stop_ms + STOP_MS)
		return error_set(e, ETIMEDOUT,
				 "cannot finish the recording: the agent does not "
				 "send the rest: %s",
				 record_agent_last_line(&r->agent));
	record_command_check(&r->command);
	if (r->on_ms && ((r->command.given && !r->command.pid) ||
			 (r->duration_ms && ms >= r->on_ms + r->duration_ms)))
		stop(r);
	if (ms >= r->ping_ms) {
		r->ping_ms = ms + PING_MS;
		recording_ping(r->recording, &at);
	}
	return 0;
}

static int loop(struct record *r, struct error *e)
{
	int rc = 0;

	r->begin_ms = clock_mono_ms();
	while (rc >= 0 && recording_get_state(r->recording) != RECORDING_ENDED) {
		rc = step(r, e);
		if (rc >= 0)
			rc = write_agent(r, e);
		if (rc >= 0)
			rc = wait_turn(r, e);
		if (rc >= 0)
			rc = take_signals(r, e);
		draw(r);
	}
	return rc < 0 ? rc : write_agent(r, e);
}

/* --- before and after --- */

/* --only: the command and all that it starts; where that cannot be told, its first thread. */
static void select_command(struct record *r)
{
	struct message_config *c = &r->config;

	if (r->command.cgroup[0] && c->n_cgroups < CONFIG_CGROUPS_MAX) {
		snprintf(c->cgroups[c->n_cgroups++], CONFIG_CGROUP_LEN, "%s", r->command.cgroup);
		c->given |= 1U << CONFIG_CGROUP_PATHS;
		return;
	}
	say_note("no cgroup can be made here: only the command's first thread is recorded");
	if (c->n_pids < CONFIG_PIDS_MAX)
		c->pids[c->n_pids++] = r->command.pid;
	c->given |= 1U << CONFIG_PIDS;
}

static bool wants_programs(const struct record *r)
{
	return r->config.given & 1U << CONFIG_FUNC && r->config.func != FUNC_MODE_OFF;
}

/* The command's programs are told where our agent is, not that of the machine. */
static int record(struct record *r, const struct args *a, struct error *e)
{
	bool only = args_has(a, "only");
	char host[64] = "";
	int rc;

	rc = record_agent_open(&r->agent, wants_programs(r), e);
	if (rc >= 0 && r->agent.socket[0])
		setenv("KISEKI_FUNC_AGENT", r->agent.socket, 1);
	if (rc >= 0 && a->n_operands)
		rc = record_command_new(&r->command, a->operands, only, e);
	if (rc >= 0)
		rc = recording_open(&r->recording, r->path, e);
	if (rc >= 0)
		rc = record_agent_start(&r->agent, e);
	if (rc < 0)
		return rc;
	if (only)
		select_command(r);
	rc = loop(r, e);
	wipe(r);
	gethostname(host, sizeof(host) - 1);
	return rc < 0 ? rc : recording_commit(r->recording, host, e);
}

static void print_summary(const struct record *r)
{
	const struct recording_count *c = recording_get_count(r->recording);
	uint64_t end = r->stop_ms ? r->stop_ms : clock_mono_ms(), lost = sum_lost(c);
	char length[UNITS_LEN], size[UNITS_LEN];

	fprintf(stderr, "%s: %" PRIu64 " events in %s, %s (%.2f bytes per event)", r->path,
		c->events, units_duration((end - r->on_ms) * 1000000, length),
		units_bytes(c->bytes, size), c->events ? (double)c->bytes / (double)c->events : 0);
	if (c->func_events)
		fprintf(stderr, ", %" PRIu64 " of them of programs", c->func_events);
	if (lost || c->lost_unknown)
		fprintf(stderr, ", %s%" PRIu64 "%s lost%s; --ring makes room for more",
			say_style(stderr, STYLE_BAD), lost, c->lost_unknown ? " and more" : "",
			say_style(stderr, STYLE_PLAIN));
	else
		fputs(", none lost", stderr);
	fputc('\n', stderr);
}

static int read_options(struct record *r, const struct args *a, struct error *e)
{
	const char *duration = args_get(a, "duration");
	struct tm tm;
	time_t t = time(NULL);
	uint64_t ns = 0;

	r->path = args_get(a, "output");
	if (!r->path) {
		localtime_r(&t, &tm);
		strftime(r->path_made, sizeof(r->path_made), "trace-%Y%m%d-%H%M%S.ksk", &tm);
		r->path = r->path_made;
	}
	if (!strcmp(r->path, "-"))
		return error_set(e, EINVAL, "cannot record to standard output: give -o FILE.ksk");
	if (args_has(a, "only") && !a->n_operands)
		return error_set(e, EINVAL, "cannot record only a command: none is given");
	if (duration && when_parse_length(duration, &ns, e) < 0)
		return -EINVAL;
	if (duration && ns < 1000000)
		return error_set(e, EINVAL, "cannot record for %s: at least 1ms", duration);
	r->duration_ms = ns / 1000000;
	r->quiet = args_has(a, "quiet") || !isatty(STDERR_FILENO);
	return config_args_parse(&r->config, a, e);
}

static int run(const struct args *a)
{
	struct error e = ERROR_INIT;
	struct record r = { 0 };
	int rc, status;

	record_agent_init(&r.agent);
	record_command_init(&r.command);
	if (read_options(&r, a, &e) < 0)
		return say_usage(&e);
	r.signals = signals_open(&e);
	rc = r.signals < 0 ? r.signals : record(&r, a, &e);
	if (rc >= 0 && !args_has(a, "quiet"))
		print_summary(&r);
	status = rc < 0 ? say_failure(&e) : r.command.status;
	record_agent_done(&r.agent);
	record_command_done(&r.command);
	recording_free(r.recording);
	signals_close(r.signals);
	return status;
}

static const struct cli_option options[] = {
	{ 'o', "output", "OUT", "the file (trace-<time>.ksk)", NULL },
	{ 'd', "duration", "TIME", "stop after this time: 10s", NULL },
	{ 0, "only", NULL, "record only what concerns the command", NULL },
	{ 'q', "quiet", NULL, "neither live line nor summary", NULL },
	CONFIG_OPTIONS,
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "What the machine does while a command runs:", "kiseki record -o build.ksk -- make -j4" },
	{ "Ten seconds of switches and wakeups:",
	  "kiseki record -d 10s --events switch,waking -o ten.ksk" },
	{ NULL, NULL },
};

const struct command command_record = {
	.name = "record",
	.summary = "trace this machine into a file, without a collector",
	.usage = "[-o FILE] [OPTION...] [-- COMMAND...]",
	.description =
		"Runs kiseki-agent (that of KISEKI_AGENT, or beside this program, or in PATH), "
		"which "
		"needs root, and takes its blocks into a .ksk file; until "
		"the command ends, the time is over, or Ctrl-C. The exit status is the command's. "
		"What the agent itself does is marked in the trace; `kiseki report sched "
		"--no-agent` leaves it out.\n\n"
		"The file names all tasks that there were when it began; with --only, --pid, "
		"--comm or --cgroup, those that are in its events, and the processes that they "
		"belong to.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.operands = "FILE",
	.operands_max = ARGS_OPERANDS_MAX,
	.run = run,
};
