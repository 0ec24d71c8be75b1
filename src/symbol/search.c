/* SPDX-License-Identifier: MIT */
/*
 * search: see search.h.
 *
 * Paths below the sysroot are resolved by the kernel with the sysroot as the root, so that an absolute
 * link in it stays in it, and ".." in what a device sent leads nowhere else. Kernels before 5.6 cannot:
 * there a path with ".." is refused, and links are followed as they are; the build-id decides.
 */
#include "symbol/search.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/hex.h"

#define DEBUG_FOLDER "/usr/lib/debug"
#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* One search on its way. */
struct hunt {
	const struct search *s;
	const struct search_query *q;
	struct search_hit *ret;
	struct error *e;
	bool by_link; /* what is tried now was named by a debug link */
};

void search_hit_done(struct search_hit *h)
{
	elf_file_close(&h->file);
	free(h->path);
	h->path = NULL;
}

bool search_is_debug(const struct elf_file *f)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	size_t i;

	for (i = 1; i < f->n_sections; i++)
		if ((f->sections[i].flags & code) == code && f->sections[i].size)
			return f->sections[i].type == SHT_NOBITS;
	return false;
}

static bool has_dots(const char *path)
{
	const char *p;

	for (p = strstr(path, ".."); p; p = strstr(p + 1, ".."))
		if ((p == path || p[-1] == '/') && (p[2] == '/' || !p[2]))
			return true;
	return false;
}

/* `root` NULL: the path as it is. */
static int open_below(const char *root, const char *path)
{
	struct open_how how = { .flags = OPEN_FLAGS, .resolve = RESOLVE_IN_ROOT };
	_cleanup_free_ char *joined = NULL;
	_cleanup_close_ int folder = -1;
	int fd = -1;

	if (!root)
		return open(path, OPEN_FLAGS);
	folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return fd;
	if (has_dots(path) || asprintf(&joined, "%s/%s", root, path) < 0)
		return -1;
	return open(joined, OPEN_FLAGS);
}

static bool same_id(const struct elf_build_id *id, const uint8_t *bytes, size_t len)
{
	/* The kernel tells at most 20 bytes of an id. */
	return (id->len == len || (len == 20 && id->len > len)) &&
	       memcmp(id->bytes, bytes, len) == 0;
}

static int refuse(struct hunt *h, const char *path, const char *reason)
{
	if (h->e && !h->e->text[0])
		error_set(h->e, ENOENT, "%s %s", path, reason);
	return 0;
}

static int refuse_id(struct hunt *h, const char *path, const struct elf_build_id *id)
{
	char has[2 * ELF_BUILD_ID_MAX + 1], wanted[2 * ELF_BUILD_ID_MAX + 1], text[400];

	if (id->len == 0)
		return refuse(h, path, "has no build-id to compare with the device's");
	snprintf(text, sizeof(text), "has build-id %s, the device's is %s",
		 hex_format(id->bytes, id->len, has),
		 hex_format(h->q->build_id, h->q->build_id_len, wanted));
	return refuse(h, path, text);
}

/* Not known to the device: it must at least belong to the object that was found. */
static int check_belongs(struct hunt *h, const char *path, const struct search_hit *hit)
{
	const struct search_hit *code = h->q->code;
	uint32_t crc;

	if (!code)
		return search_is_debug(&hit->file)
			       ? refuse(h, path, "is a debug file, and no build-id says whose")
			       : 1;
	if (code->id.len)
		return same_id(&hit->id, code->id.bytes, code->id.len)
			       ? 1
			       : refuse(h, path, "has another build-id than the object");
	if (!h->by_link)
		return refuse(h, path, "has no build-id to compare with the object's");
	if (elf_identity_get_crc(&hit->file, &crc) < 0 || crc != code->link.crc)
		return refuse(h, path,
			      "is not the file that the object's debug link means (its "
			      "CRC differs)");
	return 1;
}

static bool has_kind(const struct elf_file *f, enum search_kind kind)
{
	const struct elf_section *s;

	if (f->type != ET_EXEC && f->type != ET_DYN)
		return false;
	if (kind == SEARCH_CODE)
		return !search_is_debug(f);
	s = kind == SEARCH_LINES ? elf_file_get_section(f, ".debug_line")
				 : elf_file_get_typed(f, SHT_SYMTAB);
	return s && s->type != SHT_NOBITS && s->size;
}

static int check_hit(struct hunt *h, const char *path, struct search_hit *hit)
{
	if (!has_kind(&hit->file, h->q->kind))
		return 0;
	elf_identity_get_build_id(&hit->file, &hit->id);
	elf_identity_get_link(&hit->file, &hit->link);
	if (h->q->build_id_len == 0)
		return check_belongs(h, path, hit);
	if (same_id(&hit->id, h->q->build_id, h->q->build_id_len))
		return 1;
	return refuse_id(h, path, &hit->id);
}

