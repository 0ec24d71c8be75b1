/* SPDX-License-Identifier: MIT */
/*
 * result: the figures of one run of the benchmark. Filled by measure_*.c, printed by report_*.c.
 */
#ifndef KISEKI_BENCH_RESULT_H
#define KISEKI_BENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RESULT_ROWS 16
#define RESULT_COLD 8
#define RESULT_CONVERT 12
#define RESULT_TRACES 64
#define RESULT_NONE UINT64_MAX /* a time that was not measured */

/* One codec or compressor on one trace. */
struct result {
	const char *key;
	const char *name;
	bool ours;
	uint64_t events; /* that it holds; bsf does not hold all */
	uint64_t bytes;
	uint64_t encode_ns; /* of all events together */
	uint64_t decode_ns;
	uint64_t state_bytes; /* of the encoder, per CPU; 0: not ours */
};

/* Encoding single events after this much other memory was read in between. */
struct cold_result {
	uint32_t walked_kib;
	double median_ns;
	double mean_ns; /* of the lower 99 % */
};

/* One command on one file. */
struct convert_result {
	const char *key;
	const char *name;
	const char *versus; /* key of the other tool's row, NULL if this is one */
	uint64_t cpu_ns;
	uint64_t wall_ns;
};

struct trace_result {
	char name[64];
	char path[1024];
	bool broken;	  /* the variant with cut chains of tasks */
	bool rewritten;	  /* the pages are our exporter's, not those of the recording */
	uint64_t removed; /* events that the variant lacks */
	uint64_t skipped; /* events of other kinds in the recording */
	uint64_t losses;  /* gaps */
	uint64_t events;
	uint32_t cpus;
	uint64_t ns;	    /* length of the trace */
	double tick_ns;	    /* 0: the stamps are plain nanoseconds */
	uint64_t ksk_bytes; /* of the whole .ksk file; 0: not made */
	struct result row[RESULT_ROWS];
	size_t n_rows;
	struct cold_result cold[RESULT_COLD];
	size_t n_cold;
	struct convert_result convert[RESULT_CONVERT];
	size_t n_convert;
};

struct bench_result {
	char date[32];
	char machine[256];
	char kernel[256];
	char command[1024];
	char libraries[256];
	char without[1024]; /* what was not measured, and why; "" if nothing */
	int core;
	unsigned runs;
	uint64_t encoder_bytes; /* state of codec sched, per CPU */
	uint64_t decoder_bytes;
	struct trace_result *trace; /* RESULT_TRACES of them */
	size_t n;
};

struct result *result_add(struct trace_result *t, const char *key, const char *name);
const struct result *result_find(const struct trace_result *t, const char *key);

double result_bytes(const struct result *r); /* per event */
double result_ns(const struct result *r, uint64_t ns);

/* Of one row to another, by keys; < 0 if one of them is missing. */
double result_size_ratio(const struct trace_result *t, const char *of, const char *to);
double result_encode_ratio(const struct trace_result *t, const char *of, const char *to);

struct convert_result *convert_result_add(struct trace_result *t, const char *key,
					  const char *name);

/* How many times as fast as what it is compared with, in CPU time; < 0 if that is missing. */
double convert_result_ratio(const struct trace_result *t, const struct convert_result *c);

#endif
