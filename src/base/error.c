/* SPDX-License-Identifier: MIT */
/* error: see error.h. */
#include "base/error.h"

#include <stdio.h>
#include <string.h>

static void keep_one_line(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			*text = '?';
}

int error_set(struct error *e, int code, const char *fmt, ...)
{
	va_list ap;

	if (e) {
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
		keep_one_line(e->text);
	}
	return code < 0 ? code : -code;
}

int error_prefix(struct error *e, int code, const char *fmt, ...)
{
	char old[sizeof(e->text)];
	va_list ap;
	size_t n;

	if (e) {
		memcpy(old, e->text, sizeof(old));
		va_start(ap, fmt);
		vsnprintf(e->text, sizeof(e->text), fmt, ap);
		va_end(ap);
		n = strlen(e->text);
		snprintf(e->text + n, sizeof(e->text) - n, ": %s", old);
		keep_one_line(e->text);
	}
	return code < 0 ? code : -code;
}
