/* SPDX-License-Identifier: MIT */
/*
 * trace_bench: size and speed of our codecs beside others', on the same events in the same run.
 *
 *	trace_bench [--runs N] [--cold] [--no-broken] [--kiseki PROGRAM] [--scratch FOLDER]
 *	            [--json FILE] [--svg FILE] [--markdown FILE [--plot NAME]] TRACE.dat…
 *
 * Each trace is loaded into memory and measured as it is and once more with broken chains of tasks.
 * Tables come on standard output as they are ready, the files at the end.
 */
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "codec_sched.h"
#include "machine.h"
#include "measure.h"
#include "process.h"
#include "report.h"

#define RUNS_DEFAULT 7
#define LIMIT_NS 4000000000ULL /* a thing that takes longer is measured once */

struct options {
	unsigned runs;
	bool cold;
	bool no_broken;
	const char *kiseki;
	const char *scratch;
	const char *json;
	const char *svg;
	const char *markdown;
	const char *plot;
};

static const struct option long_options[] = {
	{ "runs", required_argument, NULL, 'r' },    { "cold", no_argument, NULL, 'c' },
	{ "no-broken", no_argument, NULL, 'b' },     { "kiseki", required_argument, NULL, 'k' },
	{ "scratch", required_argument, NULL, 't' }, { "json", required_argument, NULL, 'j' },
	{ "svg", required_argument, NULL, 's' },     { "markdown", required_argument, NULL, 'm' },
	{ "plot", required_argument, NULL, 'p' },    { 0 },
};

static int parse_options(struct options *o, int argc, char **argv)
{
	const char **text[256] = { ['k'] = &o->kiseki, ['t'] = &o->scratch,  ['j'] = &o->json,
				   ['s'] = &o->svg,    ['m'] = &o->markdown, ['p'] = &o->plot };
	int c;

	while ((c = getopt_long(argc, argv, "", long_options, NULL)) != -1) {
		if (c == 'r')
			o->runs = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'c')
			o->cold = true;
		else if (c == 'b')
			o->no_broken = true;
		else if (c > 0 && c < 256 && text[c])
			*text[c] = optarg;
		else
			return -EINVAL;
	}
	return o->runs && optind < argc ? 0 : -EINVAL;
}

static void describe_trace(struct trace_result *t, const struct events *ev, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	snprintf(t->path, sizeof(t->path), "%s", path);
	snprintf(t->name, sizeof(t->name), "%.40s%s", name, t->broken ? ", broken" : "");
	t->events = ev->n;
	t->losses = ev->n_losses;
	t->cpus = ev->info.cpus;
	t->skipped = ev->info.skipped;
	t->ns = ev->ns;
	if (ev->has_counter)
		t->tick_ns =
			(double)ev->info.clock.mult / (double)(1ULL << (ev->info.clock.shift & 63));
}

/* The kernel's pages, unless they hold other things than the events that we measure. */
static int get_pages(const struct measure *m, const struct events *ev, struct pages *ret,
		     struct error *e)
{
	struct trace_result *t = m->result;
	char path[4096];

	t->rewritten = t->broken || t->skipped;
	if (!t->rewritten)
		return pages_load(ret, t->path, e);
	snprintf(path, sizeof(path), "%s/pages.dat", m->scratch);
	return pages_from_events(ret, ev, path, e);
}

static int measure_trace(const struct measure *m, const struct events *ev, bool cold,
			 struct error *e)
{
	struct pages pages;
	int r = get_pages(m, ev, &pages, e);

	if (r < 0)
		return r;
	r = measure_codecs(m, ev, e);
	if (r == 0)
		r = measure_ring(m, &pages, e);
	if (r == 0)
		r = measure_text(m, ev, e);
	if (r == 0)
		r = measure_packers(m, &pages, e);
	if (r == 0 && cold)
		r = measure_cold(m, ev, e);
	if (r == 0 && !m->result->broken)
		r = measure_convert(m, e);
	pages_done(&pages);
	return r;
}

static int bench_events(struct bench_result *b, struct measure *m, const struct events *ev,
			const struct options *o, struct error *e)
{
	int r = measure_trace(m, ev, o->cold, e);

	if (r < 0)
		return r;
	b->n++;
	report_table(stdout, b, m->result);
	return 0;
}