/* 1: it is the one; 0: it is not, or not there. Takes the path, which may be NULL for no memory. */
static int try_path(struct hunt *h, const char *root, char *taken)
{
	_cleanup_free_ char *path = taken;
	struct search_hit hit = { .file = { .fd = -1 } };
	struct error why = ERROR_INIT;
	int fd, r;

	if (!path)
		return -ENOMEM;
	fd = open_below(root, path);
	if (fd < 0)
		return 0;
	if (elf_file_open(&hit.file, fd, &why) < 0)
		return refuse(h, path, why.text);
	r = check_hit(h, path, &hit);
	if (r == 1 && asprintf(&hit.path, "%s%s", root ? root : "", path) < 0) {
		hit.path = NULL;
		r = -ENOMEM;
	}
	if (r == 1)
		*h->ret = hit;
	else
		elf_file_close(&hit.file);
	return r;
}

/* A path of pieces, NULL if there is no memory. */
__attribute__((format(printf, 1, 2))) static char *join(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int try_paths(struct hunt *h)
{
	const char *const *folder = h->s->folders;
	const char *path = h->q->path, *name = base_name(path);
	int r = try_path(h, h->s->sysroot, join("%s", path));

	for (; r == 0 && folder && *folder && *name; folder++) {
		r = has_dots(path) ? 0 : try_path(h, NULL, join("%s%s", *folder, path));
		if (r == 0)
			r = try_path(h, NULL, join("%s/%s", *folder, name));
		if (r == 0)
			r = try_path(h, NULL, join("%s/%s.debug", *folder, name));
	}
	return r;
}

/* Trees of build-ids: the id's first byte is the folder. With ".debug" it is what was stripped off,
 * without it a link to the object. */
static int try_ids(struct hunt *h, const char *hex)
{
	const char *const *folder = h->s->folders;
	static const char *const ends[] = { ".debug", "" };
	size_t i;
	int r = 0;

	for (i = 0; i < 2 && r == 0; i++) {
		for (folder = h->s->folders; r == 0 && folder && *folder; folder++) {
			r = try_path(h, NULL,
				     join("%s/.build-id/%.2s/%s%s", *folder, hex, hex + 2,
					  ends[i]));
			if (r == 0)
				r = try_path(h, NULL,
					     join("%s/%.2s/%s%s", *folder, hex, hex + 2, ends[i]));
		}
		if (r == 0 && h->s->sysroot)
			r = try_path(h, h->s->sysroot,
				     join(DEBUG_FOLDER "/.build-id/%.2s/%s%s", hex, hex + 2,
					  ends[i]));
		if (r == 0)
			r = try_path(h, NULL,
				     join(DEBUG_FOLDER "/.build-id/%.2s/%s%s", hex, hex + 2,
					  ends[i]));
	}
	return r;
}

static int try_link(struct hunt *h)
{
	const struct search_hit *code = h->q->code;
	const char *const *folder = h->s->folders, *path = h->q->path, *name = code->link.name;
	int beside = (int)(base_name(code->path) - code->path), r;
	int below = (int)(base_name(path) - path);

	h->by_link = true;
	r = try_path(h, NULL, join("%.*s%s", beside, code->path, name));
	if (r == 0)
		r = try_path(h, NULL, join("%.*s.debug/%s", beside, code->path, name));
	if (r == 0)
		r = try_path(h, h->s->sysroot, join(DEBUG_FOLDER "%.*s%s", below, path, name));
	for (; r == 0 && folder && *folder; folder++) {
		r = try_path(h, NULL, join("%s/%s", *folder, name));
		if (r == 0)
			r = try_path(h, NULL, join("%s/.debug/%s", *folder, name));
	}
	h->by_link = false;
	return r;
}

int search_find(const struct search *s, const struct search_query *q, struct search_hit *ret,
		struct error *e)
{
	struct hunt h = { .s = s, .q = q, .ret = ret, .e = e };
	char hex[2 * ELF_BUILD_ID_MAX + 1] = "";
	int r;

	if (q->build_id_len > ELF_BUILD_ID_MAX)
		return 0;
	hex_format(q->build_id, q->build_id_len, hex);
	if (q->code && q->code->id.len)
		hex_format(q->code->id.bytes, q->code->id.len, hex);
	r = try_paths(&h);
	if (r == 0 && hex[0])
		r = try_ids(&h, hex);
	if (r == 0 && q->code && q->code->link.name[0])
		r = try_link(&h);
	return r;
}
