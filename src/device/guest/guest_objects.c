/* SPDX-License-Identifier: MIT */
/* guest_objects: see guest_objects.h. */
#include "device/guest/guest_objects.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "device/profile/process_maps.h"

#define PIECES 16U /* in a turn */

void guest_objects_init(struct guest_objects *o, struct guest_channel *c, struct object_ids *ids)
{
	memset(o, 0, sizeof(*o));
	o->channel = c;
	o->ids = ids;
	o->fd = -1;
}

void guest_objects_done(struct guest_objects *o)
{
	cleanup_closep(&o->fd);
	o->fd = -1;
}

static void send_piece(struct guest_objects *o, const struct guest_object *piece)
{
	uint8_t frame[GUEST_FRAME_MAX];

	guest_channel_send(o->channel, frame, (size_t)(guest_put_object(frame, piece) - frame));
}

static void refuse(struct guest_objects *o, const struct guest_id *id)
{
	struct guest_object none = { .id = *id };

	send_piece(o, &none);
}

void guest_objects_push(struct guest_objects *o, const struct guest_id *id)
{
	if (o->n == GUEST_OBJECTS_WAITING)
		refuse(o, id);
	else
		o->waiting[o->n++] = *id;
}

/* --- looking for it --- */

/* The file of a mapping, if it is the one. */
static int open_mapping(struct guest_objects *o, const char *line, int32_t pid)
{
	struct sample_mapping m;
	uint64_t device, inode;
	char path[PROCESS_MAPS_LINE + 32];

	if (!process_maps_parse(line, &m, &device, &inode) || m.path[0] != '/')
		return -1;
	m.pid = pid;
	object_ids_get(o->ids, &m, device, inode);
	if (m.build_id_len != o->id.len || memcmp(m.build_id, o->id.bytes, o->id.len) != 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/root%.*s", pid, (int)m.path_len, m.path);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static int open_of_process(struct guest_objects *o, int32_t pid)
{
	char path[32], line[PROCESS_MAPS_LINE];
	uint32_t lines = 0;
	int fd = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && fd < 0 && lines++ < PROCESS_MAPS_MAX && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		fd = open_mapping(o, line, pid);
	}
	if (f)
		fclose(f);
	return fd;
}

/* A file that is replaced between the two looks is not the one: its build-id is read again. */
static bool is_right(const struct guest_objects *o, int fd, uint64_t *ret_size)
{
	uint8_t id[SAMPLE_BUILD_ID_MAX];
	struct stat st;

	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0 ||
	    (uint64_t)st.st_size > GUEST_OBJECT_MAX ||
	    (uint64_t)st.st_size > GUEST_OBJECTS_MOST - o->sent)
		return false;
	*ret_size = (uint64_t)st.st_size;
	return object_id_read(fd, id) == o->id.len && !memcmp(id, o->id.bytes, o->id.len);
}

static void open_next(struct guest_objects *o)
{
	DIR *folder = opendir("/proc");
	const struct dirent *d;

	o->id = o->waiting[--o->n];
	o->offset = 0;
	while (folder && o->fd < 0 && (d = readdir(folder)))
		if (atoi(d->d_name) > 0)
			o->fd = open_of_process(o, (int32_t)atoi(d->d_name));
	if (folder)
		closedir(folder);
	if (o->fd >= 0 && is_right(o, o->fd, &o->size))
		return;
	guest_objects_done(o);
	refuse(o, &o->id);
}

/* --- sending it --- */

static void send_next(struct guest_objects *o)
{
	uint8_t bytes[GUEST_PIECE_MAX];
	struct guest_object piece = {
		.id = o->id, .size = o->size, .offset = o->offset, .bytes = bytes
	};
	uint64_t left = o->size - o->offset;
	ssize_t n = pread(o->fd, bytes, left < sizeof(bytes) ? (size_t)left : sizeof(bytes),
			  (off_t)o->offset);

	if (n <= 0) {
		guest_objects_done(o);
		refuse(o, &o->id);
		return;
	}
	piece.len = (uint32_t)n;
	send_piece(o, &piece);
	o->offset += (uint64_t)n;
	o->sent += (uint64_t)n;
	if (o->offset == o->size)
		guest_objects_done(o);
}

bool guest_objects_turn(struct guest_objects *o)
{
	uint32_t i;

	if (o->fd < 0 && o->n)
		open_next(o);
	for (i = 0; i < PIECES && o->fd >= 0 && !o->channel->failed; i++)
		send_next(o);
	return o->fd >= 0 || o->n;
}
