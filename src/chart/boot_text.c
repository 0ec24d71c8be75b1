/* SPDX-License-Identifier: MIT */
/* boot_text: see boot_text.h. Texts have any length, so they are escaped piece by piece. */
#include "chart/boot_text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "convert/escape.h"

#define PIECE 512U

/* The next piece: it never ends within a UTF-8 sequence. */
static size_t piece_length(const char *text, size_t left)
{
	size_t n = left > PIECE ? PIECE : left, back;

	if (n == left)
		return n;
	for (back = 0; back < 3 && ((uint8_t)text[n - back] & 0xc0) == 0x80; back++)
		;
	return n - back;
}

/* Inside JSON strings only. */
static void put_without_less(FILE *f, const char *text, size_t len)
{
	const char *less;

	while ((less = memchr(text, '<', len))) {
		fwrite(text, 1, (size_t)(less - text), f);
		fputs("\\u003c", f);
		len -= (size_t)(less - text) + 1;
		text = less + 1;
	}
	fwrite(text, 1, len, f);
}

static void put(FILE *f, const char *text, size_t len, enum escape_form form)
{
	char out[PIECE * ESCAPE_GROWTH];
	size_t n, made;

	for (; len; text += n, len -= n) {
		n = piece_length(text, len);
		made = (size_t)(escape_put(out, text, n, form) - out);
		if (form == ESCAPE_JSON)
			put_without_less(f, out, made);
		else
			fwrite(out, 1, made, f);
	}
}

void boot_text_put_json(FILE *f, const char *text)
{
	fputc('"', f);
	put(f, text, strlen(text), ESCAPE_JSON);
	fputc('"', f);
}

void boot_text_put_xml(FILE *f, const char *text)
{
	put(f, text, strlen(text), ESCAPE_XML);
}

/* How long the character at p is, and how many columns it takes: those of East Asia take two, what is
 * escaped four. The lead byte decides; a sequence that turns out to be broken is only a little wider. */
static size_t character(const char *p, size_t *ret_columns)
{
	uint8_t c = (uint8_t)*p;
	size_t n = 1, want = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;

	*ret_columns = c == '\\' ? 2 : c < 0x20 || c >= 0x7f ? 4 : 1;
	if (want == 1)
		return 1;
	while (n < want && ((uint8_t)p[n] & 0xc0) == 0x80)
		n++;
	if (n == want)
		*ret_columns = c >= 0xe1 ? 2 : 1;
	else
		*ret_columns = 4 * n;
	return n;
}

size_t boot_text_columns(const char *text)
{
	size_t total = 0, columns;

	while (*text) {
		text += character(text, &columns);
		total += columns;
	}
	return total;
}

size_t boot_text_put_cut(FILE *f, const char *text, size_t columns)
{
	size_t total = 0, wide, len = 0, n;

	if (boot_text_columns(text) <= columns) {
		boot_text_put_xml(f, text);
		return boot_text_columns(text);
	}
	while (text[len]) {
		n = character(text + len, &wide);
		if (total + wide + 1 > columns)
			break;
		total += wide;
		len += n;
	}
	put(f, text, len, ESCAPE_XML);
	fputs("\xe2\x80\xa6", f);
	return total + 1;
}
