/* SPDX-License-Identifier: MIT */
/* recognise: see recognise.h. */
#include "convert/recognise.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "convert/bootchart_archive.h"

struct mark {
	enum recognised what;
	uint8_t len;
	const char *bytes;
};

static const struct mark marks[] = {
	{ RECOGNISED_KSK, 8, "KISEKI\r\n" },
	{ RECOGNISED_FUNC, 8, "KSKFUNC\n" },
	{ RECOGNISED_TRACEDAT, 10, "\x17\x08\x44tracing" },
	{ RECOGNISED_GZIP, 3, "\x1f\x8b\x08" },
	{ RECOGNISED_XZ, 6,
	  "\xfd"
	  "7zXZ\0" },
	{ RECOGNISED_ZSTD, 4, "\x28\xb5\x2f\xfd" },
	{ RECOGNISED_LZ4, 4, "\x04\x22\x4d\x18" },
	{ RECOGNISED_PERF, 8, "PERFILE2" },
};

static const struct {
	const char *name;
	const char *advice; /* NULL: readable */
} names[RECOGNISED_COUNT] = {
	[RECOGNISED_NOTHING] = { "unknown", "not a trace in a format that kiseki knows" },
	[RECOGNISED_KSK] = { "ksk", NULL },
	[RECOGNISED_TRACEDAT] = { "trace.dat", NULL },
	[RECOGNISED_CTF] = { "ctf", NULL },
	[RECOGNISED_HTML] = { "systrace html", NULL },
	[RECOGNISED_TEXT] = { "ftrace text", NULL },
	[RECOGNISED_FUNC] = { "function record",
			      "it holds calls, no scheduler's events; see kiseki "
			      "func" },
	[RECOGNISED_BOOTCHART] = { "bootchart",
				   "it is a bootchart, which has no scheduler's events; see kiseki "
				   "boot" },
	[RECOGNISED_GZIP] = { "gzip", "it is compressed; unpack it with gunzip first" },
	[RECOGNISED_XZ] = { "xz", "it is compressed; unpack it with unxz first" },
	[RECOGNISED_ZSTD] = { "zstd", "it is compressed; unpack it with unzstd first" },
	[RECOGNISED_LZ4] = { "lz4", "it is compressed; unpack it with unlz4 first" },
	[RECOGNISED_PERF] = { "perf.data", "perf.data is not readable; record with trace-cmd or "
					   "kiseki" },
};

/* Text has no control characters but the usual ones; a name may hold any byte above them. */
static bool is_text(const uint8_t *data, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (data[i] < 0x20 && !memchr("\t\n\r\f\x1b", data[i], 5))
			return false;
	return len > 0;
}

static bool is_html(const uint8_t *data, size_t len)
{
	static const char *const starts[] = { "<!doctype html", "<html" };
	size_t at = 0, i;

	if (len >= 3 && !memcmp(data, "\xef\xbb\xbf", 3))
		at = 3; /* a byte order mark */
	while (at < len && memchr(" \t\r\n", data[at], 4))
		at++;
	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (len - at >= strlen(starts[i]) &&
		    !strncasecmp((const char *)data + at, starts[i], strlen(starts[i])))
			return true;
	return false;
}

enum recognised recognise_bytes(const uint8_t *data, size_t len)
{
	size_t i;

	if (bootchart_archive_is(data, len))
		return RECOGNISED_BOOTCHART;
	for (i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if (len >= marks[i].len && !memcmp(data, marks[i].bytes, marks[i].len))
			return marks[i].what;
	if (len > RECOGNISE_BYTES)
		len = RECOGNISE_BYTES;
	if (!is_text(data, len))
		return RECOGNISED_NOTHING;
	return is_html(data, len) ? RECOGNISED_HTML : RECOGNISED_TEXT;
}

static bool has_file(const char *folder, const char *file)
{
	char name[4096];

	return (size_t)snprintf(name, sizeof(name), "%s/%s", folder, file) < sizeof(name) &&
	       !access(name, F_OK);
}

enum recognised recognise_folder(const char *path)
{
	if (has_file(path, "metadata"))
		return RECOGNISED_CTF;
	if (has_file(path, bootchart_names[BOOTCHART_PS]) ||
	    has_file(path, bootchart_names[BOOTCHART_TASKSTATS]))
		return RECOGNISED_BOOTCHART;
	return RECOGNISED_NOTHING;
}

const char *recognise_name(enum recognised r)
{
	return names[r].name;
}

int recognise_refuse(enum recognised r, const char *path, struct error *e)
{
	return error_set(e, EBADMSG, "cannot read %s: %s", path,
			 names[r].advice ? names[r].advice : "the format is not expected here");
}
