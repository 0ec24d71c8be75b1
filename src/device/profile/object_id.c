/* SPDX-License-Identifier: MIT */
/* object_id: see object_id.h. */
#include "device/profile/object_id.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"

#define NOTES_MAX 4096U
#define HEADERS_MAX 64U
#define PATH_ROOM 4160U

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define OWN_ORDER ELFDATA2MSB
#else
#define OWN_ORDER ELFDATA2LSB
#endif

/* What both sizes of ELF say of a segment. */
struct segment {
	uint32_t type;
	uint64_t offset, len;
};

static bool read_at(int fd, void *to, size_t len, uint64_t at)
{
	return at <= INT64_MAX / 2 && pread(fd, to, len, (off_t)at) == (ssize_t)len;
}

static bool get_segment(int fd, bool is_64, uint64_t at, struct segment *ret)
{
	Elf64_Phdr large;
	Elf32_Phdr small;

	if (is_64) {
		if (!read_at(fd, &large, sizeof(large), at))
			return false;
		*ret = (struct segment){ large.p_type, large.p_offset, large.p_filesz };
		return true;
	}
	if (!read_at(fd, &small, sizeof(small), at))
		return false;
	*ret = (struct segment){ small.p_type, small.p_offset, small.p_filesz };
	return true;
}

static uint32_t align4(uint32_t v)
{
	return (v + 3) & ~3U;
}

/* The build-id among the notes of a segment. */
static uint8_t find_note(int fd, const struct segment *s, uint8_t ret[SAMPLE_BUILD_ID_MAX])
{
	uint8_t notes[NOTES_MAX];
	uint32_t len = s->len < NOTES_MAX ? (uint32_t)s->len : NOTES_MAX, at = 0, desc;
	Elf64_Nhdr n; /* the same in both sizes */

	if (!read_at(fd, notes, len, s->offset))
		return 0;
	while (len - at >= sizeof(n)) {
		memcpy(&n, notes + at, sizeof(n));
		if (n.n_namesz > NOTES_MAX || n.n_descsz > NOTES_MAX)
			return 0;
		desc = at + (uint32_t)sizeof(n) + align4(n.n_namesz);
		if (desc > len || n.n_descsz > len - desc)
			return 0;
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    n.n_descsz <= SAMPLE_BUILD_ID_MAX &&
		    !memcmp(notes + at + sizeof(n), "GNU", 4)) {
			memcpy(ret, notes + desc, n.n_descsz);
			return (uint8_t)n.n_descsz;
		}
		at = desc + align4(n.n_descsz);
		if (at > len)
			return 0;
	}
	return 0;
}

uint8_t object_id_read(int fd, uint8_t ret[SAMPLE_BUILD_ID_MAX])
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf64_Ehdr large;
		Elf32_Ehdr small;
	} h;
	uint64_t at, step;
	uint32_t n, i;
	struct segment s;
	uint8_t len = 0;
	bool is_64;

	memset(&h, 0, sizeof(h));
	if (pread(fd, &h, sizeof(h), 0) < (ssize_t)sizeof(h.small) ||
	    memcmp(h.ident, ELFMAG, SELFMAG) != 0 || h.ident[EI_DATA] != OWN_ORDER)
		return 0;
	is_64 = h.ident[EI_CLASS] == ELFCLASS64;
	at = is_64 ? h.large.e_phoff : h.small.e_phoff;
	n = is_64 ? h.large.e_phnum : h.small.e_phnum;
	step = is_64 ? h.large.e_phentsize : h.small.e_phentsize;
	if (at > INT64_MAX / 4 || step < (is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)))
		return 0;
	for (i = 0; !len && i < n && i < HEADERS_MAX; i++)
		if (get_segment(fd, is_64, at + i * step, &s) && s.type == PT_NOTE)
			len = find_note(fd, &s, ret);
	return len;
}

/* As the process sees it, or else as we do. */
static int open_object(const struct sample_mapping *m)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	char path[PATH_ROOM];
	int n = snprintf(path, sizeof(path), "/proc/%d/root%.*s", m->pid, (int)m->path_len,
			 m->path);
	int fd;

	if (n < 0 || n >= (int)sizeof(path))
		return -1;
	fd = open(path, flags);
	return fd >= 0 ? fd : open(path + n - m->path_len, flags);
}

/* The device of a mapping is not always what stat() says, the number of its file is. */
static void read_object(struct object_id *id, const struct sample_mapping *m)
{
	_cleanup_close_ int fd = open_object(m);
	struct stat st;

	id->len = 0;
	if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_ino == id->inode)
		id->len = object_id_read(fd, id->bytes);
}

void object_ids_get(struct object_ids *o, struct sample_mapping *m, uint64_t device, uint64_t inode)
{
	struct object_id *id = &o->known[(inode ^ inode >> 9 ^ device * 31) % OBJECT_IDS];

	if (!inode || !m->path_len || m->path[0] != '/')
		return;
	if (id->inode != inode || id->device != device) {
		id->device = device;
		id->inode = inode;
		read_object(id, m);
	}
	m->build_id_len = id->len;
	memcpy(m->build_id, id->bytes, id->len);
}
