/* SPDX-License-Identifier: MIT */
/*
 * text_lines: see text_lines.h.
 *
 * One buffer serves both kinds of input: memory is a buffer that is full from the start. A pipe is
 * first read in peeking mode, where the buffer grows up to TEXT_PEEK_MAX and nothing leaves it, so
 * that the reader can look for the first event and then start over; from then on the buffer slides.
 *
 * Systrace pages come in two forms. The newer has the text as it is inside
 * <script class="trace-data">; such elements may also hold JSON of other tools, which is skipped.
 * The older has it as one JavaScript string, linuxPerfData = "\, whose lines end in \n\ and in which
 * quotes and backslashes are escaped.
 */
#include "convert/text_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUFFER_START (128U * 1024)

void text_lines_init_bytes(struct text_lines *l, const void *data, size_t len)
{
	memset(l, 0, sizeof(*l));
	l->data = data;
	l->end = len;
	l->fd = -1;
	l->eof = true;
}

void text_lines_init_fd(struct text_lines *l, int fd)
{
	memset(l, 0, sizeof(*l));
	l->fd = fd;
	l->peeking = true;
}

void text_lines_done(struct text_lines *l)
{
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	free(l->owned);
	l->owned = NULL;
}

int text_lines_rewind(struct text_lines *l)
{
	if (l->fd >= 0 && !l->peeking)
		return -ESPIPE;
	l->peeking = false;
	l->no_wait = false;
	l->drop_rest = false;
	l->pos = 0;
	l->line_no = 0;
	l->wrap = TEXT_WRAP_START;
	return 0;
}

uint64_t text_lines_offset(const struct text_lines *l)
{
	return l->dropped + l->pos;
}

/* Room for more at the end of the buffer: by sliding, or while peeking by growing. */
static int make_room(struct text_lines *l, struct error *e)
{
	size_t room = l->room ? l->room * 2 : BUFFER_START;
	char *grown;

	if (!l->peeking && l->pos) {
		memmove(l->owned, l->owned + l->pos, l->end - l->pos);
		l->dropped += l->pos;
		l->end -= l->pos;
		l->pos = 0;
	}
	if (l->end < l->room)
		return 0;
	if (l->room >= TEXT_PEEK_MAX)
		return error_set(e, EBADMSG, "ftrace text: no trace line in the first %u bytes",
				 TEXT_PEEK_MAX);
	grown = realloc(l->owned, room);
	if (!grown)
		return error_set(e, ENOMEM, "ftrace text: out of memory");
	l->owned = grown;
	l->data = grown;
	l->room = room;
	return 0;
}

static int fill(struct text_lines *l, struct error *e)
{
	ssize_t n;
	int r = make_room(l, e);

	if (r < 0)
		return r;
	do
		n = read(l->fd, l->owned + l->end, l->room - l->end);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return error_set(e, errno, "cannot read ftrace text: %s", strerror(errno));
	l->end += (size_t)n;
	l->eof = n == 0;
	return 0;
}

/* Is there a whole line, or as much of one as will ever be looked at? */
static bool line_is_ready(const struct text_lines *l, const char **ret_newline)
{
	size_t len = l->end - l->pos;

	*ret_newline = len ? memchr(l->data + l->pos, '\n', len) : NULL;
	if (*ret_newline || l->eof)
		return true;
	return !l->peeking && len >= TEXT_LINE_MAX;
}

/* The next line as it stands in the input. */
static int raw_next(struct text_lines *l, struct text_line *ret, struct error *e)
{
	const char *newline;
	bool continued;
	int r;

	do {
		while (!line_is_ready(l, &newline)) {
			if (l->no_wait)
				return 0;
			r = fill(l, e);
			if (r < 0)
				return r;
		}
		if (l->pos == l->end)
			return 0;
		ret->text = l->data + l->pos;
		ret->len = newline ? (size_t)(newline - ret->text) : l->end - l->pos;
		ret->torn = !newline;
		l->pos += ret->len + (newline ? 1 : 0);
		continued = l->drop_rest;
		l->drop_rest = !newline && !l->eof;
	} while (continued);
	l->line_no++;
	if (ret->len && ret->text[ret->len - 1] == '\r')
		ret->len--;
	return 1;
}

static bool is_blank(const struct text_line *line)
{
	size_t i;

	for (i = 0; i < line->len; i++)
		if (line->text[i] != ' ' && line->text[i] != '\t')
			return false;
	return true;
}

static bool starts_with(const struct text_line *line, char c)
{
	size_t i;

	for (i = 0; i < line->len && (line->text[i] == ' ' || line->text[i] == '\t'); i++)
		;
	return i < line->len && line->text[i] == c;
}

