/* SPDX-License-Identifier: MIT */
/*
 * measure: takes the figures of one trace, one measure_<what>.c for each kind of opponent.
 */
#ifndef KISEKI_BENCH_MEASURE_H
#define KISEKI_BENCH_MEASURE_H

#include "base/error.h"
#include "events.h"
#include "pages.h"
#include "result.h"
#include "stopwatch.h"

#define MEASURE_FLUSH_NS 100000000ULL /* the live form: a block is sent every 100 ms */

struct measure {
	struct stopwatch watch;
	const char *scratch; /* a folder of our own for temporary files */
	const char *kiseki;  /* the program; NULL: conversions are not measured */
	struct trace_result *result;
};

/* Codecs sched (as sent live, as a file) and bsf, from and to events in memory. */
int measure_codecs(const struct measure *m, const struct events *ev, struct error *e);

/* gzip, lz4, zstd, xz on the pages, and the lz4 command on a file of them. */
int measure_packers(const struct measure *m, const struct pages *p, struct error *e);

/* The kernel's text: formatting, parsing, and the text packed with gzip. */
int measure_text(const struct measure *m, const struct events *ev, struct error *e);

/* The ring itself: how long our importer takes to read the trace.dat. */
int measure_ring(const struct measure *m, const struct pages *p, struct error *e);

/* Single events with cold caches; slow. */
int measure_cold(const struct measure *m, const struct events *ev, struct error *e);

/* Whole commands, ours beside trace-cmd and babeltrace2. */
int measure_convert(const struct measure *m, struct error *e);

#endif
