/* SPDX-License-Identifier: MIT */
/* memfile: see memfile.h. */
#include "base/memfile.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 4096U

struct memfile {
	char **text;
	size_t *len, room;
	bool is_broken; /* what comes behind a hole is no text */
};

static ssize_t append(void *cookie, const char *bytes, size_t n)
{
	struct memfile *m = cookie;
	size_t room = m->room;
	char *grown;

	if (m->is_broken || n >= SIZE_MAX / 4 - *m->len)
		goto broken;
	while (room <= *m->len + n)
		room *= 2;
	if (room != m->room) {
		grown = realloc(*m->text, room);
		if (!grown)
			goto broken;
		*m->text = grown;
		m->room = room;
	}
	memcpy(*m->text + *m->len, bytes, n);
	*m->len += n;
	(*m->text)[*m->len] = 0;
	return (ssize_t)n;
broken:
	m->is_broken = true;
	errno = ENOMEM;
	return 0;
}

/* Where it stands: all that ftell() needs. */
static int tell(void *cookie, off64_t *at, int whence)
{
	const struct memfile *m = cookie;

	if (whence == SEEK_SET || *at) {
		errno = ESPIPE;
		return -1;
	}
	*at = (off64_t)*m->len;
	return 0;
}

static int finish(void *cookie)
{
	struct memfile *m = cookie;
	bool is_broken = m->is_broken;

	free(m);
	errno = is_broken ? ENOMEM : errno;
	return is_broken ? -1 : 0;
}

FILE *memfile_open(char **ret, size_t *ret_len)
{
	const cookie_io_functions_t functions = { .write = append, .seek = tell, .close = finish };
	struct memfile *m = malloc(sizeof(*m));
	FILE *f;

	*ret = malloc(ROOM_FIRST);
	*ret_len = 0;
	f = m && *ret ? fopencookie(m, "w", functions) : NULL;
	if (!f) {
		free(*ret);
		free(m);
		*ret = NULL;
		errno = ENOMEM;
		return NULL;
	}
	**ret = 0;
	*m = (struct memfile){ .text = ret, .len = ret_len, .room = ROOM_FIRST };
	return f;
}
