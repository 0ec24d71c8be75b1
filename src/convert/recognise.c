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
				   "it is a bootchart; see kiseki boot, or make a .ksk of it with "
				   "kiseki convert" },
	[RECOGNISED_GZIP] = { "gzip", "it is compressed twice; unpack it with gunzip first" },
	[RECOGNISED_XZ] = { "xz", "it is compressed twice; unpack it with unxz first" },
	[RECOGNISED_ZSTD] = { "zstd", "it is compressed twice; unpack it with unzstd first" },
	[RECOGNISED_ATRACE] = { "atrace -z", "it is compressed twice" },
	[RECOGNISED_LZ4] = { "lz4", "it is compressed; unpack it with unlz4 first" },
	[RECOGNISED_PERF] = { "perf.data", "perf.data is not readable; record with trace-cmd or "
					   "kiseki" },
	[RECOGNISED_PERF_SCRIPT] = { "perf script",
				     "the text of perf script is not readable; record "
				     "with trace-cmd or kiseki" },
	[RECOGNISED_PERFETTO] = { "perfetto",
				  "Perfetto's traces are written and not read; convert the "
				  "recording that it was made of" },
	[RECOGNISED_CHROME] = { "chrome",
				"it is a drawing for Chrome's trace viewer, which is written "
				"and not read; convert the recording that it was made of" },
	[RECOGNISED_SPEEDSCOPE] = { "speedscope",
				    "speedscope's files are written and not read; convert "
				    "the recording that it was made of" },
	[RECOGNISED_OWN_JSON] = { "json",
				  "Kiseki's JSON is written and not read; convert the recording "
				  "that it was made of" },
	[RECOGNISED_OWN_XML] = { "xml",
				 "Kiseki's XML is written and not read; convert the recording "
				 "that it was made of" },
	[RECOGNISED_OWN_CSV] = { "csv",
				 "Kiseki's CSV is written and not read; convert the recording "
				 "that it was made of" },
	[RECOGNISED_JSON] = { "json", "it is JSON, and no trace in a format that kiseki knows" },
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

static bool contains(const uint8_t *data, size_t len, const char *text)
{
	return len && memmem(data, len, text, strlen(text));
}

size_t recognise_atrace(const uint8_t *data, size_t len)
{
	static const char mark[] = "TRACE:\n";
	const uint8_t *at;

	if (len > RECOGNISE_BYTES)
		len = RECOGNISE_BYTES;
	at = len ? memmem(data, len, mark, sizeof(mark) - 1) : NULL;
	if (!at || at > data + 256)
		return 0;
	at += sizeof(mark) - 1;
	/* Deflate with the usual window, and a sum of the header that fits. */
	if (data + len - at < 2 || at[0] != 0x78 || (at[0] << 8 | at[1]) % 31)
		return 0;
	return (size_t)(at - data);
}

/* Packets follow each other, each field 1 of the whole: tag, length, and a field of its own. */
static bool is_perfetto(const uint8_t *data, size_t len)
{
	size_t at = 0, packets = 0, size, shift, start;
	int wire;

	for (; at < len && packets < 64; packets++, at += size) {
		if (data[at++] != 0x0a)
			return false;
		size = shift = 0;
		start = at;
		do {
			if (at >= len || at - start > 4)
				return packets > 0 && at >= len;
			size |= (size_t)(data[at] & 0x7f) << shift;
			shift += 7;
		} while (data[at++] & 0x80);
		wire = at < len ? data[at] & 7 : 0;
		if (size < 2 || wire > 5 || wire == 3 || wire == 4)
			return false;
	}
	return packets > 0;
}

/* "comm  1234 [001] 12.345678: event:", where ftrace has "comm-1234". */
static bool is_perf_line(const char *line, const char *end)
{
	const char *open = memchr(line, '[', (size_t)(end - line)), *p;

	if (!open || open == line || open[-1] != ' ' || end - open < 8)
		return false;
	for (p = open + 1; p < end && *p >= '0' && *p <= '9'; p++)
		;
	if (p == open + 1 || p + 1 >= end || p[0] != ']' || p[1] != ' ')
		return false;
	for (p = open; p > line && p[-1] == ' '; p--)
		;
	if (p == line || p[-1] < '0' || p[-1] > '9')
		return false;
	while (p > line && ((p[-1] >= '0' && p[-1] <= '9') || p[-1] == '/'))
		p--;
	return p > line && p[-1] == ' ';
}

static bool is_perf_script(const uint8_t *data, size_t len)
{
	const char *at = (const char *)data, *end = at + len, *eol;

	for (; at < end; at = eol + 1) {
		eol = memchr(at, '\n', (size_t)(end - at));
		if (!eol)
			return false;
		if (eol > at && *at != '#')
			return is_perf_line(at, eol);
	}
	return false;
}

static enum recognised recognise_json(const uint8_t *data, size_t len)
{
	if (contains(data, len, "\"format\":\"kiseki\""))
		return RECOGNISED_OWN_JSON;
	if (contains(data, len, "speedscope.app/file-format-schema"))
		return RECOGNISED_SPEEDSCOPE;
	if (contains(data, len, "\"traceEvents\"") ||
	    (contains(data, len, "\"ph\"") && contains(data, len, "\"ts\"")))
		return RECOGNISED_CHROME;
	return RECOGNISED_JSON;
}

/* JSON begins with a bracket and something that a trace's line does not have behind one. */
static bool is_json(const uint8_t *data, size_t len)
{
	size_t at = 0;

	while (at < len && memchr(" \t\r\n", data[at], 4))
		at++;
	if (at == len || (data[at] != '{' && data[at] != '['))
		return false;
	for (at++; at < len && memchr(" \t\r\n", data[at], 4);)
		at++;
	return at < len && memchr("\"{[]}", data[at], 5);
}

static enum recognised recognise_text(const uint8_t *data, size_t len)
{
	static const char csv[] = "kind,ns,tick,";

	if (is_html(data, len))
		return RECOGNISED_HTML;
	if (is_json(data, len))
		return recognise_json(data, len);
	if (len >= 5 && !memcmp(data, "<?xml", 5) && contains(data, len, "<trace version="))
		return RECOGNISED_OWN_XML;
	if (len >= sizeof(csv) - 1 && !memcmp(data, csv, sizeof(csv) - 1))
		return RECOGNISED_OWN_CSV;
	return is_perf_script(data, len) ? RECOGNISED_PERF_SCRIPT : RECOGNISED_TEXT;
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
	if (recognise_atrace(data, len))
		return RECOGNISED_ATRACE;
	if (is_text(data, len))
		return recognise_text(data, len);
	return is_perfetto(data, len) ? RECOGNISED_PERFETTO : RECOGNISED_NOTHING;
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
