/* SPDX-License-Identifier: MIT */
/*
 * func_bench: the size of a function trace in every form, and what it takes to make it.
 *
 *	func_bench [--runs N] [--limit EVENTS] [--only STAGE] [--json FILE]
 *	           THREAD.raw... | --record FILE
 *
 * The files are all threads of one run of a program, as raw_hook.c recorded them; or with --record, there is one
 * file, of libkiseki-func. Each stage encodes
 * each thread for itself and decodes it again; a stage from which an event does not come back ends the
 * program. One thread on one core, its CPU time, best of the runs.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../stopwatch.h"
#include "counter.h"
#include "shares.h"
#include "stage.h"

#define RUNS 5U
#define RUN_LIMIT_NS 20000000000ULL

struct options {
	unsigned runs;
	size_t limit;
	const char *json;
	const char *record;
	const char *only; /* a stage's key */
};

struct job {
	const struct stage *stage;
	const struct thread *thread;
	uint8_t *out;
	size_t room, len;
};

static const struct stage *const *const lists[] = { stage_packer_list, stage_rtc_list,
						    stage_func_list };

static int run_encode(void *ctx)
{
	struct job *j = ctx;

	j->len = j->stage->encode(j->thread, j->out, j->room);
	return j->len || !j->thread->count ? 0 : -ENOSPC;
}

static int run_decode(void *ctx)
{
	struct job *j = ctx;

	return j->stage->decode(j->thread, j->out, j->len) ? 0 : -EBADMSG;
}

static int measure(const struct stage *stage, const struct recording *r, unsigned runs, FILE *f)
{
	struct stopwatch watch = { .runs = stage->slow ? 1 : runs, .limit_ns = RUN_LIMIT_NS };
	uint64_t bytes = 0, encode_ns = 0, decode_ns = 0, ns = 0;
	int status = 0;
	size_t i;

	for (i = 0; i < r->count && !status; i++) {
		const struct thread *t = &r->threads[i];
		struct job j = { stage, t, NULL, STAGE_ROOM(t->count), 0 };

		j.out = malloc(j.room);
		if (!j.out)
			return -ENOMEM;
		memset(j.out, 1, j.room);
		if (stage->prepare)
			stage->prepare(t);
		status = stopwatch_best(&watch, run_encode, &j, &ns);
		encode_ns += ns;
		if (!status)
			status = stopwatch_best(&watch, run_decode, &j, &ns);
		decode_ns += ns;
		bytes += j.len;
		free(j.out);
	}
	if (status)
		return status;
	fprintf(f,
		"    {\"key\": \"%s\", \"name\": \"%s\", \"bytes\": %llu, \"bits_per_event\": "
		"%.3f, "
		"\"encode_ns\": %.2f, \"decode_ns\": %.2f}",
		stage->key, stage->name, (unsigned long long)bytes,
		8.0 * (double)bytes / (double)r->events, (double)encode_ns / (double)r->events,
		(double)decode_ns / (double)r->events);
	return 0;
}

static int measure_stages(const struct recording *r, const struct options *o, FILE *f)
{
	const struct stage *const *stage;
	const char *between = "\n";
	int status;
	size_t i;

	fprintf(f, "  \"stages\": [");
	for (i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		for (stage = lists[i]; *stage; stage++) {
			if (o->only && strcmp(o->only, (*stage)->key) != 0)
				continue;
			fputs(between, f);
			between = ",\n";
			status = measure(*stage, r, o->runs, f);
			if (!status)
				continue;
			fprintf(stderr, "func_bench: cannot measure %s: %s\n", (*stage)->key,
				strerror(-status));
			return status;
		}
	}
	fprintf(f, "\n  ],\n");
	return 0;
}

