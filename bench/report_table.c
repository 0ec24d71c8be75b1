/* SPDX-License-Identifier: MIT */
/* report_table: the figures on a terminal, see report.h. */
#include "report.h"

#define RING 8U /* numbers in one printf */

const char *report_number(double value, int digits)
{
	static char text[RING][32];
	static unsigned at;
	char *p = text[at++ % RING];

	if (value < 0)
		snprintf(p, sizeof(text[0]), "-");
	else
		snprintf(p, sizeof(text[0]), "%.*f", digits, value);
	return p;
}

const char *report_ns(const struct result *r, uint64_t ns)
{
	double each = ns == RESULT_NONE ? -1 : result_ns(r, ns);

	return report_number(each, each < 100 ? 1 : 0);
}

const char *report_ticks(const struct trace_result *t)
{
	static char text[64];

	if (t->tick_ns > 0)
		snprintf(text, sizeof(text), "ticks of %.4g ns (%.4g MHz)", t->tick_ns,
			 1000 / t->tick_ns);
	else
		snprintf(text, sizeof(text), "nanoseconds, no counter behind them");
	return text;
}

static void print_head(FILE *f, const struct trace_result *t)
{
	fprintf(f, "\n%s: %llu events, %u CPUs, %.1f s, %s\n", t->name,
		(unsigned long long)t->events, t->cpus, (double)t->ns / 1e9, report_ticks(t));
	if (t->broken)
		fprintf(f, "  broken chain: %llu switches out of idle removed\n",
			(unsigned long long)t->removed);
	if (t->rewritten)
		fprintf(f, "  ring pages written by our exporter, with these events only\n");
	if (t->losses)
		fprintf(f, "  %llu gaps in the recording\n", (unsigned long long)t->losses);
}

static void print_rows(FILE *f, const struct trace_result *t)
{
	const struct result *r;
	size_t i;

	fprintf(f, "  %-22s %10s %10s %10s %9s\n", "", "B/event", "encode", "decode", "of ring");
	fprintf(f, "  %-22s %10s %10s %10s %9s\n", "", "", "ns/event", "ns/event", "");
	for (i = 0; i < t->n_rows; i++) {
		r = &t->row[i];
		fprintf(f, "  %-22s %10s %10s %10s %9s\n", r->name,
			report_number(result_bytes(r), 2), report_ns(r, r->encode_ns),
			report_ns(r, r->decode_ns),
			report_number(result_size_ratio(t, r->key, "ring"), 4));
	}
}

static void print_cold(FILE *f, const struct trace_result *t)
{
	size_t i;

	if (t->n_cold)
		fprintf(f, "  one event, other memory read before each: ns, median and mean\n");
	for (i = 0; i < t->n_cold; i++)
		fprintf(f, "  %8u KiB %30s %10s\n", t->cold[i].walked_kib,
			report_number(t->cold[i].median_ns, 0),
			report_number(t->cold[i].mean_ns, 0));
}

static void print_convert(FILE *f, const struct trace_result *t)
{
	const struct convert_result *c;
	size_t i;

	if (t->n_convert)
		fprintf(f, "  %-44s %8s %8s %8s\n", "", "CPU ms", "wall ms", "speed");
	for (i = 0; i < t->n_convert; i++) {
		double ratio;

		c = &t->convert[i];
		ratio = convert_result_ratio(t, c);
		fprintf(f, "  %-44s %8.0f %8.0f %8s%s%s\n", c->name, (double)c->cpu_ns / 1e6,
			(double)c->wall_ns / 1e6, report_number(ratio, 2), ratio < 0 ? "" : " x ",
			ratio < 0 ? "" : c->versus);
	}
}

void report_table(FILE *f, const struct bench_result *b, const struct trace_result *t)
{
	(void)b;
	print_head(f, t);
	print_rows(f, t);
	print_cold(f, t);
	print_convert(f, t);
	fflush(f);
}

void report_summary(FILE *f, const struct bench_result *b)
{
	const struct trace_result *t;
	size_t i;

	fprintf(f, "\n%-30s %12s %12s %12s %12s %12s\n", "", "size, live", "size, file",
		"encode time", "encode time", "ksk to text");
	fprintf(f, "%-30s %12s %12s %12s %12s %12s\n", "", "/ xz -9e", "/ xz -9e", "/ lz4 -1",
		"/ command", "x trace-cmd");
	for (i = 0; i < b->n; i++) {
		double speed = -1;
		size_t k;

		t = &b->trace[i];
		for (k = 0; k < t->n_convert && speed < 0; k++)
			speed = convert_result_ratio(t, &t->convert[k]);
		fprintf(f, "%-30s %12s %12s %12s %12s %12s\n", t->name,
			report_number(result_size_ratio(t, "sched", "xz-9e"), 3),
			report_number(result_size_ratio(t, "sched-file", "xz-9e"), 3),
			report_number(result_encode_ratio(t, "sched", "lz4-1"), 3),
			report_number(result_encode_ratio(t, "sched", "lz4-1-command"), 3),
			report_number(speed, 1));
	}
	fprintf(f, "%-30s %12s %12s %12s %12s %12s\n", "goal", "<= 0.72", "<= 0.72", "< 1", "",
		">= 10");
	fprintf(f,
		"\nstate of codec sched per CPU: encoder %llu bytes (goal <= 196608), decoder "
		"%llu\n",
		(unsigned long long)b->encoder_bytes, (unsigned long long)b->decoder_bytes);
	if (b->without[0])
		fprintf(f, "not measured: %s\n", b->without);
}
