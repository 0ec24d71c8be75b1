/* SPDX-License-Identifier: MIT */
/*
 * work: works minutes out apart from the collector: after the fact, for what was collected without workers, or to see how fast this
 * machine is at it; or, where blocks and facts are in ClickHouse, all the time, with any number of others.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/private_files.h"
#include "cli/jsonout.h"
#include "cli/kiseki.h"
#include "cli/signals.h"
#include "command/args.h"
#include "command/say.h"
#include "command/value.h"
#include "facts/fact_workers.h"
#include "store/clickhouse/clickhouse_url.h"
#include "symbol/object_reader.h"

#define WORKERS_MOST 256U
#define LOOK_MS 500U

struct work {
	struct store *store;
	struct facts *facts;
	struct fact_members *members; /* NULL: it works alone */
	struct fact_workers *workers;
	const char *folders[2]; /* of symbols */
	int signals;
};

static void work_done(struct work *w)
{
	fact_workers_stop(w->workers);
	fact_members_stop(w->members);
	facts_free(w->facts);
	store_free(w->store);
	signals_close(w->signals);
}

static void log_line(void *context, const char *line)
{
	(void)context;
	fprintf(stderr, "kiseki: %s\n", line);
}

/* Whether it goes on until it is told to end. */
static bool goes_on(const struct args *a)
{
	return args_has(a, "store") && !args_has(a, "once");
}

static int get_place(const struct args *a, const char **ret, struct error *e)
{
	*ret = args_get(a, args_has(a, "store") ? "store" : "data");
	if (!*ret)
		return error_set(e, EINVAL,
				 "--data is missing: the folder of a collector; or --store");
	if (args_has(a, "store") && args_has(a, "data"))
		return error_set(e, EINVAL, "--data and --store: it works for one of them");
	if (args_has(a, "store") != clickhouse_url_is(*ret))
		return error_set(e, EINVAL, "--store is clickhouse://..., a folder is --data");
	return 0;
}

/* Who takes all, and ends, has nothing to share. */
static int join_members(struct work *w, const struct args *a, struct error *e)
{
	const struct fact_members_options o = { .facts = w->facts, .works = true };

	return goes_on(a) ? fact_members_start(&w->members, &o, e) : 0;
}

static int open_all(struct work *w, const struct args *a, struct error *e)
{
	const char *place, *n = args_get(a, "workers");
	const struct store_options store = { .read_only = true };
	struct fact_workers_options o = { .log = log_line };
	uint64_t threads = 0;
	int r;

	if (n && (value_number(&threads, n, WORKERS_MOST) < 0 || !threads))
		return error_set(e, EINVAL,
				 "cannot take --workers: '%s' is not a number from 1 to %u", n,
				 WORKERS_MOST);
	r = get_place(a, &place, e);
	if (r >= 0)
		r = w->signals = signals_open(e);
	if (r >= 0 && args_has(a, "store")) /* makes the tables, if there are none yet */
		r = facts_open(&w->facts, place, e);
	if (r >= 0)
		r = store_open(&w->store, place, &store, e);
	if (r >= 0 && !w->facts)
		r = facts_open(&w->facts, place, e);
	if (r >= 0)
		r = join_members(w, a, e);
	if (r < 0)
		return r;
	w->folders[0] = args_get(a, "symbols");
	o.symbols = (struct symbols_options){ .sysroot = w->folders[0], .folders = w->folders };
	o.store = w->store;
	o.facts = w->facts;
	o.members = w->members;
	o.threads = (unsigned int)threads;
	return fact_workers_start(&w->workers, &o, e);
}

static void print_text(const struct fact_workers_counters *c, double took_s)
{
	printf("worked out  %" PRIu64 " sets of facts, %" PRIu64
	       " records, in %.3f s by %u threads\n",
	       c->minutes, c->events, took_s, c->threads);
	if (c->late)
		printf("too late    %" PRIu64 " sets: their hour is closed\n", c->late);
	if (c->pace.hosts_max)
		printf("pace        a minute of one host takes t2 = %.4f s; t1 = %.0f s: this "
		       "machine keeps up with %" PRIu64 " hosts\n",
		       c->pace.t2_s, c->pace.t1_s, c->pace.hosts_max);
	if (c->errors)
		printf("%sfailed%s      %" PRIu64 " times, last: %s\n",
		       say_style(stdout, STYLE_BAD), say_style(stdout, STYLE_PLAIN), c->errors,
		       c->last_error);
}

