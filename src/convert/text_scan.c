/* SPDX-License-Identifier: MIT */
/* text_scan: see text_scan.h. */
#include "convert/text_scan.h"

#include "wire/sched_event.h"

bool scan_u64(struct text_scan *s, uint64_t *ret)
{
	uint64_t v = 0;

	if (!scan_is_digit(s))
		return false;
	for (; scan_is_digit(s); s->at++) {
		uint32_t digit = (uint32_t)(*s->at - '0');

		if (v > (UINT64_MAX - digit) / 10)
			return false;
		v = v * 10 + digit;
	}
	*ret = v;
	return true;
}

bool scan_u32(struct text_scan *s, uint32_t *ret)
{
	const char *start = s->at;
	uint32_t v = 0;
	uint64_t wide;

	/* Nine digits cannot overflow; nearly all numbers have fewer. */
	for (; scan_is_digit(s) && s->at - start < 9; s->at++)
		v = v * 10 + (uint32_t)(*s->at - '0');
	if (!scan_is_digit(s)) {
		*ret = v;
		return s->at != start;
	}
	s->at = start;
	if (!scan_u64(s, &wide) || wide > UINT32_MAX)
		return false;
	*ret = (uint32_t)wide;
	return true;
}

bool scan_i32(struct text_scan *s, int32_t *ret)
{
	bool negative = s->at < s->end && *s->at == '-';
	uint32_t v;

	s->at += negative;
	if (!scan_u32(s, &v) || v > (uint32_t)INT32_MAX + negative)
		return false;
	*ret = negative ? (int32_t)(0U - v) : (int32_t)v;
	return true;
}

bool scan_end(const struct text_scan *s)
{
	const char *at = s->at, *start, *equals;

	if (!s->loose)
		return at == s->end;
	while (at < s->end) {
		while (at < s->end && *at == ' ')
			at++;
		start = at;
		while (at < s->end && *at != ' ')
			at++;
		equals = memchr(start, '=', (size_t)(at - start));
		if (at != start && (!equals || equals == start))
			return false;
	}
	return true;
}

bool scan_comm(struct text_scan *s, const char *keyword, uint32_t nth, struct text_span *ret)
{
	size_t len = strlen(keyword), left = scan_left(s), i;
	size_t most = s->loose ? SCAN_LOOSE_COMM : SCHED_COMM_LEN;

	for (i = 0; i <= most && i + len <= left; i++) {
		if (s->at[i] != keyword[0] || memcmp(s->at + i, keyword, len) != 0 || nth--)
			continue;
		ret->text = s->at;
		ret->len = i;
		s->at += i + len;
		return true;
	}
	return false;
}
