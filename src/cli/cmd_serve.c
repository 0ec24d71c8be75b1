/* SPDX-License-Identifier: MIT */
/*
 * serve: the collector, in the foreground until it is told to stop. Standard output has where it
 * listens and then "ready"; standard error one line for each thing worth telling, and on a terminal
 * a last line that says how it goes.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/private_files.h"
#include "cli/kiseki.h"
#include "cli/serve_settings.h"
#include "cli/units.h"
#include "collector/confinement.h"
#include "command/args.h"
#include "command/say.h"
#include "symbol/object_reader.h"

#define LIVE_S 1

/* Standard error, shared by the threads that log and the one that draws. */
struct journal {
	pthread_mutex_t lock;
	bool is_terminal;
	bool drawn; /* the live line stands there */
};

static void log_line(void *context, const char *line)
{
	struct journal *j = context;

	pthread_mutex_lock(&j->lock);
	if (j->drawn)
		fputs("\r\033[K", stderr);
	j->drawn = false;
	fprintf(stderr, "kiseki: %s\n", line);
	pthread_mutex_unlock(&j->lock);
}

/* Two counts, a live line's length apart. */
static void draw(struct journal *j, const struct collector_counters *before,
		 const struct collector_counters *now)
{
	uint64_t events = now->events - before->events, lost = 0;
	char per_event[32] = "-", rate[UNITS_LEN];
	int i;

	for (i = 0; i < LOSS_CAUSES; i++)
		lost += now->lost[i];
	if (events)
		snprintf(per_event, sizeof(per_event), "%.2f",
			 (double)(now->bytes - before->bytes) / (double)events);
	pthread_mutex_lock(&j->lock);
	fprintf(stderr,
		"\r%" PRIu64 " devices  %" PRIu64 " events/s  %s/s  %s bytes/event  %s%" PRIu64
		" lost%s\033[K",
		now->connections_now, events / LIVE_S,
		units_bytes((now->bytes - before->bytes) / LIVE_S, rate), per_event,
		lost ? say_style(stderr, STYLE_BAD) : "", lost,
		lost ? say_style(stderr, STYLE_PLAIN) : "");
	j->drawn = true;
	pthread_mutex_unlock(&j->lock);
}

static int wait_for_signal(struct journal *j, struct collector *c, const sigset_t *signals)
{
	const struct timespec second = { .tv_sec = LIVE_S };
	struct collector_counters before, now;
	int number;

	collector_count(c, &before);
	for (;;) {
		number = j->is_terminal ? sigtimedwait(signals, NULL, &second)
					: sigwaitinfo(signals, NULL);
		if (number > 0)
			return number;
		if (errno != EAGAIN)
			continue;
		collector_count(c, &now);
		draw(j, &before, &now);
		before = now;
	}
}

static void print_place(const struct serve_settings *s, struct collector *c)
{
	const char *colon = strrchr(s->listen, ':');

	printf("devices  %.*s:%u\n", colon ? (int)(colon - s->listen) : (int)strlen(s->listen),
	       s->listen, collector_port(c));
	colon = strrchr(s->http, ':');
	if (collector_http_port(c))
		printf("web      %s://%.*s:%u/\n", collector_http_is_secure(c) ? "https" : "http",
		       colon ? (int)(colon - s->http) : (int)strlen(s->http), s->http,
		       collector_http_port(c));
	printf("data     %s\n", s->data);
	if (*s->store)
		printf("store    %s\n", s->store);
	puts("ready");
	fflush(stdout);
}

/* Before there are keys and threads: it has what the program has now. */
static void start_reader(const struct serve_settings *s, struct journal *j)
{
	struct error why = ERROR_INIT;

	if (!s->no_sandbox && object_reader_start(OBJECT_READER_FOLDERS_ONLY, &why) < 0)
		log_line(j, why.text);
}

/* Everything has started: from here on the process needs little. */
static void confine(const struct serve_settings *s, struct journal *j)
{
	struct error why = ERROR_INIT;
	char line[sizeof(why.text) + 32];

	if (s->no_sandbox) {
		log_line(j, "warning: no-sandbox: any system call is open to who gets in");
		return;
	}
	if (confinement_enter(&why) == 0)
		return;
	snprintf(line, sizeof(line), "warning: no sandbox: %s", why.text);
	log_line(j, line);
}

/* Until a signal; the threads of the collector have them all blocked. */
static int serve(struct serve_settings *s, struct journal *j, struct error *e)
{
	CLEANUP(collector) struct collector *c = NULL;
	char line[64];
	sigset_t signals;
	int r;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	s->options.log = log_line;
	s->options.log_context = j;
	start_reader(s, j);
	r = collector_start(&c, &s->options, e);
	if (r < 0)
		return r;
	confine(s, j);
	print_place(s, c);
	r = wait_for_signal(j, c, &signals);
	snprintf(line, sizeof(line), "stopping: %s", strsignal(r));
	log_line(j, line);
	return 0;
}

