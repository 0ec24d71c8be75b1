/* SPDX-License-Identifier: MIT */
/* url: see url.h. What RFC 3986 calls unreserved stands for itself, every other byte is %XX. */
#include "cli/url.h"

#include <string.h>

static void push_char(struct url *u, char c)
{
	if (u->len + 1 >= sizeof(u->text)) {
		u->full = true;
		return;
	}
	u->text[u->len++] = c;
	u->text[u->len] = 0;
}

static bool is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       memchr("-._~", c, 4);
}

static void push_escaped(struct url *u, const char *text)
{
	static const char digits[] = "0123456789ABCDEF";
	bool dots = !strcmp(text, ".") || !strcmp(text, ".."); /* would be a path of their own */

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (is_unreserved(*text) && !dots) {
			push_char(u, *text);
			continue;
		}
		push_char(u, '%');
		push_char(u, digits[c >> 4]);
		push_char(u, digits[c & 15]);
	}
}

void url_init(struct url *u, const char *path)
{
	memset(u, 0, sizeof(*u));
	for (; *path; path++)
		push_char(u, *path);
}

void url_push(struct url *u, const char *segment)
{
	push_char(u, '/');
	push_escaped(u, segment);
}

void url_push_param(struct url *u, const char *name, const char *value)
{
	if (!value)
		return;
	push_char(u, u->has_params ? '&' : '?');
	u->has_params = true;
	push_escaped(u, name);
	push_char(u, '=');
	push_escaped(u, value);
}
