/* SPDX-License-Identifier: MIT */
/*
 * report: the figures for people and machines, one report_<form>.c each. Nothing is printed that
 * was not measured in this run: a missing figure is a dash, and what was left out is said.
 */
#ifndef KISEKI_BENCH_REPORT_H
#define KISEKI_BENCH_REPORT_H

#include <stdio.h>

#include "base/error.h"
#include "result.h"

/* One trace, as soon as it is measured. */
void report_table(FILE *f, const struct bench_result *b, const struct trace_result *t);

/* The ratios of all traces that have goals. */
void report_summary(FILE *f, const struct bench_result *b);

int report_json(const char *path, const struct bench_result *b, struct error *e);
int report_svg(const char *path, const struct bench_result *b, struct error *e);

/* One part of RESULTS.md, with its heading; run.sh puts them together. Refers to the plot as `svg`, a
 * path from that file's folder. */
int report_markdown(const char *path, const struct bench_result *b, const char *svg,
		    struct error *e);

/* "3.07", "–" below zero; for columns of figures. Valid until the eighth call after it. */
const char *report_number(double value, int digits);

/* Nanoseconds per event with a sensible number of digits. */
const char *report_ns(const struct result *r, uint64_t ns);

/* What a tick is, in words. Valid until the next call. */
const char *report_ticks(const struct trace_result *t);

#endif
