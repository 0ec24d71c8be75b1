/* SPDX-License-Identifier: MIT */
/* kernel_message: see kernel_message.h. */
#include "device/boot/kernel_message.h"

#include <string.h>

#define LEVEL_BITS 3U

/* Digits at *at; false if there are none, or too many. */
static bool take_number(const char **at, const char *end, uint64_t *ret)
{
	const char *start = *at;
	uint64_t v = 0;

	while (*at < end && **at >= '0' && **at <= '9' && *at - start < 19)
		v = v * 10 + (uint64_t)(*(*at)++ - '0');
	*ret = v;
	return *at > start;
}

static bool take_char(const char **at, const char *end, char c)
{
	if (*at >= end || **at != c)
		return false;
	(*at)++;
	return true;
}

static void set_priority(struct kernel_message *m, uint64_t priority)
{
	m->level = (uint8_t)(priority & ((1U << LEVEL_BITS) - 1));
	m->facility = (uint32_t)(priority >> LEVEL_BITS);
}

bool kernel_message_parse(struct kernel_message *ret, const char *record, size_t len)
{
	const char *at = record, *end = record + len, *text, *stop;
	struct kernel_message m;
	uint64_t priority, number, us;

	if (!take_number(&at, end, &priority) || !take_char(&at, end, ',') ||
	    !take_number(&at, end, &number) || !take_char(&at, end, ',') ||
	    !take_number(&at, end, &us))
		return false;
	text = memchr(at, ';', (size_t)(end - at));
	if (!text)
		return false;
	text++;
	stop = memchr(text, '\n', (size_t)(end - text));
	set_priority(&m, priority);
	m.ns = us * 1000;
	m.text = text;
	m.len = (size_t)((stop ? stop : end) - text);
	*ret = m;
	return true;
}

/* "<6>[    5.140900] text" */
static bool parse_line(struct kernel_message *ret, const char *at, const char *end)
{
	struct kernel_message m = { 0 };
	uint64_t priority, s, us;
	const char *start;

	if (!take_char(&at, end, '<') || !take_number(&at, end, &priority) ||
	    !take_char(&at, end, '>') || !take_char(&at, end, '['))
		return false;
	while (take_char(&at, end, ' '))
		;
	start = at;
	if (!take_number(&at, end, &s) || !take_char(&at, end, '.'))
		return false;
	start = at;
	if (!take_number(&at, end, &us) || at - start != 6 || !take_char(&at, end, ']'))
		return false;
	take_char(&at, end, ' ');
	set_priority(&m, priority);
	m.ns = (s * 1000000 + us) * 1000;
	m.text = at;
	m.len = (size_t)(end - at);
	*ret = m;
	return true;
}

bool kernel_message_next(struct kernel_message *ret, const char *log, size_t len, size_t *at)
{
	bool any = false;

	while (!any && *at < len) {
		const char *line = log + *at;
		const char *stop = memchr(line, '\n', len - *at);
		size_t n = stop ? (size_t)(stop - line) : len - *at;

		any = parse_line(ret, line, line + n);
		*at += n + 1;
	}
	return any;
}

bool kernel_message_is_phase(const struct kernel_message *m, const char **ret, size_t *ret_len)
{
	static const char *const programs[] = { "systemd[1]: ", "init: " };
	static const char *const words[] = { "Starting ",  "Started ",	   "Finished ",
					     "Reached ",   "Mounted ",	   "Failed to start ",
					     "Switching ", "starting pid " };
	size_t i, j, n, w;

	if (!m->facility)
		return false;
	for (i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
		n = strlen(programs[i]);
		for (j = 0; j < sizeof(words) / sizeof(*words); j++) {
			w = strlen(words[j]);
			if (m->len < n + w || memcmp(m->text, programs[i], n) ||
			    memcmp(m->text + n, words[j], w))
				continue;
			*ret = m->text + n;
			*ret_len = m->len - n;
			return true;
		}
	}
	return false;
}