static int run(const struct args *a)
{
	struct journal j = { .is_terminal = isatty(STDERR_FILENO) };
	struct error e = ERROR_INIT;
	struct serve_settings s;
	int r;

	private_files_only();
	serve_settings_init(&s);
	if (serve_settings_load(&s, a, &e) < 0)
		return say_usage(&e);
	pthread_mutex_init(&j.lock, NULL);
	r = serve(&s, &j, &e);
	object_reader_stop();
	return r < 0 ? say_failure(&e) : EXIT_OK;
}

static const struct cli_option options[] = {
	{ 0, "listen", "HOST:PORT", "where devices connect (127.0.0.1:7077)", NULL },
	{ 0, "http", "HOST:PORT", "where people and programs ask (127.0.0.1:8080)", NULL },
	{ 0, "data", "DIR", "where everything is kept", NULL },
	{ 0, "store", "PLACE", "where blocks are kept: a folder, or ClickHouse (--data)", NULL },
	{ 0, "symbols", "DIR", "devices' objects, to name their functions (none)", NULL },
	{ 0, "symbols-size", "SIZE", "at most so much for tables of their names (1G)", NULL },
	{ 0, "objects-size", "SIZE", "at most so much that devices send of them; 0: none (2G)",
	  NULL },
	{ 0, "retain-size", "SIZE", "remove the oldest beyond this size (keep all)", NULL },
	{ 0, "retain-age", "TIME", "remove what is older: 36h, 30d (keep all)", NULL },
	{ 0, "workers", "N", "threads that work out facts (one for each CPU; 0: none)", NULL },
	{ 0, "alert-webhook", "URL", "where alerts are posted as JSON (nowhere)", NULL },
	{ 0, "connections", "N", "devices at once (10000)", NULL },
	{ 0, "commit-ms", "MS", "the longest that a block waits for its commit (20; 500)", NULL },
	{ 0, "device-memory", "SIZE", "of one device, not yet on disk (4M)", NULL },
	{ 0, "keys", "DIR", "the folder of keys (`keys` in --data, if it is there)", NULL },
	{ 0, "http-certificate", "FILE", "with keys: what browsers are shown (one of the keys)",
	  NULL },
	{ 0, "http-key", "FILE", "the key of that certificate", NULL },
	{ 0, "login-idle", "TIME", "a login that is not used ends after this time (1h)", NULL },
	{ 0, "login-length", "TIME", "and any login after this one (12h)", NULL },
	{ 0, "plain-http", NULL, "with keys: HTTP without TLS and logins, on loopback", NULL },
	{ 0, "plain-loopback", NULL, "with keys: take devices of loopback without, too", NULL },
	{ 0, "insecure-listen", NULL, "listen beyond loopback, without keys", NULL },
	{ 0, "no-sandbox", NULL, "do not limit its own system calls", NULL },
	{ 0, "config", "FILE", "settings (/etc/kiseki/collector.conf)", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Keep at most 20 GB, and nothing longer than a month:",
	  "kiseki serve --data /srv/traces --retain-size 20G --retain-age 30d" },
	{ "Keep the blocks in ClickHouse:",
	  "kiseki serve --store clickhouse://kiseki@db.example:8123/traces" },
	{ NULL, NULL },
};

const struct command command_serve = {
	.name = "serve",
	.summary = "collect the traces of devices, keep them, and answer over HTTP",
	.usage = "[--listen HOST:PORT] [--http HOST:PORT] [--data DIR] [OPTION...]",
	.description =
		"Takes the blocks of any number of devices (kiseki-agent), writes them to disk, "
		"and acknowledges what is there: a device forgets nothing before that. Runs until "
		"it gets SIGINT or SIGTERM, and prints \"ready\" when it listens.\n\n"
		"Data is kept in --data, which is $XDG_DATA_HOME/kiseki or ~/.local/share/kiseki, "
		"and /var/lib/kiseki for root. What is removed goes in whole files of 64 MiB.\n\n"
		"With --store, blocks are kept elsewhere: in another folder, or in a ClickHouse "
		"server, written clickhouse://[USER@]HOST:PORT/DATABASE with the port of HTTP. Any "
		"number of collectors can share one. The database and its tables are made if they "
		"are missing; `?cluster=NAME` spreads them over the servers of a cluster. A "
		"password is read from the file that `?password-file=PATH` names, or from the "
		"variable KISEKI_CLICKHOUSE_PASSWORD. There, blocks of 500 ms go into one insert, "
		"and "
		"whole days are removed. What is made "
		"from blocks to show them faster, and what devices were told, stays in --data.\n\n"
		"With keys (kiseki keys) devices connect over TLS 1.3 and show a certificate; "
		"others are refused. People and programs ask over HTTPS then, with a password "
		"(kiseki keys user) or a token (kiseki keys token). Without keys it listens on "
		"loopback only: other machines reach it through a tunnel (ssh -L), or, if "
		"everybody in the network may read and instruct, with --insecure-listen.\n\n"
		"A file of settings has lines `key = value`; the keys are the options without "
		"their dashes. The command line goes over the file. Port 0 takes any that is free; "
		"the first lines on standard output say which.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.run = run,
};