static int measure_shares(const struct recording *r, const struct options *o, double tick_ns,
			  FILE *f)
{
	struct stopwatch watch = { .runs = o->runs, .limit_ns = RUN_LIMIT_NS };
	struct shares s;
	int status = shares_measure(r, tick_ns, &watch, &s);

	if (status) {
		fprintf(stderr, "func_bench: cannot measure the shares of rtc: %s\n",
			strerror(-status));
		return status;
	}
	fprintf(f,
		"    {\"unit_ns\": %s, \"records\": %llu, \"carries\": %llu, "
		"\"time_in\": %llu, \"time_out\": %llu, \"function_in\": %llu, "
		"\"function_out\": %llu, \"in\": %llu, \"out\": %llu, "
		"\"encode_ns\": %.2f, \"decode_ns\": %.2f, \"gbit_per_s\": %.3f}",
		tick_ns > 0 ? "10" : "null", (unsigned long long)s.records,
		(unsigned long long)s.carries, (unsigned long long)s.time_in,
		(unsigned long long)s.time_out, (unsigned long long)s.function_in,
		(unsigned long long)s.function_out, (unsigned long long)s.in,
		(unsigned long long)s.out, (double)s.encode_ns / (double)s.records,
		(double)s.decode_ns / (double)s.records,
		(double)(s.time_in + s.function_in) / (double)s.encode_ns);
	return 0;
}

static int write_json(const struct recording *r, const struct options *o, int core, FILE *f)
{
	double tick_ns = counter_tick_ns();
	int status;

	fprintf(f,
		"{\n  \"version\": 1, \"core\": %d, \"runs\": %u, \"threads\": %zu, "
		"\"events\": %llu, \"tick_ns\": %.4f,\n",
		core, o->runs, r->count, (unsigned long long)r->events, tick_ns);
	status = measure_stages(r, o, f);
	if (status)
		return status;
	fprintf(f, "  \"rtc\": [\n");
	status = measure_shares(r, o, 0, f);
	fputs(",\n", f);
	if (!status)
		status = measure_shares(r, o, tick_ns, f);
	fprintf(f, "\n  ]\n}\n");
	return status;
}

static int parse_options(struct options *o, int argc, char **argv)
{
	static const struct option known[] = { { "runs", required_argument, NULL, 'r' },
					       { "limit", required_argument, NULL, 'l' },
					       { "json", required_argument, NULL, 'j' },
					       { "only", required_argument, NULL, 'o' },
					       { "record", required_argument, NULL, 'c' },
					       { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "", known, NULL)) >= 0) {
		if (c == 'r')
			o->runs = (unsigned)strtoul(optarg, NULL, 10);
		else if (c == 'l')
			o->limit = strtoul(optarg, NULL, 10);
		else if (c == 'j')
			o->json = optarg;
		else if (c == 'o')
			o->only = optarg;
		else if (c == 'c')
			o->record = optarg;
		else
			return -EINVAL;
	}
	return (optind < argc) != (o->record != NULL) && o->runs ? 0 : -EINVAL;
}

int main(int argc, char **argv)
{
	struct options o = { .runs = RUNS, .limit = SIZE_MAX };
	struct recording r;
	FILE *f = stdout;
	int status;

	if (parse_options(&o, argc, argv)) {
		fprintf(stderr, "usage: func_bench [--runs N] [--limit EVENTS] [--only STAGE] "
				"[--json FILE] "
				"THREAD.raw... | --record FILE\n");
		return 2;
	}
	status = o.record ? recording_open_buffer(&r, o.record, o.limit)
			  : recording_open(&r, argv + optind, (size_t)(argc - optind), o.limit);
	if (status || !r.events) {
		fprintf(stderr, "func_bench: cannot read the recording: %s\n",
			status ? strerror(-status) : "it has no events");
		return 1;
	}
	if (o.json)
		f = fopen(o.json, "w");
	if (!f) {
		fprintf(stderr, "func_bench: cannot write %s: %s\n", o.json, strerror(errno));
		return 1;
	}
	status = write_json(&r, &o, stopwatch_pin(), f);
	if (fclose(f))
		status = -EIO;
	recording_close(&r);
	return status ? 1 : 0;
}
