/* SPDX-License-Identifier: MIT */
/*
 * recognise: what format a trace is in, told by its first bytes and never by its name.
 *
 * Formats that are not readable here but often handed in (compressed files, perf.data) are
 * recognised as well, for the sake of an error that says what it is and what to do.
 */
#ifndef KISEKI_CONVERT_RECOGNISE_H
#define KISEKI_CONVERT_RECOGNISE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define RECOGNISE_BYTES 4096U /* as much as it ever looks at */
#define RECOGNISE_LEAST 16U   /* enough for all but text */

enum recognised {
	RECOGNISED_NOTHING = 0,
	RECOGNISED_KSK,
	RECOGNISED_TRACEDAT,
	RECOGNISED_CTF, /* a folder with a metadata file */
	RECOGNISED_HTML,
	RECOGNISED_TEXT,
	RECOGNISED_FUNC,      /* the record of a traced process: calls, no scheduler's events */
	RECOGNISED_BOOTCHART, /* its archive or folder: samples of a boot, no scheduler's events */
	RECOGNISED_GZIP,      /* these are unpacked first (unpack.h) */
	RECOGNISED_XZ,
	RECOGNISED_ZSTD,
	RECOGNISED_ATRACE, /* atrace -z: a line "TRACE:", then zlib */
	RECOGNISED_LZ4,	   /* from here on: not readable */
	RECOGNISED_PERF,
	RECOGNISED_PERF_SCRIPT,
	RECOGNISED_PERFETTO,
	RECOGNISED_CHROME,
	RECOGNISED_SPEEDSCOPE,
	RECOGNISED_OWN_JSON, /* what Kiseki writes for others */
	RECOGNISED_OWN_XML,
	RECOGNISED_OWN_CSV,
	RECOGNISED_JSON, /* of anybody else */
	RECOGNISED_COUNT,
};

enum recognised recognise_bytes(const uint8_t *data, size_t len);

/* Where the zlib stream of `atrace -z` begins; 0: it is none. */
size_t recognise_atrace(const uint8_t *data, size_t len);

/* Is this folder a CTF trace, or that of a bootchart? */
enum recognised recognise_folder(const char *path);

const char *recognise_name(enum recognised r); /* "trace.dat", "CTF", … */

/* Fills e with why this cannot be read, and what to do; returns a negative errno. */
int recognise_refuse(enum recognised r, const char *path, struct error *e);

#endif