/* A page begins with a tag; so, at first sight, does a line of the tasks "<idle>" and "<...>". */
static bool is_page(const struct text_line *line)
{
	size_t i;

	if (!starts_with(line, '<'))
		return false;
	for (i = 0; line->text[i] != '<'; i++)
		;
	return line->len - i < 7 || (memcmp(line->text + i, "<idle>-", 7) != 0 &&
				     memcmp(line->text + i, "<...>-", 6) != 0);
}

/* Cuts the line to what follows `at`, of which `len` bytes are the mark itself. */
static void cut_front(struct text_line *line, const char *at, size_t len)
{
	size_t skip = (size_t)(at - line->text) + len;

	line->text += skip;
	line->len -= skip;
}

/* Looks for the beginning of trace text in a line of HTML and leaves what follows it. */
static void enter_wrap(struct text_lines *l, struct text_line *line)
{
	static const char string_mark[] = "linuxPerfData = \"",
			  class_mark[] = "class=\"trace-data\"";
	const char *at = memmem(line->text, line->len, string_mark, sizeof(string_mark) - 1);

	if (at) {
		l->wrap = TEXT_WRAP_STRING;
		cut_front(line, at, sizeof(string_mark) - 1);
		if (line->len && line->text[line->len - 1] == '\\')
			line->len--;
		return;
	}
	at = memmem(line->text, line->len, class_mark, sizeof(class_mark) - 1);
	if (!at)
		return;
	cut_front(line, at, sizeof(class_mark) - 1);
	at = memchr(line->text, '>', line->len);
	if (!at)
		return;
	cut_front(line, at, 1);
	l->wrap = TEXT_WRAP_SCRIPT;
}

static void leave_script(struct text_lines *l, struct text_line *line)
{
	const char *at;

	if (line->len < 9)
		return;
	at = memmem(line->text, line->len, "</script>", 9);
	if (at) {
		line->len = (size_t)(at - line->text);
		l->wrap = TEXT_WRAP_OUTSIDE;
	} else if (starts_with(line, '{') || starts_with(line, '[')) {
		line->len = 0;
		l->wrap = TEXT_WRAP_OUTSIDE;
	}
}

enum string_end {
	STRING_GOES_ON,	  /* in this line */
	STRING_LINE_ENDS, /* at a \n: the traced line is whole */
	STRING_LINE_TORN, /* at a lone \: the traced line goes on in the next line of the file */
	STRING_ENDS,
};

/* Takes one character, without its escape, from one line of a JavaScript string. */
static enum string_end next_in_string(const struct text_line *line, size_t *at, char *ret)
{
	char c = line->text[(*at)++];

	if (c == '"')
		return STRING_ENDS;
	if (c == '\\') {
		if (*at == line->len)
			return STRING_LINE_TORN;
		c = line->text[(*at)++];
		if (c == 'n')
			return STRING_LINE_ENDS;
		c = c == 't' ? '\t' : c;
	}
	*ret = c;
	return STRING_GOES_ON;
}

/* Takes the escapes off one line of a JavaScript string and notices the string's end. */
static void unescape(struct text_lines *l, struct text_line *line)
{
	enum string_end end = STRING_GOES_ON;
	size_t in = 0, out = 0;
	char c;

	while (in < line->len && out < sizeof(l->scratch)) {
		end = next_in_string(line, &in, &c);
		if (end != STRING_GOES_ON)
			break;
		l->scratch[out++] = c;
	}
	line->torn = end != STRING_LINE_ENDS;
	/* The string's closing quote may stand right after the line's end. */
	if (end == STRING_ENDS ||
	    (end == STRING_LINE_ENDS && in < line->len && line->text[in] == '"'))
		l->wrap = TEXT_WRAP_OUTSIDE;
	line->text = l->scratch;
	line->len = out;
}

static void unwrap(struct text_lines *l, struct text_line *line)
{
	enum text_wrap before;

	if (l->wrap == TEXT_WRAP_START && !is_blank(line)) {
		l->is_html = is_page(line);
		l->wrap = l->is_html ? TEXT_WRAP_OUTSIDE : TEXT_WRAP_NONE;
	}
	before = l->wrap;
	if (l->wrap == TEXT_WRAP_OUTSIDE)
		enter_wrap(l, line);
	if (l->wrap == TEXT_WRAP_SCRIPT)
		leave_script(l, line);
	else if (l->wrap == TEXT_WRAP_STRING)
		unescape(l, line);
	if (before == TEXT_WRAP_OUTSIDE && l->wrap == TEXT_WRAP_OUTSIDE)
		line->len = 0;
}

int text_lines_next(struct text_lines *l, struct text_line *ret, struct error *e)
{
	int r = raw_next(l, ret, e);

	if (r > 0 && l->wrap != TEXT_WRAP_NONE)
		unwrap(l, ret);
	return r;
}
