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
 * priority) is not of interest here. A number above 2^64 is bad. Nothing here divides: a pass reads some thousand
 * digits, and a Cortex-A9 divides 64 bits in hundreds of instructions. */
static inline uint64_t words_number(struct words *w)
{
	const uint64_t most = UINT64_MAX / 10;
	const char *at, *short_end;
	uint32_t low = 0;
	uint64_t v;

	words_pass_blanks(w);
	if (w->at < w->end && *w->at == '-')
		w->at++;
	at = w->at;
	/* Nine digits fit into 32 bits. */
	short_end = w->end - at > 9 ? at + 9 : w->end;
	for (; at < short_end && *at >= '0' && *at <= '9'; at++)
		low = low * 10 + (uint32_t)(*at - '0');
	for (v = low; at < w->end && *at >= '0' && *at <= '9'; at++) {
		uint64_t digit = (uint64_t)(*at - '0');

		if (v > most || (v == most && digit > UINT64_MAX % 10))
			w->bad = true;
		v = v * 10 + digit;
	}
	if (at == w->at || (at < w->end && !words_is_blank(*at) && *at != '\n'))
		w->bad = true;
	w->at = at;
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
