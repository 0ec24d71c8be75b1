/* SPDX-License-Identifier: MIT */
/* units: see units.h. */
#include "cli/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/comm.h"

/* value / unit with three significant digits, cut and not rounded: no length looks longer. */
static const char *three_digits(uint64_t value, uint64_t unit, const char *name, char *buffer)
{
	uint64_t whole = value / unit;

	if (unit == 1 || whole >= 100)
		snprintf(buffer, UNITS_LEN, "%" PRIu64 " %s", whole, name);
	else if (whole >= 10)
		snprintf(buffer, UNITS_LEN, "%" PRIu64 ".%" PRIu64 " %s", whole,
			 value % unit / (unit / 10), name);
	else
		snprintf(buffer, UNITS_LEN, "%" PRIu64 ".%02" PRIu64 " %s", whole,
			 value % unit / (unit / 100), name);
	return buffer;
}

const char *units_duration(uint64_t ns, char buffer[UNITS_LEN])
{
	if (ns < 1000)
		return three_digits(ns, 1, "ns", buffer);
	if (ns < 1000 * 1000)
		return three_digits(ns, 1000, "us", buffer);
	if (ns < 1000 * 1000 * 1000)
		return three_digits(ns, 1000 * 1000, "ms", buffer);
	return three_digits(ns, 1000 * 1000 * 1000, "s", buffer);
}

const char *units_moment(uint64_t ns, char buffer[UNITS_LEN])
{
	snprintf(buffer, UNITS_LEN, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	return buffer;
}

const char *units_clock_duration(const struct trace_clock *c, uint64_t ns, char buffer[UNITS_LEN])
{
	if (!clock_is_ticks(c))
		return units_duration(ns, buffer);
	snprintf(buffer, UNITS_LEN, "%" PRIu64 " ticks", ns);
	return buffer;
}

const char *units_clock_moment(const struct trace_clock *c, uint64_t ns, char buffer[UNITS_LEN])
{
	if (!clock_is_ticks(c))
		return units_moment(ns, buffer);
	snprintf(buffer, UNITS_LEN, "%" PRIu64, ns);
	return buffer;
}

const char *units_bytes(uint64_t bytes, char buffer[UNITS_LEN])
{
	static const char *const names[] = { "B", "KB", "MB", "GB", "TB" };
	uint64_t unit = 1;
	int i = 0;

	for (; i < 4 && bytes / unit >= 1000; i++)
		unit *= 1000;
	return three_digits(bytes, unit, names[i], buffer);
}

const char *units_percent(uint64_t part, uint64_t whole, char buffer[UNITS_LEN])
{
	uint64_t permille;

	for (; part > UINT64_MAX / 2000; part >>= 1)
		whole >>= 1; /* the product must fit; a few bits less do not show */
	permille = whole ? (part * 1000 + whole / 2) / whole : 0;
	if (whole)
		snprintf(buffer, UNITS_LEN, "%" PRIu64 ".%" PRIu64, permille / 10, permille % 10);
	else
		snprintf(buffer, UNITS_LEN, "-");
	return buffer;
}

const char *units_comm(const char comm[16], char buffer[UNITS_COMM_LEN])
{
	return comm_format(comm, buffer);
}

const char *units_names(const char first[16], const char last[16], char buffer[UNITS_NAMES_LEN])
{
	char a[UNITS_COMM_LEN], b[UNITS_COMM_LEN];

	comm_format(first, a);
	comm_format(last, b);
	if (!a[0] || !strcmp(a, b))
		snprintf(buffer, UNITS_NAMES_LEN, "%s", b);
	else
		snprintf(buffer, UNITS_NAMES_LEN, "%s \xe2\x86\x92 %s", a, b);
	return buffer;
}

/* Bytes that begin a character. Names of tasks may have wide ones, which are rare enough. */
size_t units_columns(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

int units_width(const char *text, size_t columns)
{
	size_t shown = units_columns(text);

	return (int)(strlen(text) + (shown < columns ? columns - shown : 0));
}
