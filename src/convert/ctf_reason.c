/* SPDX-License-Identifier: MIT */
/*
 * ctf_reason: see ctf_reason.h. A line of the log is
 *   month-day time process thread level module function@file:line [component] message
 */
#include "convert/ctf_reason.h"

#include <string.h>
#include <unistd.h>

#define LINE_MAX_LEN 600U

/* Where the word begins that `at` points into. */
static char *word_start(char *text, char *at)
{
	while (at > text && at[-1] != ' ')
		at--;
	return at;
}

void ctf_reason_tidy(char *text)
{
	char *at, *from, *to;
	size_t len;

	while ((at = strstr(text, "-addr="))) {
		from = word_start(text, at);
		to = at + strcspn(at, ", ");
		to += strspn(to, ", ");
		memmove(from, to, strlen(to) + 1);
	}
	for (len = strlen(text); len && strchr(" ,:", text[len - 1]); len--)
		text[len - 1] = 0;
}

static char *skip_component(char *message)
{
	char *end;

	if (*message != '[')
		return message;
	end = strstr(message, "] ");
	return end ? end + 2 : message;
}

bool ctf_reason_from_log(int fd, char *ret, size_t size)
{
	char line[LINE_MAX_LEN], *message;
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);

	if (n <= 0 || size == 0)
		return false;
	line[n] = 0;
	line[strcspn(line, "\n")] = 0;
	message = strchr(line, '@');
	message = message ? strchr(message, ' ') : NULL;
	if (!message)
		return false;
	message = skip_component(message + 1);
	ctf_reason_tidy(message);
	n = (ssize_t)strnlen(message, size - 1);
	memcpy(ret, message, (size_t)n);
	ret[n] = 0;
	return n > 0;
}
