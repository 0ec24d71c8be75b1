/* SPDX-License-Identifier: MIT */
/* escape: see escape.h. Nearly every byte is plain ASCII, so that is one table look-up. */
#include "convert/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool is_plain(uint8_t c)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

/* The length of the UTF-8 sequence at b if it is valid and may be carried, else 0. */
static size_t utf8_length(const uint8_t *b, size_t left)
{
	static const uint32_t smallest[5] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code;
	size_t n, i;

	n = b[0] >= 0xf0 && b[0] < 0xf8 ? 4 : b[0] >= 0xe0 ? 3 : 2;
	if (b[0] < 0xc0 || b[0] >= 0xf8 || n > left)
		return 0;
	code = b[0] & (0x7fU >> n);
	for (i = 1; i < n; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (b[i] & 0x3fU);
	}
	if (code < smallest[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
	    code == 0xfffe || code == 0xffff)
		return 0;
	return n;
}

static char *put_text(char *p, const char *text)
{
	size_t n = strlen(text);

	memcpy(p, text, n);
	return p + n;
}

static char *put_hex(char *p, uint8_t c, enum escape_form form)
{
	static const char hex[] = "0123456789abcdef";

	p = put_text(p, form == ESCAPE_JSON ? "\\\\x" : "\\x");
	*p++ = hex[c >> 4];
	*p++ = hex[c & 15];
	return p;
}

/* A character of ASCII that is not plain, but no control character either. */
static char *put_special(char *p, char c, enum escape_form form)
{
	if (c == '\\')
		return put_text(p, form == ESCAPE_JSON ? "\\\\\\\\" : "\\\\");
	if (form == ESCAPE_XML)
		return put_text(p, c == '"'   ? "&quot;"
				   : c == '<' ? "&lt;"
				   : c == '>' ? "&gt;"
					      : "&amp;");
	if (c == '"')
		*p++ = form == ESCAPE_JSON ? '\\' : '"';
	*p++ = c;
	return p;
}

char *escape_put(char *p, const char *bytes, size_t len, enum escape_form form)
{
	const uint8_t *b = (const uint8_t *)bytes;
	size_t i = 0, n;

	while (i < len) {
		if (is_plain(b[i])) {
			*p++ = (char)b[i++];
			continue;
		}
		n = b[i] >= 0x80 ? utf8_length(b + i, len - i) : 0;
		if (n) {
			memcpy(p, b + i, n);
			p += n;
			i += n;
		} else if (b[i] < 0x20 || b[i] >= 0x7f) {
			p = put_hex(p, b[i++], form);
		} else {
			p = put_special(p, (char)b[i++], form);
		}
	}
	return p;
}
