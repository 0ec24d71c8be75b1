/* SPDX-License-Identifier: MIT */
/* told_objects: see told_objects.h. */
#include "device/profile/told_objects.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/profile/object_id.h"

#define PATH_ROOM 4160U
#define BURST_MS 1000U /* what may be sent at once is that of so much time */

struct told_object {
	struct message_build_id id;
	int32_t pid; /* in whom it was seen first: paths are those of its root */
	char *path;
};

struct told_objects {
	uint64_t rate;
	uint64_t free_ms; /* when the time that was sent ahead is over */
	uint64_t asked_ms;
	bool was_asked, is_waiting;
	struct message_want want;
	int fd; /* of the file that was asked for last; -1: none */
	struct message_build_id open;
	uint64_t size;
	size_t paths; /* bytes */
	uint32_t n;
	struct told_object object[TOLD_OBJECTS_MAX];
};

struct told_objects *told_objects_new(uint64_t rate)
{
	struct told_objects *o = calloc(1, sizeof(*o));

	if (o) {
		o->rate = rate;
		o->fd = -1;
	}
	return o;
}

static void close_file(struct told_objects *o)
{
	cleanup_closep(&o->fd);
	o->fd = -1;
}

void told_objects_free(struct told_objects *o)
{
	uint32_t i;

	if (!o)
		return;
	close_file(o);
	for (i = 0; i < o->n; i++)
		free(o->object[i].path);
	free(o);
}

static bool is_same(const struct message_build_id *a, const struct message_build_id *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

static const struct told_object *find(const struct told_objects *o,
				      const struct message_build_id *id)
{
	uint32_t i;

	for (i = 0; i < o->n; i++)
		if (is_same(&o->object[i].id, id))
			return &o->object[i];
	return NULL;
}

bool told_objects_has(const struct told_objects *o, const struct sample_mapping *m)
{
	struct message_build_id id = { .len = m->build_id_len };

	memcpy(id.bytes, m->build_id, m->build_id_len);
	return find(o, &id) != NULL;
}

void told_objects_push(struct told_objects *o, const struct sample_mapping *m)
{
	struct told_object new = { .id = { .len = m->build_id_len }, .pid = m->pid };

	_Static_assert(SAMPLE_BUILD_ID_MAX <= MESSAGE_BUILD_ID_MAX, "an id has room");
	if (!m->build_id_len || !m->path_len || m->path[0] != '/' || o->n == TOLD_OBJECTS_MAX ||
	    m->path_len >= TOLD_OBJECTS_PATHS_MAX - o->paths)
		return;
	memcpy(new.id.bytes, m->build_id, m->build_id_len);
	if (find(o, &new.id))
		return;
	new.path = strndup(m->path, m->path_len);
	if (!new.path)
		return;
	o->paths += m->path_len;
	o->object[o->n++] = new;
}

/* --- the file --- */

static int open_path(const char *path)
{
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Whatever lies there now must be what was told of. */
static bool is_right(int fd, const struct message_build_id *id, uint64_t *ret_size)
{
	uint8_t found[SAMPLE_BUILD_ID_MAX];
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > MESSAGE_OBJECT_MAX)
		return false;
	*ret_size = (uint64_t)st.st_size;
	return object_id_read(fd, found) == id->len && memcmp(found, id->bytes, id->len) == 0;
}

/* As the process saw it, if it is still there, or else as we do. */
static void open_file(struct told_objects *o)
{
	const struct told_object *told = find(o, &o->want.id);
	char path[PATH_ROOM];
	int n, i;

	if (o->fd >= 0 && is_same(&o->open, &o->want.id))
		return;
	close_file(o);
	if (!told)
		return;
	n = snprintf(path, sizeof(path), "/proc/%d/root%s", told->pid, told->path);
	for (i = 0; i < 2 && o->fd < 0; i++) {
		if (i == 0 && (n < 0 || n >= (int)sizeof(path)))
			continue;
		o->fd = open_path(i == 0 ? path : told->path);
		if (o->fd >= 0 && !is_right(o->fd, &told->id, &o->size))
			close_file(o);
	}
	o->open = told->id;
}

/* --- questions and answers --- */

void told_objects_want(struct told_objects *o, const struct message_want *m, uint64_t now_ms)
{
	o->want = *m;
	o->is_waiting = o->was_asked = true;
	o->asked_ms = now_ms;
}

/* -1: it is not to be had. */
static ssize_t read_piece(struct told_objects *o, uint8_t *bytes)
{
	open_file(o);
	if (o->fd < 0 || o->want.offset >= o->size)
		return -1;
	return pread(o->fd, bytes,
		     o->size - o->want.offset < MESSAGE_PIECE_MAX
			     ? (size_t)(o->size - o->want.offset)
			     : MESSAGE_PIECE_MAX,
		     (off_t)o->want.offset);
}

uint32_t told_objects_put(struct told_objects *o, uint8_t *body, uint64_t now_ms)
{
	uint8_t bytes[MESSAGE_PIECE_MAX];
	struct message_piece m = { .id = o->want.id, .offset = o->want.offset, .bytes = bytes };
	struct byte_writer w;
	ssize_t n;

	if (!o->is_waiting || now_ms + BURST_MS < o->free_ms)
		return 0;
	n = read_piece(o, bytes);
	o->is_waiting = false;
	if (n > 0) {
		m.size = o->size;
		m.len = (uint32_t)n;
		o->free_ms = (o->free_ms > now_ms ? o->free_ms : now_ms) +
			     ((uint64_t)n * 1000 + o->rate - 1) / o->rate;
	} else {
		m.offset = 0;
		close_file(o);
	}
	writer_init(&w, body, MESSAGE_PIECE_ROOM);
	piece_encode(&w, &m);
	return w.full ? 0 : (uint32_t)writer_len(&w);
}

uint64_t told_objects_next(const struct told_objects *o)
{
	if (!o->is_waiting)
		return UINT64_MAX;
	return o->free_ms > BURST_MS ? o->free_ms - BURST_MS : 0;
}

bool told_objects_is_busy(const struct told_objects *o, uint64_t now_ms)
{
	return o->was_asked && (o->is_waiting || now_ms - o->asked_ms < TOLD_OBJECTS_QUIET_MS);
}
