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

/* The level of a line that has a message (W, E, F), and the message; 0: it is another line. GLib's last
 * words have no such form. */
static char read_line(char *line, char **ret_message)
{
	static char no_memory[] = "its reader ran out of the memory that it may use";
	char *message = strchr(line, '@'), *level = line;
	int i;

	*ret_message = no_memory;
	if (strstr(line, "GLib") && strstr(line, "failed to allocate"))
		return 'F';
	message = message ? strchr(message, ' ') : NULL;
	for (i = 0; i < 4 && level; i++) {
		level = strchr(level, ' ');
		level = level ? level + 1 : NULL;
	}
	if (!message || !level || level > message || level[1] != ' ')
		return 0;
	*ret_message = skip_component(message + 1);
	return *level;
}

/* An error says what failed, the warning right in front of it why. A warning that no error follows is of
 * something that the library got over: what is wrong in the end is another matter. */
bool ctf_reason_from_log(int fd, char *ret, size_t size)
{
	char line[LINE_MAX_LEN], warning[LINE_MAX_LEN] = "", *message = NULL, level = 0;
	off_t at = 0;
	ssize_t n;

	if (size == 0)
		return false;
	while (level != 'E' && level != 'F' && (n = pread(fd, line, sizeof(line) - 1, at)) > 0) {
		line[n] = 0;
		line[strcspn(line, "\n")] = 0;
		at += (off_t)strlen(line) + 1;
		level = read_line(line, &message);
		if (level == 'W')
			memcpy(warning, message, strlen(message) + 1);
		else if (level != 'E')
			warning[0] = 0;
	}
	if (level != 'E' && level != 'F')
		return false;
	message = warning[0] ? warning : message;
	ctf_reason_tidy(message);
	n = (ssize_t)strnlen(message, size - 1);
	memcpy(ret, message, (size_t)n);
	ret[n] = 0;
	return n > 0;
}
