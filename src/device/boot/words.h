/* SPDX-License-Identifier: MIT */
/*
 * words: the text files of /proc, word by word, without a copy and without a terminating NUL.
 *
 * A word that is not what it should be is not an error of its own: `bad` is set, everything after it
 * reads as 0, and the caller looks once at the end.
 */
#ifndef KISEKI_DEVICE_BOOT_WORDS_H
#define KISEKI_DEVICE_BOOT_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct words {
	const char *at, *end;
	bool bad;
};

static inline void words_init(struct words *w, const char *text, size_t len)
{
	w->at = text;
	w->end = text + len;
	w->bad = false;
}

static inline bool words_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline void words_pass_blanks(struct words *w)
{
	while (w->at < w->end && words_is_blank(*w->at))
		w->at++;
}

/* The next word of the line; false at the line's end. */
static inline bool words_next(struct words *w, const char **ret, size_t *ret_len)
{
	words_pass_blanks(w);
	*ret = w->at;
	while (w->at < w->end && *w->at != '\n' && !words_is_blank(*w->at))
		w->at++;
	*ret_len = (size_t)(w->at - *ret);
	return *ret_len > 0;
}

static inline bool words_is(const char *word, size_t len, const char *text)
{
	return strlen(text) == len && !memcmp(word, text, len);
}

/* The next word as a number. A minus is taken and means nothing: what the kernel prints with a sign (a
 * priority) is not of interest here. A number above 2^64 is bad. */
static inline uint64_t words_number(struct words *w)
{
	uint64_t v = 0;
	bool any = false;

	words_pass_blanks(w);
	if (w->at < w->end && *w->at == '-')
		w->at++;
	for (; w->at < w->end && *w->at >= '0' && *w->at <= '9'; w->at++) {
		uint64_t digit = (uint64_t)(*w->at - '0');

		any = true;
		if (v > (UINT64_MAX - digit) / 10)
			w->bad = true;
		v = v * 10 + digit;
	}
	if (!any || (w->at < w->end && !words_is_blank(*w->at) && *w->at != '\n'))
		w->bad = true;
	return w->bad ? 0 : v;
}

/* Behind the end of this line; false if there is no line left. */
static inline bool words_next_line(struct words *w)
{
	const char *stop = (const char *)memchr(w->at, '\n', (size_t)(w->end - w->at));

	w->at = stop ? stop + 1 : w->end;
	return w->at < w->end;
}

#endif
