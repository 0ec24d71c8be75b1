/* SPDX-License-Identifier: MIT */
/*
 * facts: how long the functions of a whole fleet over a day take.
 *
 *	facts [--devices N] [--hours H] [--functions F] [--minutes M] [--folder PLACE] [--markdown FILE]
 *
 * A day of facts for each device: H hours with about F functions each, and behind them M minutes of an hour that goes on. The
 * sets are made of seeds, TEMPLATES of them, which devices and hours share in turn; each is stored under its own key by the real engine. Then
 * the questions are asked, each REPEATS times (the flame graph once), and the samples of every answer are checked against those that were put. A folder
 * that was named stays, and is only asked if it has facts already: of the same numbers, or the check fails. clickhouse://… is a place, too.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "facts/facts.h"
#include "stopwatch.h"
#include "tools/fact_random.h"

#define TEMPLATES 48U
#define BATCH 250U
#define REPEATS 5
#define START_S (1700000000ULL / FACT_HOUR_S * FACT_HOUR_S)
#define STACKS_OF_FUNCTION 3U

struct fleet {
	uint32_t devices, hours, functions, minutes;
	const char *folder, *markdown;
	FILE *table;
	struct facts *facts;
	struct fact_set templates[TEMPLATES];
	uint64_t rows; /* functions of all sets of hours */
	struct fact_set sets[BATCH];
	const struct fact_set *list[BATCH];
	size_t n;
	uint64_t samples[2]; /* of hours, of minutes */
	uint64_t put_ns;
	bool is_filled;
};

static void fail(const char *what)
{
	fprintf(stderr, "facts: %s\n", what);
	exit(1);
}

static void make_templates(struct fleet *f)
{
	struct fact_key key = { .kind = FACT_PROFILE, .length_s = FACT_HOUR_S };
	struct fact_random r = { .functions = f->functions,
				 .stacks = f->functions * STACKS_OF_FUNCTION,
				 .period_ns = 10101010 };

	for (r.seed = 0; r.seed < TEMPLATES; r.seed++)
		if (fact_random_make(&f->templates[r.seed], &key, &r) < 0)
			fail("out of memory");
}

static void flush(struct fleet *f)
{
	struct facts_batch b = { .sets = f->list, .n_sets = f->n };
	struct error e = ERROR_INIT;
	uint64_t from_ns = stopwatch_wall_ns();

	if (!f->is_filled && facts_put_batch(f->facts, &b, &e) < 0)
		fail(e.text);
	f->put_ns += stopwatch_wall_ns() - from_ns;
	f->n = 0;
}

/* The set is the template's, under another key: nothing of it is the list's to free. */
static void put(struct fleet *f, uint32_t device, uint32_t length_s, uint64_t start_s)
{
	bool is_minute = length_s == FACT_MINUTE_S;
	uint32_t which = (uint32_t)(device * 31 + start_s / length_s) % TEMPLATES;
	struct fact_set *s = &f->sets[f->n];
	uint64_t all[FACT_VALUES];

	*s = f->templates[which];
	s->key.device = fact_random_id(device);
	s->key.run = fact_random_id(device + (1U << 24));
	s->key.length_s = length_s;
	s->key.start_s = start_s;
	fact_set_totals(s, all);
	f->samples[is_minute] += all[0];
	f->list[f->n++] = s;
	if (!is_minute)
		f->rows += s->functions.n;
	if (f->n == BATCH)
		flush(f);
}

static void fill(struct fleet *f)
{
	uint64_t end_s = START_S + (uint64_t)f->hours * FACT_HOUR_S;
	uint32_t device, i;

	for (i = 0; i < f->hours; i++)
		for (device = 0; device < f->devices; device++)
			put(f, device, FACT_HOUR_S, START_S + (uint64_t)i * FACT_HOUR_S);
	for (i = 0; i < f->minutes; i++)
		for (device = 0; device < f->devices; device++)
			put(f, device, FACT_MINUTE_S, end_s + (uint64_t)i * FACT_MINUTE_S);
	if (f->n)
		flush(f);
}

enum question { ASK_TOP, ASK_OBJECTS, ASK_TREE, ASK_TREND };

/* The samples that the answer has. */
static uint64_t ask(struct fleet *f, enum question which, const struct facts_query *q)
{
	struct facts_order o = { .by = which == ASK_TOP ? FACTS_BY_FUNCTION : FACTS_BY_OBJECT,
				 .most = 50 };
	struct facts_trend t = { .name = "function_7", .step_s = FACT_HOUR_S };
	struct facts_basis basis = { 0 };
	struct facts_points points;
	struct error e = ERROR_INIT;
	struct facts_rows rows;
	struct fact_set tree;
	int r;

	if (which == ASK_TREE) {
		r = facts_tree(f->facts, q, &tree, &basis, &e);
		if (r == 0)
			fact_set_done(&tree);
	} else if (which == ASK_TREND) {
		r = facts_trend(f->facts, q, &t, &points, &e);
		basis = points.basis;
		facts_points_done(&points);
	} else {
		r = facts_top(f->facts, q, &o, &rows, &e);
		basis = rows.basis;
		facts_rows_done(&rows);
	}
	if (r < 0)
		fail(e.text);
	return basis.values[0];
}

static void say(struct fleet *f, const char *text)
{
	fputs(text, stdout);
	fflush(stdout);
	if (f->table)
		fputs(text, f->table);
}

/* Of all threads. */
static uint64_t cpu_ns(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000;
}

