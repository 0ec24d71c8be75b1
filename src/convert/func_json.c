/* SPDX-License-Identifier: MIT */
/* func_json: see func_json.h. */
#include "convert/func_json.h"

#include <errno.h>
#include <string.h>

#include "analysis/json_whole.h"
#include "convert/escape.h"

#define PART 1024U /* bytes at a time; names of C++ may be longer */

/* Where a part may end without cutting a character of UTF-8. */
static size_t whole_part(const char *text, size_t len)
{
	size_t n = len < PART ? len : PART;

	while (n < len && n > PART - 4 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

void func_json_text(struct outfile *out, const char *text)
{
	size_t len = strlen(text), n;
	char *start, *p;

	outfile_write(out, "\"", 1);
	for (; len; text += n, len -= n) {
		n = whole_part(text, len);
		start = outfile_reserve(out, PART * ESCAPE_GROWTH);
		p = escape_put(start, text, n, ESCAPE_JSON);
		outfile_advance(out, (size_t)(p - start));
	}
	outfile_write(out, "\"", 1);
}

static int put(const char *bytes, size_t len, void *out)
{
	outfile_write(out, bytes, len);
	return 0;
}

int func_json_document(struct outfile *out, json_t *document, struct error *e)
{
	int r = json_whole_is() && document ? json_dump_callback(document, put, out, JSON_INDENT(1))
					    : -1;

	json_decref(document);
	if (r < 0)
		return error_set(e, ENOMEM, "cannot write JSON: out of memory");
	outfile_write(out, "\n", 1);
	return outfile_check(out, e);
}
