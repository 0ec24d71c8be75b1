/* SPDX-License-Identifier: MIT */
/* sse: see sse.h. */
#include "cli/sse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 4096U

void sse_init(struct sse *s,
	      int (*handle)(void *context, const char *name, const char *data, size_t len,
			    struct error *e),
	      void *context)
{
	memset(s, 0, sizeof(*s));
	s->handle = handle;
	s->context = context;
}

void sse_done(struct sse *s)
{
	free(s->line.bytes);
	free(s->data.bytes);
	memset(s, 0, sizeof(*s));
}

/* Always leaves room for a NUL, and writes it. */
static int append(struct sse_buffer *b, const char *bytes, size_t len, size_t most, struct error *e)
{
	size_t room = b->room ? b->room : ROOM_FIRST;
	char *grown;

	if (len > most - b->len)
		return error_set(e, E2BIG,
				 "cannot follow: the server sent more than %zu bytes "
				 "in one piece",
				 most);
	while (room < b->len + len + 1)
		room *= 2;
	if (room != b->room) {
		grown = realloc(b->bytes, room);
		if (!grown)
			return error_set(e, ENOMEM, "cannot follow: out of memory");
		b->bytes = grown;
		b->room = room;
	}
	if (len)
		memcpy(b->bytes + b->len, bytes, len);
	b->len += len;
	b->bytes[b->len] = 0;
	return 0;
}

static int dispatch(struct sse *s, struct error *e)
{
	int r = 0;

	if (s->has_data)
		r = s->handle(s->context, s->name[0] ? s->name : "message", s->data.bytes,
			      s->data.len, e);
	s->name[0] = 0;
	s->has_data = false;
	s->data.len = 0;
	return r;
}

static int take_data(struct sse *s, const char *value, size_t len, struct error *e)
{
	int r = s->has_data ? append(&s->data, "\n", 1, SSE_DATA_MAX, e) : 0;

	s->has_data = true;
	return r < 0 ? r : append(&s->data, value, len, SSE_DATA_MAX, e);
}

static void take_name(struct sse *s, const char *value, size_t len)
{
	if (len >= sizeof(s->name)) /* none of ours */
		len = sizeof(s->name) - 1;
	memcpy(s->name, value, len);
	s->name[len] = 0;
}

static bool is_field(const char *line, size_t len, const char *name)
{
	return len == strlen(name) && !memcmp(line, name, len);
}

static int take_line(struct sse *s, const char *line, size_t len, struct error *e)
{
	const char *colon, *value;
	size_t name_len;

	if (!s->started && len >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
		line += 3;
		len -= 3;
	}
	s->started = true;
	if (!len)
		return dispatch(s, e);
	colon = memchr(line, ':', len);
	name_len = colon ? (size_t)(colon - line) : len;
	value = colon ? colon + 1 : line + len;
	if (value < line + len && *value == ' ')
		value++;
	if (is_field(line, name_len, "data"))
		return take_data(s, value, (size_t)(line + len - value), e);
	if (is_field(line, name_len, "event"))
		take_name(s, value, (size_t)(line + len - value));
	return 0;
}

/* The line's end is at bytes[len]. What is whole in one piece is not copied. */
static int end_line(struct sse *s, const char *bytes, size_t len, struct error *e)
{
	int r;

	if (!s->line.len)
		return len > SSE_LINE_MAX ? append(&s->line, bytes, len, SSE_LINE_MAX, e)
					  : take_line(s, bytes, len, e);
	r = append(&s->line, bytes, len, SSE_LINE_MAX, e);
	if (r >= 0)
		r = take_line(s, s->line.bytes, s->line.len, e);
	s->line.len = 0;
	return r;
}

static size_t find_end(const char *bytes, size_t len)
{
	const char *lf = memchr(bytes, '\n', len);
	size_t n = lf ? (size_t)(lf - bytes) : len;
	const char *cr = memchr(bytes, '\r', n);

	return cr ? (size_t)(cr - bytes) : n;
}

int sse_push(struct sse *s, const char *bytes, size_t len, struct error *e)
{
	int r = 0;

	while (len && r == 0) {
		size_t n = find_end(bytes, len);

		if (s->after_cr && n == 0 && bytes[0] == '\n') {
			s->after_cr = false;
			bytes++;
			len--;
			continue;
		}
		s->after_cr = false;
		if (n == len)
			return append(&s->line, bytes, len, SSE_LINE_MAX, e);
		r = end_line(s, bytes, n, e);
		s->after_cr = bytes[n] == '\r';
		bytes += n + 1;
		len -= n + 1;
	}
	return r;
}