static int print_json(const struct fact_workers_counters *c, double took_s)
{
	return jsonout_print(
		json_pack("{sI sI sI sI sI sI sf s{sf sf sI}}", "sets", (json_int_t)c->minutes,
			  "events", (json_int_t)c->events, "late", (json_int_t)c->late, "errors",
			  (json_int_t)c->errors, "waiting", (json_int_t)c->waiting, "threads",
			  (json_int_t)c->threads, "seconds", took_s, "pace", "t1_s", c->pace.t1_s,
			  "t2_s", c->pace.t2_s, "hosts_max", (json_int_t)c->pace.hosts_max));
}

/* All that is there, then the end; a signal ends it earlier. */
static int work(struct work *w, const struct args *a)
{
	struct fact_workers_counters c;
	uint64_t since = clock_mono_ns();
	bool ended = false;

	while (!ended && fact_workers_wait(w->workers, true, LOOK_MS) == -ETIMEDOUT)
		ended = !signals_wait(w->signals, 0);
	fact_workers_count(w->workers, &c);
	if (args_has(a, "json"))
		print_json(&c, (double)(clock_mono_ns() - since) / 1e9);
	else
		print_text(&c, (double)(clock_mono_ns() - since) / 1e9);
	return c.errors || ended ? EXIT_FAILED : EXIT_OK;
}

/* One line, or one document, for each second in which something was done. */
static void print_progress(const struct fact_workers_counters *c, bool is_json)
{
	if (is_json)
		printf("{\"sets\": %" PRIu64 ", \"events\": %" PRIu64 ", \"waiting\": %" PRIu64
		       ", \"behind_s\": %" PRIu64 ", \"errors\": %" PRIu64 "}\n",
		       c->minutes, c->events, c->waiting, c->behind_s, c->errors);
	else
		printf("worked out  %" PRIu64 " sets of facts, %" PRIu64 " records; %" PRIu64
		       " minutes wait, %" PRIu64 " s behind\n",
		       c->minutes, c->events, c->waiting, c->behind_s);
	fflush(stdout);
}

/* Until a signal comes: then what is under way is finished. */
static int work_on(struct work *w, const struct args *a)
{
	struct fact_workers_counters c = { 0 };
	uint64_t told = 0;

	printf("ready\n");
	fflush(stdout);
	while (signals_wait(w->signals, LOOK_MS)) {
		fact_workers_count(w->workers, &c);
		if (c.minutes == told)
			continue;
		told = c.minutes;
		print_progress(&c, args_has(a, "json"));
	}
	return EXIT_OK;
}

static int run(const struct args *a)
{
	struct work w = { .signals = -1 };
	struct error e = ERROR_INIT, why = ERROR_INIT;
	int r;

	private_files_only();
	/* Objects are devices' own; before there are threads, which it would not have. */
	if (object_reader_start(OBJECT_READER_FOLDERS_ONLY, &why) < 0)
		say_note("%s", why.text);
	r = open_all(&w, a, &e);
	if (r == -EINVAL)
		r = say_usage(&e);
	else if (r < 0)
		r = say_failure(&e);
	else
		r = goes_on(a) ? work_on(&w, a) : work(&w, a);
	work_done(&w);
	object_reader_stop();
	return r;
}

static const struct cli_option options[] = {
	{ 0, "data", "DIR", "folder of a collector that is not running", NULL },
	{ 0, "store", "URL", "a ClickHouse with blocks and facts: clickhouse://…", NULL },
	{ 0, "once", NULL, "with --store: all that is there, then end", NULL },
	{ 0, "symbols", "DIR", "devices' objects, to name their functions (none)", NULL },
	{ 0, "workers", "N", "threads (one for each CPU)", NULL },
	{ 0, "json", NULL, "print a JSON document", NULL },
	{ 0 },
};

static const struct cli_example examples[] = {
	{ "Make facts of what was collected with --workers 0:", "kiseki work --data /srv/traces" },
	{ "Share the work of collectors that keep blocks in ClickHouse:",
	  "kiseki work --store clickhouse://ch1:8123/kiseki" },
	{ NULL, NULL },
};

const struct command command_work = {
	.name = "work",
	.summary = "work out the facts of each minute of what was collected",
	.usage = "(--data DIR | --store URL [--once]) [--symbols DIR] [--workers N] [--json]",
	.description =
		"A collector makes facts of each minute as it becomes complete: the sums that "
		"questions about days and many devices are answered from. This does the same for "
		"a folder whose collector is not running, and says how long a minute of one host "
		"takes (t2) and with how many hosts this machine would keep up.\n\n"
		"With --store it goes on until it gets a signal, and shares the devices with all "
		"others that do so and with the collectors of that store. Any of them may come, go "
		"or be killed at any time; collectors with --workers 0 leave all of it to them.\n\n"
		"Facts follow from what was recorded alone; making them again changes nothing.",
	.options = options,
	.examples = examples,
	.parent = &command_kiseki,
	.run = run,
};
