/* SPDX-License-Identifier: MIT */
/*
 * fleet: thousands of simulated devices at one or several collectors.
 *
 *	fleet [OPTION...] HOST:PORT[,HOST:PORT...] FILE.ksk...
 *
 * Each device has a connection, an identity, a run and a clock of its own, and plays one of the recordings
 * (device i the one with number i modulo their number), at its own pace, as blocks that it seals anew. At the
 * end it prints what was made, sent, acknowledged and given up, and says whether that is exact; account.py
 * compares the same with what the collectors have. Exit 1: something is missing.
 */
#include "fleet.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "collector/endpoint.h"
#include "device.h"

#define WHEEL_SCALE 25U /* 100 ms of the wheel are 4 of ours */
#define TURN_MS 4
#define EVENTS_AT_ONCE 1024
#define ROUNDS_MAX 64
#define DEFAULT_PORT 7077
#define FDS_BESIDE 64U
#define RAMP_PER_S 1000.0 /* devices that come in a second, if nothing is said */

static const char usage[] =
	"usage: fleet [OPTION...] HOST:PORT[,HOST:PORT...] FILE.ksk...\n"
	"  --devices N      so many (1)\n"
	"  --seconds S      of recording that each plays (10)\n"
	"  --endless        until SIGINT or SIGTERM instead\n"
	"  --ramp S         they come within this time (1 s for 1000)\n"
	"  --rate N|max     events a second of each device (as recorded)\n"
	"  --cuts S         connections break, every S seconds in the mean (never)\n"
	"  --spool KIB      a device that was away gives up what is beyond (nothing)\n"
	"  --failover       after a break to the next collector; all have one store\n"
	"  --patience S     without any acknowledgement, then it gives up (60)\n"
	"  --name TEXT      of the devices, a number follows (sim)\n"
	"  --same-name      no number follows: all have one name\n"
	"  --seed N         of their identities and of chance (1)\n"
	"  --keys DIR       TLS: the state folders of enrolled devices, DIR/0 and on\n"
	"  --runs FILE      the account of each device\n"
	"  --identities     say who the devices are, instead of HOST:PORT and FILE\n"
	"  --describe       say what a pass of each FILE has, instead of HOST:PORT\n";

static volatile sig_atomic_t told_to_end;

static void on_signal(int number)
{
	(void)number;
	if (told_to_end++)
		_exit(1);
}

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "fleet: %s: %s\n", what, why);
	exit(2);
}

void fleet_wake(struct fleet *f, struct device *d, uint64_t at_ms)
{
	wheel_set(&f->wheel, &d->due, at_ms * WHEEL_SCALE);
}

/* --- the command line --- */

enum option_number {
	OPTION_DEVICES = 256,
	OPTION_SECONDS,
	OPTION_ENDLESS,
	OPTION_RAMP,
	OPTION_RATE,
	OPTION_CUTS,
	OPTION_SPOOL,
	OPTION_FAILOVER,
	OPTION_PATIENCE,
	OPTION_NAME,
	OPTION_SAME_NAME,
	OPTION_SEED,
	OPTION_KEYS,
	OPTION_RUNS,
	OPTION_IDENTITIES,
	OPTION_DESCRIBE,
};

static const struct option long_options[] = {
	{ "devices", required_argument, NULL, OPTION_DEVICES },
	{ "seconds", required_argument, NULL, OPTION_SECONDS },
	{ "endless", no_argument, NULL, OPTION_ENDLESS },
	{ "ramp", required_argument, NULL, OPTION_RAMP },
	{ "rate", required_argument, NULL, OPTION_RATE },
	{ "cuts", required_argument, NULL, OPTION_CUTS },
	{ "spool", required_argument, NULL, OPTION_SPOOL },
	{ "failover", no_argument, NULL, OPTION_FAILOVER },
	{ "patience", required_argument, NULL, OPTION_PATIENCE },
	{ "name", required_argument, NULL, OPTION_NAME },
	{ "same-name", no_argument, NULL, OPTION_SAME_NAME },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "keys", required_argument, NULL, OPTION_KEYS },
	{ "runs", required_argument, NULL, OPTION_RUNS },
	{ "identities", no_argument, NULL, OPTION_IDENTITIES },
	{ "describe", no_argument, NULL, OPTION_DESCRIBE },
	{ NULL, 0, NULL, 0 },
};

static double get_number(const char *text, double least, double most)
{
	char *end;
	double v = strtod(text, &end);

	if (*end || end == text || !(v >= least && v <= most))
		fail(text, "not a number that may stand here");
	return v;
}

