/* SPDX-License-Identifier: MIT */
/*
 * units: numbers as people read them. Each fills and returns the caller's buffer.
 */
#ifndef KISEKI_CLI_UNITS_H
#define KISEKI_CLI_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/clock.h"
#include "trace/comm.h"

#define UNITS_LEN 32

/* Three significant digits: "0 ns", "999 ns", "1.23 us", "45.6 ms", "7.89 s", "1234 s". */
const char *units_duration(uint64_t ns, char buffer[UNITS_LEN]);

/* The same of a clock; where nobody knows how long its ticks are, "123 ticks". */
const char *units_clock_duration(const struct trace_clock *c, uint64_t ns, char buffer[UNITS_LEN]);
const char *units_clock_moment(const struct trace_clock *c, uint64_t ns, char buffer[UNITS_LEN]);

/* A moment of the trace in seconds with all digits: "797.027542123". */
const char *units_moment(uint64_t ns, char buffer[UNITS_LEN]);

/* "0 B", "1023 B", "1.23 KB", … in powers of 1000. */
const char *units_bytes(uint64_t bytes, char buffer[UNITS_LEN]);

/* part / whole in percent with one digit: "12.3"; "-" of nothing. */
const char *units_percent(uint64_t part, uint64_t whole, char buffer[UNITS_LEN]);

/* A name of up to 16 bytes as it can be shown (trace/comm.h). */
#define UNITS_COMM_LEN COMM_TEXT_LEN
const char *units_comm(const char comm[16], char buffer[UNITS_COMM_LEN]);

/* A task's first name and its last, "sh → gzip", or one if they are the same; and how many columns that
 * takes on a screen. */
#define UNITS_NAMES_LEN (2 * UNITS_COMM_LEN + 8)
const char *units_names(const char first[16], const char last[16], char buffer[UNITS_NAMES_LEN]);
size_t units_columns(const char *text);
/* The width that makes printf fill a field up to so many columns: it counts bytes. */
int units_width(const char *text, size_t columns);

#endif