static void measure(struct fleet *f, const char *name, enum question which, bool minutes)
{
	uint64_t end_s = START_S + (uint64_t)f->hours * FACT_HOUR_S;
	struct facts_query q = { .all_devices = true, .kind = FACT_PROFILE, .from_s = START_S };
	uint64_t best = UINT64_MAX, first = 0, from_ns, took_ns, cpu = UINT64_MAX, cpu_from_ns;
	uint64_t want = f->samples[0] + (minutes ? f->samples[1] : 0);
	char text[256];
	int i;

	q.to_s = end_s + (minutes ? FACT_HOUR_S : 0);
	for (i = 0; i < (which == ASK_TREE ? 1 : REPEATS); i++) {
		from_ns = stopwatch_wall_ns();
		cpu_from_ns = cpu_ns();
		if (ask(f, which, &q) != want)
			fail("an answer does not have all samples");
		took_ns = stopwatch_wall_ns() - from_ns;
		first = i ? first : took_ns;
		best = MIN(best, took_ns);
		cpu = MIN(cpu, cpu_ns() - cpu_from_ns);
	}
	snprintf(text, sizeof(text), "| %s | %u | %u | %.0f ms | %.0f ms | %.0f ms |\n", name,
		 f->devices * f->hours, minutes ? f->devices * f->minutes : 0, (double)first / 1e6,
		 (double)best / 1e6, (double)cpu / 1e6);
	say(f, text);
}

/* Sums of all devices are made a few at a time. */
static void sum_up(struct fleet *f)
{
	struct error e = ERROR_INIT;
	uint64_t from_ns = stopwatch_wall_ns();
	char text[128];
	uint32_t i;

	for (i = 0; i <= f->hours; i++)
		if (facts_roll(f->facts, START_S + (uint64_t)f->hours * FACT_HOUR_S, &e) < 0)
			fail(e.text);
	snprintf(text, sizeof(text), "| the sums of all devices, made | %u | 0 | %.0f ms | | |\n",
		 f->devices * f->hours, (double)(stopwatch_wall_ns() - from_ns) / 1e6);
	say(f, text);
}

static void format_size(const struct fleet *f, char *out, size_t room)
{
	struct stat st = { 0 };
	char path[4096];

	if (strstr(f->folder, "://")) {
		snprintf(out, room, "in ClickHouse");
		return;
	}
	snprintf(path, sizeof(path), "%s/facts.sqlite", f->folder);
	if (stat(path, &st) < 0)
		fail("there is no file");
	snprintf(out, room, "%.0f MB", (double)st.st_size / 1e6);
}

static void report(struct fleet *f)
{
	char text[512], size[32];
	uint32_t sets = f->devices * (f->hours + f->minutes);

	format_size(f, size, sizeof(size));
	snprintf(text, sizeof(text),
		 "%u devices, %u hours and %u minutes behind them, %.0f functions a set on "
		 "average, %.1f M rows of functions in hours; "
		 "%s%s%.0f%s.\n\n",
		 f->devices, f->hours, f->minutes,
		 (double)f->rows / MAX(1.0, (double)f->devices * f->hours), (double)f->rows / 1e6,
		 size, f->is_filled ? "; sets: " : ", stored at ",
		 f->is_filled ? sets : (double)sets / ((double)f->put_ns / 1e9),
		 f->is_filled ? "" : " sets/s");
	say(f, text);
	say(f, "| question | hours read | minutes read | first | best of 5 | CPU time of all "
	       "threads |\n|---|--:|--:|--:|--:|--:|\n");
	measure(f, "top functions", ASK_TOP, false);
	measure(f, "top functions, with the hour that goes on", ASK_TOP, true);
	measure(f, "top objects", ASK_OBJECTS, false);
	measure(f, "trend of a function, by hour", ASK_TREND, false);
	measure(f, "flame graph", ASK_TREE, false);
	sum_up(f);
	measure(f, "top functions, by sums", ASK_TOP, false);
	measure(f, "trend of a function, by sums", ASK_TREND, false);
	measure(f, "flame graph, by sums", ASK_TREE, false);
	say(f, "| goal, top functions | | | | 1000 ms or less | |\n");
}

static void parse(struct fleet *f, int argc, char **argv)
{
	static const struct option options[] = { { "devices", required_argument, NULL, 'd' },
						 { "hours", required_argument, NULL, 'h' },
						 { "functions", required_argument, NULL, 'f' },
						 { "minutes", required_argument, NULL, 'm' },
						 { "folder", required_argument, NULL, 'o' },
						 { "markdown", required_argument, NULL, 't' },
						 { 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'd')
			f->devices = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 'h')
			f->hours = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 'f')
			f->functions = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 'm')
			f->minutes = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 'o')
			f->folder = optarg;
		else if (c == 't')
			f->markdown = optarg;
		else
			exit(2);
	}
	if (!f->devices || !f->hours || !f->functions || f->minutes > 60)
		fail("there is nothing to measure");
}

int main(int argc, char **argv)
{
	static struct fleet f = { .devices = 1000, .hours = 24, .functions = 400, .minutes = 10 };
	char own[] = "/tmp/kiseki-facts-XXXXXX", command[64];
	struct error e = ERROR_INIT;
	size_t i;

	parse(&f, argc, argv);
	if (f.markdown && !(f.table = fopen(f.markdown, "w")))
		fail(strerror(errno));
	if (!f.folder && !(f.folder = mkdtemp(own)))
		fail(strerror(errno));
	f.is_filled = facts_open_reader(&f.facts, f.folder, &e) == 0;
	facts_free(f.facts);
	if (facts_open(&f.facts, f.folder, &e) < 0)
		fail(e.text);
	make_templates(&f);
	fill(&f);
	report(&f);
	for (i = 0; i < TEMPLATES; i++)
		fact_set_done(&f.templates[i]);
	facts_free(f.facts);
	if (f.table && fclose(f.table))
		fail(strerror(errno));
	snprintf(command, sizeof(command), "rm -rf %s", own);
	return f.folder == own ? system(command) != 0 : 0;
}
