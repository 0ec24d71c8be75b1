/* SPDX-License-Identifier: MIT */
/* objects_file: see objects_file.h. */
#include "collector/objects_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hex.h"
#include "symbol/elf_identity.h"
#include "symbol/object_reader.h"

/* The name with its ending; false: it is too long. */
static bool make_path(char out[PATH_MAX], const char *folder, const struct message_build_id *id,
		      const char *ending)
{
	char hex[2 * MESSAGE_BUILD_ID_MAX + 1];
	int n;

	hex_format(id->bytes, id->len, hex);
	n = snprintf(out, PATH_MAX, "%s/.build-id/%.2s/%s%s", folder, hex, hex + 2, ending);
	return n > 0 && n < PATH_MAX;
}

static int make_folders(char *path, size_t from)
{
	char *at = path + from;

	for (; (at = strchr(at, '/')); *at++ = '/') {
		*at = 0;
		if (mkdir(path, 0750) < 0 && errno != EEXIST)
			return -errno;
	}
	return 0;
}

int objects_file_open(struct objects_file *f, const char *folder, const struct message_build_id *id,
		      struct error *e)
{
	char path[PATH_MAX];
	struct stat st;
	int r;

	*f = (struct objects_file){ .fd = -1, .id = *id };
	/* The first byte of an id is a folder: one that is no longer has no name. */
	if (id->len < 2 || !make_path(path, folder, id, ".part"))
		return error_set(e, ENAMETOOLONG, "cannot keep an object: its name does not fit");
	r = make_folders(path, strlen(folder) + 1);
	if (r == 0)
		f->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (f->fd < 0 || fstat(f->fd, &st) < 0)
		return error_set(e, r < 0 ? -r : errno, "cannot write %s: %s", path,
				 strerror(r < 0 ? -r : errno));
	f->offset = (uint64_t)st.st_size;
	f->is_resumed = f->offset > 0;
	return 0;
}

void objects_file_close(struct objects_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

void objects_file_drop(struct objects_file *f, const char *folder)
{
	char path[PATH_MAX];

	if (f->fd >= 0 && make_path(path, folder, &f->id, ".part"))
		unlink(path);
	objects_file_close(f);
}

/* The same, by the process that reads such files. */
static bool is_right_elsewhere(const struct objects_file *f, const char *folder)
{
	const char *const folders[] = { folder, NULL };
	const struct search s = { NULL, folders };
	char part[PATH_MAX], path[PATH_MAX];
	const struct object_wanted w = { .path = path };
	struct object_answer a;
	int table;

	if (!make_path(part, folder, &f->id, ".part") || !realpath(part, path) ||
	    object_reader_ask(OBJECT_IDENTITY, &s, &w, &a, &table) < 0)
		return false;
	return a.code == 0 && a.is_found && a.id.len == f->id.len &&
	       memcmp(a.id.bytes, f->id.bytes, a.id.len) == 0;
}

/* Whether it is the object, by its own build-id. */
static bool is_right(const struct objects_file *f, const char *folder)
{
	struct elf_build_id id;
	struct elf_file elf;

	if (object_reader_is_there())
		return is_right_elsewhere(f, folder);
	if (elf_file_open(&elf, dup(f->fd), NULL) < 0)
		return false;
	elf_identity_get_build_id(&elf, &id);
	elf_file_close(&elf);
	return id.len == f->id.len && memcmp(id.bytes, f->id.bytes, id.len) == 0;
}

static int finish(struct objects_file *f, const char *folder, struct error *e)
{
	char part[PATH_MAX], path[PATH_MAX];

	if (!is_right(f, folder))
		return error_set(e, EPROTO,
				 "what came does not have the build-id that was asked for");
	make_path(part, folder, &f->id, ".part");
	make_path(path, folder, &f->id, "");
	if (fdatasync(f->fd) < 0 || rename(part, path) < 0)
		return error_set(e, errno, "cannot keep %s: %s", path, strerror(errno));
	objects_file_close(f);
	return 1;
}

int objects_file_put(struct objects_file *f, const char *folder, const struct message_piece *m,
		     struct error *e)
{
	ssize_t n;

	if (m->id.len != f->id.len || memcmp(m->id.bytes, f->id.bytes, m->id.len) != 0)
		return error_set(e, EPROTO, "a piece of an object that was not asked for");
	if (m->offset != f->offset || (f->size && m->size != f->size))
		return error_set(e, EPROTO, "a piece that was not asked for, or of another size");
	f->size = m->size;
	n = pwrite(f->fd, m->bytes, m->len, (off_t)m->offset);
	if (n != (ssize_t)m->len)
		return error_set(e, n < 0 ? errno : ENOSPC, "cannot write an object: %s",
				 strerror(n < 0 ? errno : ENOSPC));
	f->offset += m->len;
	return f->offset == f->size ? finish(f, folder, e) : 0;
}
