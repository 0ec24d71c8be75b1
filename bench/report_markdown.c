/* SPDX-License-Identifier: MIT */
/* report_markdown: the part of bench/RESULTS.md that is trace_bench's, see report.h. */
#include <errno.h>
#include <string.h>

#include "report.h"

static void put_summary(FILE *f, const struct bench_result *b)
{
	size_t i;

	fprintf(f, "| trace | sched live, B/event | / `xz -9e` | encode, ns/event | / `lz4 -1` "
		   "| / `lz4 -1`, command | sched file / `xz -9e` |\n"
		   "|---|--:|--:|--:|--:|--:|--:|\n");
	for (i = 0; i < b->n; i++) {
		const struct trace_result *t = &b->trace[i];
		const struct result *sched = result_find(t, "sched");

		if (!sched)
			continue;
		fprintf(f, "| %s | %s | %s | %s | %s | %s | %s |\n", t->name,
			report_number(result_bytes(sched), 2),
			report_number(result_size_ratio(t, "sched", "xz-9e"), 3),
			report_ns(sched, sched->encode_ns),
			report_number(result_encode_ratio(t, "sched", "lz4-1"), 3),
			report_number(result_encode_ratio(t, "sched", "lz4-1-command"), 3),
			report_number(result_size_ratio(t, "sched-file", "xz-9e"), 3));
	}
	fprintf(f, "| goal | | 0.72 or less | | less than 1 | | |\n\n");
	fprintf(f,
		"State of codec `sched` per CPU: encoder %llu bytes (goal: 196608 or less), "
		"decoder %llu bytes.\n",
		(unsigned long long)b->encoder_bytes, (unsigned long long)b->decoder_bytes);
}

static void put_rows(FILE *f, const struct trace_result *t)
{
	size_t i;

	fprintf(f, "\n| | B/event | encode, ns/event | decode, ns/event | size / ring |\n"
		   "|---|--:|--:|--:|--:|\n");
	for (i = 0; i < t->n_rows; i++) {
		const struct result *r = &t->row[i];

		fprintf(f, "| %s%s%s | %s | %s | %s | %s |\n", r->ours ? "**" : "", r->name,
			r->ours ? "**" : "", report_number(result_bytes(r), 2),
			report_ns(r, r->encode_ns), report_ns(r, r->decode_ns),
			report_number(result_size_ratio(t, r->key, "ring"), 4));
	}
}

static void put_cold(FILE *f, const struct trace_result *t)
{
	size_t i;

	if (!t->n_cold)
		return;
	fprintf(f, "\n| one event of `sched`, other memory read before it | median, ns "
		   "| mean of the lower 99 %%, ns |\n|--:|--:|--:|\n");
	for (i = 0; i < t->n_cold; i++)
		fprintf(f, "| %u KiB | %s | %s |\n", t->cold[i].walked_kib,
			report_number(t->cold[i].median_ns, 0),
			report_number(t->cold[i].mean_ns, 0));
}

static void put_convert(FILE *f, const struct trace_result *t)
{
	size_t i;

	if (!t->n_convert)
		return;
	fprintf(f, "\n| command | CPU, ms | wall, ms | times as fast as |\n|---|--:|--:|---|\n");
	for (i = 0; i < t->n_convert; i++) {
		const struct convert_result *c = &t->convert[i];
		double ratio = convert_result_ratio(t, c);

		fprintf(f, "| %s | %.0f | %.0f | %s%s%s |\n", c->name, (double)c->cpu_ns / 1e6,
			(double)c->wall_ns / 1e6, ratio < 0 ? "" : report_number(ratio, 2),
			ratio < 0 ? "" : " × ", ratio < 0 ? "" : c->versus);
	}
}

static void put_trace(FILE *f, const struct trace_result *t)
{
	fprintf(f, "\n### %s\n\n%llu events, %u CPUs, %.1f s; stamps: %s.", t->name,
		(unsigned long long)t->events, t->cpus, (double)t->ns / 1e9, report_ticks(t));
	if (t->broken)
		fprintf(f, " %llu switches out of idle were removed.",
			(unsigned long long)t->removed);
	if (t->rewritten)
		fprintf(f, " The ring pages were written by our exporter, with these events only.");
	if (t->losses)
		fprintf(f, " The recording has %llu gaps.", (unsigned long long)t->losses);
	if (t->ksk_bytes)
		fprintf(f,
			" The whole `.ksk` file, with its description and index, has %llu bytes.",
			(unsigned long long)t->ksk_bytes);
	fprintf(f, "\n");
	put_rows(f, t);
	put_cold(f, t);
	put_convert(f, t);
}

int report_markdown(const char *path, const struct bench_result *b, const char *svg,
		    struct error *e)
{
	FILE *f = fopen(path, "w");
	size_t i;

	if (!f)
		return error_set(e, errno, "cannot write %s: %s", path, strerror(errno));
	fprintf(f,
		"## Codecs and conversions\n\n"
		"- %s\n- Machine: %s\n- Kernel: %s\n- Libraries: %s\n- Command: `%s`\n"
		"- One thread on core %d, its CPU time, best of %u runs (fewer where one takes "
		"seconds).\n",
		b->date, b->machine, b->kernel, b->libraries, b->command, b->core, b->runs);
	if (b->without[0])
		fprintf(f, "- Not measured: %s\n", b->without);
	fprintf(f, "\n![Bytes per event by nanoseconds per event](%s)\n\n", svg);
	put_summary(f, b);
	for (i = 0; i < b->n; i++)
		put_trace(f, &b->trace[i]);
	if (ferror(f) | fclose(f))
		return error_set(e, EIO, "cannot write %s", path);
	return 0;
}
