/* SPDX-License-Identifier: MIT */
/* vm_guest_objects: see vm_guest_objects.h. */
#include "device/vm/vm_guest_objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "device/profile/object_id.h"

#define PATH_ROOM 4096U
#define NAME_ROOM (2U * SAMPLE_BUILD_ID_MAX + 1U)
#define PAGE_BITS 12U

enum state {
	STATE_KNOWN = 0,
	STATE_WANTED,
	STATE_ASKED, /* one at most */
	STATE_OVER,  /* it is there, or is not to be had */
};

struct object {
	struct guest_id id;
	enum state state;
};

struct map {
	int32_t pid;
	uint32_t object;
	uint64_t from, to;
};

struct vm_guest_objects {
	const char *folder;
	int32_t vm;
	uint32_t n_objects, n_maps; /* maps: all that were told; the last ones are there */
	int asked;		    /* number of the object; -1: none */
	int fd;			    /* of its file; -1: none yet, or it cannot be written */
	uint64_t offset, bytes;
	uint64_t seen[VM_GUEST_OBJECTS_SEEN];
	struct object object[VM_GUEST_OBJECTS_IDS];
	struct map map[VM_GUEST_OBJECTS_MAPS];
};

int vm_guest_objects_new(struct vm_guest_objects **ret, const char *folder, int32_t vm)
{
	struct vm_guest_objects *o = calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->folder = folder;
	o->vm = vm;
	o->asked = o->fd = -1;
	*ret = o;
	return 0;
}

/* --- places --- */

static void name_of(const struct vm_guest_objects *o, const struct guest_id *id, const char *ending,
		    char ret[PATH_ROOM])
{
	char hex[NAME_ROOM];

	hex_format(id->bytes, id->len, hex);
	snprintf(ret, PATH_ROOM, "%s/%d/.build-id/%.2s/%s%s", o->folder, o->vm, hex, hex + 2,
		 ending);
}

static int make_file(struct vm_guest_objects *o, const struct guest_id *id)
{
	char path[PATH_ROOM], *at;

	name_of(o, id, ".part", path);
	for (at = path + strlen(o->folder) + 1; (at = strchr(at, '/')); *at++ = '/') {
		*at = 0;
		if (mkdir(path, 0755) < 0 && errno != EEXIST)
			return -errno;
	}
	return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
}

/* Whether it stays: it is the one that was asked for. */
static void close_file(struct vm_guest_objects *o, bool is_whole)
{
	uint8_t got[SAMPLE_BUILD_ID_MAX];
	char part[PATH_ROOM], path[PATH_ROOM];
	const struct guest_id *id;

	if (o->fd < 0)
		return;
	id = &o->object[o->asked].id;
	name_of(o, id, ".part", part);
	name_of(o, id, "", path);
	if (!is_whole || object_id_read(o->fd, got) != id->len ||
	    memcmp(got, id->bytes, id->len) != 0 || rename(part, path) < 0)
		unlink(part);
	close(o->fd);
	o->fd = -1;
}

void vm_guest_objects_free(struct vm_guest_objects *o)
{
	if (!o)
		return;
	close_file(o, false);
	free(o);
}

/* --- what is needed --- */

/* Its number; the last one's if there are too many. */
static int find_object(struct vm_guest_objects *o, const struct sample_mapping *m)
{
	char path[PATH_ROOM];
	struct object *new;
	uint32_t i;

	for (i = 0; i < o->n_objects; i++)
		if (o->object[i].id.len == m->build_id_len &&
		    !memcmp(o->object[i].id.bytes, m->build_id, m->build_id_len))
			return (int)i;
	if (o->n_objects == VM_GUEST_OBJECTS_IDS)
		return -1;
	new = &o->object[o->n_objects];
	new->id.len = m->build_id_len;
	memcpy(new->id.bytes, m->build_id, m->build_id_len);
	name_of(o, &new->id, "", path);
	new->state = access(path, F_OK) ? STATE_KNOWN : STATE_OVER;
	return (int)o->n_objects++;
}