/* Adds to the list of what was not measured. */
static void leave_out(struct bench_result *b, const char *what, const char *name, const char *why)
{
	size_t used = strlen(b->without);

	snprintf(b->without + used, sizeof(b->without) - used, "%s%s%s%s", used ? "; " : "", what,
		 name, why);
}

/* Once more, with the chains of tasks cut. */
static int bench_broken(struct bench_result *b, struct measure *m, const struct events *whole,
			const struct options *o, struct error *e)
{
	struct trace_result *t = &b->trace[b->n];
	struct events ev;
	int r = events_dup_broken(&ev, whole, &t->removed, e);

	if (r < 0)
		return r;
	if (!t->removed) { /* a machine that was never idle: it would be the same again */
		leave_out(b, "broken chains of ", m->result->name,
			  ": it has no switch out of idle");
		events_done(&ev);
		return 0;
	}
	t->broken = true;
	describe_trace(t, &ev, m->result->path);
	m->result = t;
	r = bench_events(b, m, &ev, o, e);
	events_done(&ev);
	return r;
}

static int bench_trace(struct bench_result *b, struct measure *m, const char *path,
		       const struct options *o, struct error *e)
{
	struct events ev;
	int r = events_load(&ev, path, e);

	if (r < 0)
		return r;
	m->result = &b->trace[b->n];
	describe_trace(m->result, &ev, path);
	r = bench_events(b, m, &ev, o, e);
	if (r == 0 && !o->no_broken && b->n < RESULT_TRACES)
		r = bench_broken(b, m, &ev, o, e);
	events_done(&ev);
	return r;
}

static int write_reports(const struct bench_result *b, const struct options *o, struct error *e)
{
	int r = 0;

	if (o->json)
		r = report_json(o->json, b, e);
	if (r == 0 && o->svg)
		r = report_svg(o->svg, b, e);
	if (r == 0 && o->markdown)
		r = report_markdown(o->markdown, b, o->plot ? o->plot : "trace.svg", e);
	return r;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int bench_all(struct bench_result *b, const struct options *o, char **paths, struct error *e)
{
	char scratch[4096];
	struct measure m = { .watch = { o->runs, LIMIT_NS }, .scratch = scratch };
	int r = 0;

	if (o->kiseki && process_exists(o->kiseki))
		m.kiseki = o->kiseki;
	else
		leave_out(b, "conversions", "", ": no kiseki program was given");
	snprintf(scratch, sizeof(scratch), "%s/kiseki-bench.XXXXXX",
		 o->scratch ? o->scratch : "/tmp");
	if (!mkdtemp(scratch))
		return error_set(e, errno, "cannot create %s: %s", scratch, strerror(errno));
	for (; *paths && r == 0 && b->n < RESULT_TRACES; paths++)
		r = bench_trace(b, &m, *paths, o, e);
	if (r == 0 && *paths)
		leave_out(b, *paths, "", " and what follows: too many traces");
	nftw(scratch, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return r;
}

int main(int argc, char **argv)
{
	static struct bench_result b;
	struct options o = { .runs = RUNS_DEFAULT };
	struct error e = ERROR_INIT;
	int r;

	if (parse_options(&o, argc, argv) < 0) {
		fprintf(stderr,
			"usage: trace_bench [--runs N] [--cold] [--no-broken] [--kiseki PROGRAM]\n"
			"       [--scratch FOLDER] [--json FILE] [--svg FILE]\n"
			"       [--markdown FILE [--plot NAME]] TRACE.dat…\n");
		return 2;
	}
	_cleanup_free_ struct trace_result *traces = calloc(RESULT_TRACES, sizeof(*traces));

	if (!traces)
		return 1;
	b.trace = traces;
	b.runs = o.runs;
	b.core = stopwatch_pin();
	b.encoder_bytes = codec_sched_encoder_size();
	b.decoder_bytes = codec_sched_decoder_size();
	machine_describe(&b, argc, argv);
	r = bench_all(&b, &o, argv + optind, &e);
	if (r == 0) {
		report_summary(stdout, &b);
		r = write_reports(&b, &o, &e);
	}
	if (r < 0)
		fprintf(stderr, "trace_bench: %s\n", e.text[0] ? e.text : strerror(-r));
	return r < 0 ? 1 : 0;
}
