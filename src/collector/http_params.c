/* SPDX-License-Identifier: MIT */
/* http_params: see http_params.h. The target of a request; the headers are in http_headers.c. */
#include "collector/http_params.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hex.h"

/* Decodes in place. Control characters have no business in any name or value of ours. */
static int decode(char *text, bool plus, struct error *e)
{
	char *in = text, *out = text;

	for (; *in; in++) {
		int high = 0, low = 0, c = (unsigned char)*in;

		if (c == '%') {
			high = hex_digit(in[1]);
			low = high < 0 ? -1 : hex_digit(in[2]);
			if (low < 0)
				return error_set(e, EINVAL,
						 "cannot read the request: %% without "
						 "two hexadecimal digits");
			c = high << 4 | low;
			in += 2;
		} else if (c == '+' && plus) {
			c = ' ';
		}
		if (c < 0x20 || c == 0x7f)
			return error_set(e, EINVAL,
					 "cannot read the request: a control character in it");
		*out++ = (char)c;
	}
	*out = 0;
	return 0;
}

/* Names like these lead up and down in folders; nothing of ours is called so. */
static bool is_dots(const char *segment)
{
	return !strcmp(segment, ".") || !strcmp(segment, "..");
}

static int cut_path(struct http_target *t, char *path, struct error *e)
{
	char *next;
	int r;

	if (*path != '/')
		return error_set(e, EINVAL, "cannot read the request: its path must start with /");
	for (path++; path && (*path || t->n_segments); path = next) {
		next = strchr(path, '/');
		if (next)
			*next++ = 0;
		if (t->n_segments == HTTP_SEGMENTS_MAX)
			return error_set(e, E2BIG, "cannot read the request: its path is too deep");
		r = decode(path, false, e);
		if (r < 0)
			return r;
		if (!*path || is_dots(path))
			return error_set(e, EINVAL,
					 "cannot read the request: empty, . or .. in its path");
		t->segments[t->n_segments++] = path;
	}
	return 0;
}

static int add_param(struct http_target *t, char *name, struct error *e)
{
	char *value = strchr(name, '=');
	int r;

	if (value)
		*value++ = 0;
	else
		value = name + strlen(name);
	r = decode(name, true, e);
	if (r >= 0)
		r = decode(value, true, e);
	if (r < 0)
		return r;
	if (!*name)
		return error_set(e, EINVAL, "cannot read the request: a parameter without a name");
	if (http_target_get(t, name))
		return error_set(e, EINVAL, "cannot read the request: %s is given twice", name);
	if (t->n_params == HTTP_PARAMS_MAX)
		return error_set(e, E2BIG, "cannot read the request: too many parameters");
	t->names[t->n_params] = name;
	t->values[t->n_params++] = value;
	return 0;
}

static int cut_query(struct http_target *t, char *query, struct error *e)
{
	char *next;
	int r = 0;

	for (; query && r >= 0; query = next) {
		next = strchr(query, '&');
		if (next)
			*next++ = 0;
		if (*query)
			r = add_param(t, query, e);
	}
	return r;
}

int http_target_parse(struct http_target *t, const char *text, struct error *e)
{
	size_t len = strnlen(text, sizeof(t->text));
	char *query;
	int r;

	t->n_segments = t->n_params = 0;
	if (len == sizeof(t->text))
		return error_set(e, E2BIG,
				 "cannot read the request: its target has more than %u "
				 "bytes",
				 HTTP_TARGET_MAX);
	memcpy(t->text, text, len + 1);
	query = strchr(t->text, '?');
	if (query)
		*query++ = 0;
	r = cut_path(t, t->text, e);
	return r < 0 ? r : cut_query(t, query, e);
}

const char *http_target_get(const struct http_target *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->n_params; i++)
		if (!strcmp(t->names[i], name))
			return t->values[i];
	return NULL;
}

/* Is the name one of the words? */
static bool is_word(const char *words, const char *name)
{
	size_t len = strlen(name), n;

	for (; *words; words += n + (words[n] == ' ')) {
		n = strcspn(words, " ");
		if (n == len && !memcmp(words, name, n))
			return true;
	}
	return false;
}

int http_target_check(const struct http_target *t, const char *known, struct error *e)
{
	size_t i;

	for (i = 0; i < t->n_params; i++)
		if (!is_word(known, t->names[i]))
			return error_set(e, EINVAL, "unknown parameter '%s'; it takes %s",
					 t->names[i], *known ? known : "none");
	return 0;
}

int http_target_get_count(const struct http_target *t, const char *name, struct http_bounds bounds,
			  uint64_t *ret, struct error *e)
{
	const char *text = http_target_get(t, name), *p;
	uint64_t value = 0;

	if (!text)
		return 0;
	for (p = text; *p >= '0' && *p <= '9' && value <= bounds.most; p++) {
		if (value > (UINT64_MAX - 9) / 10)
			break;
		value = value * 10 + (uint64_t)(*p - '0');
	}
	if (p == text || *p || value < bounds.least || value > bounds.most)
		return error_set(e, EINVAL,
				 "cannot take %s=%s: it is a whole number from %" PRIu64
				 " to %" PRIu64,
				 name, text, bounds.least, bounds.most);
	*ret = value;
	return 0;
}

int http_target_get_word(const struct http_target *t, const char *name, const char *const *words,
			 size_t *ret, struct error *e)
{
	const char *text = http_target_get(t, name);
	char list[128] = "";
	size_t i, len = 0;

	if (!text)
		return 0;
	for (i = 0; words[i]; i++)
		if (!strcmp(text, words[i])) {
			*ret = i;
			return 0;
		}
	for (i = 0; words[i] && len < sizeof(list); i++)
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					words[i]);
	return error_set(e, EINVAL, "cannot take %s=%s: it is one of %s", name, text, list);
}

bool http_target_match(const struct http_target *t, const char *pattern,
		       const char *captured[HTTP_CAPTURES_MAX])
{
	size_t i, n = 0, len;

	for (i = 0; i < t->n_segments; i++) {
		if (*pattern++ != '/' || !*pattern)
			return false;
		len = strcspn(pattern, "/");
		if (*pattern == '{' && n < HTTP_CAPTURES_MAX)
			captured[n++] = t->segments[i];
		else if (strlen(t->segments[i]) != len || memcmp(t->segments[i], pattern, len))
			return false;
		pattern += len;
	}
	return !*pattern || (!t->n_segments && !strcmp(pattern, "/"));
}