void vm_guest_objects_map(struct vm_guest_objects *o, const struct sample_mapping *m)
{
	int object;

	if (m->build_id_len < 2 || m->build_id_len > SAMPLE_BUILD_ID_MAX)
		return;
	object = find_object(o, m);
	if (object < 0)
		return;
	o->map[o->n_maps++ % VM_GUEST_OBJECTS_MAPS] = (struct map){
		.pid = m->pid, .object = (uint32_t)object, .from = m->from, .to = m->to
	};
	/* A place that nothing was known of may be in this one. */
	memset(o->seen, 0, sizeof(o->seen));
}

/* Those that lie there in a process, or, who 0, in anybody. */
static bool want(struct vm_guest_objects *o, uint64_t pc, uint64_t who)
{
	uint32_t n = o->n_maps < VM_GUEST_OBJECTS_MAPS ? o->n_maps : VM_GUEST_OBJECTS_MAPS, i;
	bool found = false;

	for (i = 0; i < n; i++) {
		const struct map *m = &o->map[i];

		if (pc < m->from || pc >= m->to || (who && (uint64_t)m->pid != who))
			continue;
		found = true;
		if (o->object[m->object].state == STATE_KNOWN)
			o->object[m->object].state = STATE_WANTED;
	}
	return found;
}

/* Where the guest's kernel does not say who runs, a file that lies there in anybody may be the one. So it is of a thread, which has a
 * number of its own, and of a process that was forked: their mappings were told of another. */
void vm_guest_objects_see(struct vm_guest_objects *o, const struct sample_event *ev)
{
	uint64_t who = ev->guest & SAMPLE_GUEST_CONTEXT ? ev->guest_context : 0;
	uint64_t page = ev->guest_pc >> PAGE_BITS, key = (page << 24 ^ who) + 1;
	uint64_t *seen = &o->seen[(key * 0x9e3779b97f4a7c15ULL) >> 54];

	if (*seen == key)
		return;
	*seen = key;
	if (!want(o, ev->guest_pc, who) && who)
		want(o, ev->guest_pc, 0);
}

/* --- fetching --- */

bool vm_guest_objects_pop(struct vm_guest_objects *o, struct guest_id *ret)
{
	uint32_t i;

	if (o->asked >= 0 || o->bytes >= VM_GUEST_OBJECTS_BYTES)
		return false;
	for (i = 0; i < o->n_objects; i++) {
		if (o->object[i].state != STATE_WANTED)
			continue;
		o->object[i].state = STATE_ASKED;
		o->asked = (int)i;
		o->offset = 0;
		*ret = o->object[i].id;
		return true;
	}
	return false;
}

static void end(struct vm_guest_objects *o, bool is_whole)
{
	close_file(o, is_whole);
	o->object[o->asked].state = STATE_OVER;
	o->asked = -1;
}

bool vm_guest_objects_take(struct vm_guest_objects *o, const struct guest_object *piece)
{
	const struct guest_id *id = o->asked < 0 ? NULL : &o->object[o->asked].id;

	if (!id || piece->id.len != id->len || memcmp(piece->id.bytes, id->bytes, id->len) != 0 ||
	    piece->offset != o->offset)
		return false;
	if (!piece->size) {
		end(o, false);
		return true;
	}
	if (!o->offset)
		o->fd = make_file(o, id);
	if (o->fd >= 0 &&
	    pwrite(o->fd, piece->bytes, piece->len, (off_t)piece->offset) != (ssize_t)piece->len)
		close_file(o, false);
	o->offset += piece->len;
	o->bytes += piece->len;
	if (o->offset == piece->size)
		end(o, true);
	return true;
}

void vm_guest_objects_rewind(struct vm_guest_objects *o)
{
	if (o->asked < 0)
		return;
	close_file(o, false);
	o->object[o->asked].state = STATE_WANTED;
	o->asked = -1;
}

bool vm_guest_objects_is_busy(const struct vm_guest_objects *o)
{
	uint32_t i;

	for (i = 0; i < o->n_objects; i++)
		if (o->object[i].state == STATE_WANTED || o->object[i].state == STATE_ASKED)
			return o->bytes < VM_GUEST_OBJECTS_BYTES;
	return false;
}