static void take_option(struct fleet_options *o, int c)
{
	switch (c) {
	case OPTION_DEVICES:
		o->devices = (uint32_t)get_number(optarg, 1, FLEET_DEVICES_MAX);
		break;
	case OPTION_SECONDS:
		o->seconds = get_number(optarg, 0.001, 1e9);
		break;
	case OPTION_ENDLESS:
		o->seconds = 0;
		break;
	case OPTION_RAMP:
		o->ramp_s = get_number(optarg, 0, 1e6);
		break;
	case OPTION_RATE:
		o->rate = strcmp(optarg, "max") ? get_number(optarg, 0.001, 1e9) : -1;
		break;
	case OPTION_CUTS:
		o->cuts_s = get_number(optarg, 0.001, 1e9);
		break;
	case OPTION_SPOOL:
		o->spool_bytes = (uint64_t)(get_number(optarg, 0, 1e9) * 1024);
		break;
	case OPTION_FAILOVER:
		o->failover = true;
		break;
	case OPTION_PATIENCE:
		o->patience_s = get_number(optarg, 0, 1e6);
		break;
	case OPTION_NAME:
		o->name = optarg;
		break;
	case OPTION_SAME_NAME:
		o->same_name = true;
		break;
	case OPTION_SEED:
		o->seed = (uint64_t)get_number(optarg, 0, 1e15);
		break;
	case OPTION_KEYS:
		o->keys = optarg;
		break;
	case OPTION_IDENTITIES:
		o->identities = true;
		break;
	case OPTION_RUNS:
		o->runs = optarg;
		break;
	case OPTION_DESCRIBE:
		o->describe = true;
		break;
	default:
		fputs(usage, stderr);
		exit(2);
	}
}

static void take_targets(struct fleet *f, char *list)
{
	struct error e = ERROR_INIT;
	char *at, *more = NULL;

	for (at = strtok_r(list, ",", &more); at; at = strtok_r(NULL, ",", &more)) {
		if (f->n_targets == FLEET_TARGETS_MAX)
			fail(at, "too many collectors");
		if (endpoint_parse(at, DEFAULT_PORT, &f->targets[f->n_targets++], &e) < 0)
			fail(at, e.text);
	}
}

static void parse(struct fleet *f, int argc, char **argv)
{
	struct error e = ERROR_INIT;
	int c;

	f->o = (struct fleet_options){ .devices = 1,
				       .seconds = 10,
				       .ramp_s = -1,
				       .patience_s = 60,
				       .seed = 1,
				       .name = "sim" };
	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		take_option(&f->o, c);
	if (f->o.ramp_s < 0)
		f->o.ramp_s = f->o.devices / RAMP_PER_S;
	if (f->o.identities)
		return;
	if (optind < argc && !f->o.describe)
		take_targets(f, argv[optind++]);
	if ((!f->n_targets && !f->o.describe) || optind >= argc ||
	    argc - optind > (int)FLEET_TAPES_MAX)
		take_option(&f->o, '?');
	for (; optind < argc; optind++)
		if (tape_open(&f->tapes[f->n_tapes++], argv[optind], &e) < 0)
			fail("a recording", e.text);
}

/* --- the loop --- */

static void start(struct fleet *f)
{
	struct rlimit limit;
	rlim_t wanted = (rlim_t)f->o.devices + FDS_BESIDE;
	uint32_t i;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < wanted) {
		limit.rlim_cur = wanted;
		if (limit.rlim_max < wanted)
			limit.rlim_max = wanted; /* for root */
		if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
			fail("so many devices", "more open files than this system allows");
	}
	f->devices = calloc(f->o.devices, sizeof(*f->devices));
	f->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!f->devices || f->epoll_fd < 0)
		fail("start", strerror(errno));
	f->now_ms = f->started_ms = clock_mono_ms();
	f->started_real_ns = clock_real_ns();
	wheel_init(&f->wheel, f->now_ms * WHEEL_SCALE);
	f->tally.devices = f->o.devices;
	for (i = 0; i < f->o.devices; i++) {
		device_init(&f->devices[i], f, i);
		fleet_wake(f, &f->devices[i],
			   f->now_ms + (uint64_t)(f->o.ramp_s * 1e3 * i / f->o.devices));
	}
}

/* How many sockets had something. */
static int poll_sockets(struct fleet *f, int wait_ms)
{
	static struct epoll_event events[EVENTS_AT_ONCE];
	int n = epoll_wait(f->epoll_fd, events, EVENTS_AT_ONCE, wait_ms), i;

	f->now_ms = clock_mono_ms();
	for (i = 0; i < n; i++) {
		uint32_t what = events[i].events, can = 0;

		if (what & (EPOLLOUT | EPOLLHUP | EPOLLERR))
			can |= DEVICE_CAN_SEND;
		if (what & (EPOLLIN | EPOLLHUP | EPOLLERR))
			can |= DEVICE_CAN_RECEIVE;
		device_poll(events[i].data.ptr, can);
	}
	return n;
}

