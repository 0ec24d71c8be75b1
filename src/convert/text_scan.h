/* SPDX-License-Identifier: MIT */
/*
 * text_scan: a cursor over a piece of text, with the few steps the trace parsers need.
 *
 * Each step moves the cursor and answers true, or answers false; where the cursor is then does not
 * matter, because the parsers give the line up or start over from a saved place.
 */
#ifndef KISEKI_CONVERT_TEXT_SCAN_H
#define KISEKI_CONVERT_TEXT_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text_span {
	const char *text;
	size_t len;
};

struct text_scan {
	const char *at;
	const char *end;
	bool loose; /* names may be longer than a kernel's, and more fields may follow the last */
};

#define SCAN(s, literal) scan_word((s), (literal), sizeof(literal) - 1)

static inline size_t scan_left(const struct text_scan *s)
{
	return (size_t)(s->end - s->at);
}

static inline bool scan_word(struct text_scan *s, const char *word, size_t len)
{
	if (scan_left(s) < len || memcmp(s->at, word, len) != 0)
		return false;
	s->at += len;
	return true;
}

static inline bool scan_is_digit(const struct text_scan *s)
{
	return s->at < s->end && *s->at >= '0' && *s->at <= '9';
}

/* At least one space; how many, if ret is given. */
static inline bool scan_spaces(struct text_scan *s, uint32_t *ret)
{
	const char *start = s->at;

	while (s->at < s->end && *s->at == ' ')
		s->at++;
	if (ret)
		*ret = (uint32_t)(s->at - start);
	return s->at != start;
}

#define SCAN_LOOSE_COMM 64U

bool scan_u64(struct text_scan *s, uint64_t *ret); /* digits, no sign, no overflow */
bool scan_u32(struct text_scan *s, uint32_t *ret);
bool scan_i32(struct text_scan *s, int32_t *ret);

/* Nothing is left; or only fields that nobody asked for, where that may be. */
bool scan_end(const struct text_scan *s);

/* A task's name of at most 16 bytes (SCAN_LOOSE_COMM if loose) that reaches to a `keyword`: the *nth candidate, from 0. A name
 * may hold the keyword itself, so callers try the next candidate when what follows does not fit. */
bool scan_comm(struct text_scan *s, const char *keyword, uint32_t nth, struct text_span *ret);

#endif
