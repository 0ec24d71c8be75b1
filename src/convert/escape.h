/* SPDX-License-Identifier: MIT */
/*
 * escape: names as valid text in the formats that are text.
 *
 * A comm or a filename is any bytes; JSON and XML are Unicode, and XML cannot carry control
 * characters at all. One rule serves all formats and loses nothing (docs/format/json.md, section
 * 3): valid UTF-8 stands for itself; a backslash is written twice; every control character (below
 * 0x20, and 0x7f), every byte that belongs to no valid UTF-8 sequence, and the bytes of the two
 * non-characters that XML forbids (U+FFFE, U+FFFF) are written as \xNN. What comes out is then
 * quoted as the format wants it.
 */
#ifndef KISEKI_CONVERT_ESCAPE_H
#define KISEKI_CONVERT_ESCAPE_H

#include <stddef.h>

enum escape_form {
	ESCAPE_JSON, /* inside "…" */
	ESCAPE_XML,  /* inside an attribute's "…" */
	ESCAPE_CSV,  /* inside the "…" of RFC 4180 */
};

/* One byte gives at most this many. */
#define ESCAPE_GROWTH 6U

/* Writes at p, without quotes around it and without a NUL; returns the place behind. */
char *escape_put(char *p, const char *bytes, size_t len, enum escape_form form);

#endif