/* What comes is looked at until there is no more: an ACK that waits here would seem to be the collector's. */
static void turn(struct fleet *f)
{
	struct wheel_entry *due;
	int n, rounds = 0;

	do
		n = poll_sockets(f, rounds ? 0 : TURN_MS);
	while (n == EVENTS_AT_ONCE && ++rounds < ROUNDS_MAX);
	while ((due = wheel_pop(&f->wheel, f->now_ms * WHEEL_SCALE)))
		device_turn((struct device *)due);
}

static void end_all(struct fleet *f)
{
	uint32_t i;

	for (i = 0; i < f->o.devices; i++)
		device_end(&f->devices[i]);
}

/* Draws once a second; returns the tally to compare with next. */
static void draw(struct fleet *f, struct tally *before, uint64_t *last_ms)
{
	if (f->now_ms < *last_ms + 1000)
		return;
	tally_print_live(&f->tally, before, stderr);
	*before = f->tally;
	*last_ms = f->now_ms;
}

/* Until all devices have finished, or nothing more is acknowledged. */
static void run(struct fleet *f)
{
	uint64_t drawn_ms = f->now_ms, moved_ms = f->now_ms, acked = 0;
	uint64_t patience_ms = (uint64_t)(f->o.patience_s * 1e3);
	bool is_live = isatty(STDERR_FILENO), ended = false;
	struct tally before = f->tally;

	while (f->tally.finished < f->tally.devices && f->now_ms < moved_ms + patience_ms) {
		turn(f);
		if (told_to_end && !ended)
			end_all(f);
		ended |= told_to_end != 0;
		if (f->tally.blocks_acked + f->tally.finished != acked ||
		    (!ended && f->o.seconds <= 0))
			moved_ms = f->now_ms;
		acked = f->tally.blocks_acked + f->tally.finished;
		if (is_live)
			draw(f, &before, &drawn_ms);
	}
	if (is_live)
		fputs("\r\033[K", stderr);
}

/* --- the account --- */

static void print_id(FILE *out, const struct message_id *id)
{
	size_t i;

	for (i = 0; i < sizeof(id->bytes); i++)
		fprintf(out, "%02x", id->bytes[i]);
}

/* A line for each device: its identity, its run, the number of its collector, blocks and events that the
 * collector must have, events that must be in its ledger. */
static void write_runs(struct fleet *f)
{
	FILE *out = fopen(f->o.runs, "w");
	uint32_t i;

	if (!out)
		fail(f->o.runs, strerror(errno));
	for (i = 0; i < f->o.devices; i++) {
		const struct device *d = &f->devices[i];
		struct tape_count made = tape_count(d->tape, d->end == UINT64_MAX ? 0 : d->end);
		struct message_id device, run;

		device_get_ids(d, &device, &run);
		print_id(out, &device);
		fputc('\t', out);
		print_id(out, &run);
		fprintf(out, "\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s\n", d->target,
			d->end - d->blocks_given_up, made.events - d->events_given_up,
			made.lost + d->events_given_up,
			d->phase == PHASE_FINISHED ? "finished" : "open");
	}
	if (fclose(out) != 0)
		fail(f->o.runs, strerror(errno));
}

static void print_identities(struct fleet *f)
{
	struct device d = { .fleet = f };
	struct message_id device, run;

	for (; d.number < f->o.devices; d.number++) {
		device_get_ids(&d, &device, &run);
		print_id(stdout, &device);
		putchar('\n');
	}
}

static double seconds_of(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void describe(const struct tape *t)
{
	printf("ns %" PRIu64 "\nblocks %zu\nevents %" PRIu64 "\nlost %" PRIu64 "\nbytes %" PRIu64
	       "\nstreams %u\n",
	       t->span_ns, t->n - t->n_meta, t->events, t->lost, t->bytes, t->n_streams);
}

int main(int argc, char **argv)
{
	static struct fleet fleet;
	struct sigaction action = { .sa_handler = on_signal };
	struct rusage used;
	uint32_t i;

	parse(&fleet, argc, argv);
	if (fleet.o.identities) {
		print_identities(&fleet);
		return 0;
	}
	for (i = 0; fleet.o.describe && i < fleet.n_tapes; i++) {
		describe(&fleet.tapes[i]);
		tape_close(&fleet.tapes[i]);
	}
	if (fleet.o.describe)
		return 0;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	start(&fleet);
	run(&fleet);
	getrusage(RUSAGE_SELF, &used);
	fleet.tally.cpu_s = seconds_of(&used.ru_utime) + seconds_of(&used.ru_stime);
	tally_print(&fleet.tally, (double)(fleet.now_ms - fleet.started_ms) / 1e3, stdout);
	if (fleet.o.runs)
		write_runs(&fleet);
	for (i = 0; i < fleet.o.devices; i++)
		device_done(&fleet.devices[i]);
	free(fleet.devices);
	for (i = 0; i < fleet.n_tapes; i++)
		tape_close(&fleet.tapes[i]);
	return tally_is_exact(&fleet.tally) ? 0 : 1;
}
