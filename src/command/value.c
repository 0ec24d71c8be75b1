/* SPDX-License-Identifier: MIT */
/* value: see value.h. */
#include "command/value.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

int value_text(char *ret, size_t room, const char *text)
{
	size_t len = strlen(text);

	if (!len || len >= room)
		return -EINVAL;
	memcpy(ret, text, len + 1);
	return 0;
}

/* The number that the text starts with; *ret_rest is what stands behind it. */
static int leading_number(uint64_t *ret, const char *text, const char **ret_rest)
{
	uint64_t v = 0;
	const char *p;

	for (p = text; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10U, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -EINVAL;
	if (p == text)
		return -EINVAL;
	*ret = v;
	*ret_rest = p;
	return 0;
}

int value_number(uint64_t *ret, const char *text, uint64_t most)
{
	const char *rest;
	uint64_t v;

	if (leading_number(&v, text, &rest) < 0 || *rest || v > most)
		return -EINVAL;
	*ret = v;
	return 0;
}

int value_size(uint64_t *ret, const char *text, uint32_t plain)
{
	static const char units[] = "KMGT";
	uint64_t piece = plain, v;
	const char *rest, *unit;

	if (leading_number(&v, text, &rest) < 0)
		return -EINVAL;
	if (*rest) {
		unit = strchr(units, toupper((unsigned char)*rest));
		if (!unit || rest[1])
			return -EINVAL;
		piece = UINT64_C(1024) << 10 * (unit - units);
	}
	if (__builtin_mul_overflow(v, piece, &v))
		return -EINVAL;
	*ret = v;
	return 0;
}

int value_bool(bool *ret, const char *text)
{
	if (strcmp(text, "yes") && strcmp(text, "no"))
		return -EINVAL;
	*ret = text[0] == 'y';
	return 0;
}
