/* SPDX-License-Identifier: MIT */
/* elf_identity: see elf_identity.h. */
#include "symbol/elf_identity.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"

#define NOTES_MAX 65536U /* bytes of one section of notes */
#define LINK_MAX 4096U
#define CRC_STEP (256U << 10)

static size_t align_up(size_t n, size_t to)
{
	return (n + to - 1) & ~(to - 1);
}

/* Notes are a size of name, a size of content, a type, and both, each filled up to 4 or 8 bytes. */
static void find_build_id(const struct elf_file *f, const uint8_t *p, size_t len, size_t to,
			  struct elf_build_id *ret)
{
	size_t name, content, at = 0;
	uint32_t type;

	while (ret->len == 0 && len - at >= 12) {
		name = elf_get_u32(f, p + at);
		content = elf_get_u32(f, p + at + 4);
		type = elf_get_u32(f, p + at + 8);
		at += 12;
		if (name > len - at || content > len - at ||
		    align_up(name, to) + content > len - at)
			return;
		if (type == NT_GNU_BUILD_ID && name == 4 && memcmp(p + at, "GNU", 4) == 0 &&
		    content > 0 && content <= ELF_BUILD_ID_MAX) {
			memcpy(ret->bytes, p + at + align_up(name, to), content);
			ret->len = content;
		}
		at += align_up(name, to) + content;
		at = align_up(at, to) < len ? align_up(at, to) : len;
	}
}

static void read_notes(const struct elf_file *f, uint64_t offset, uint64_t size, uint64_t align,
		       struct elf_build_id *ret)
{
	_cleanup_free_ uint8_t *notes = NULL;

	if (size > NOTES_MAX || elf_file_read(f, offset, size, &notes) < 0)
		return;
	find_build_id(f, notes, (size_t)size, align == 8 ? 8 : 4, ret);
}

void elf_identity_get_build_id(const struct elf_file *f, struct elf_build_id *ret)
{
	size_t i;

	memset(ret, 0, sizeof(*ret));
	/* Segments of a debug file may point to where its code was; its sections never do. */
	for (i = 1; i < f->n_sections && ret->len == 0; i++)
		if (f->sections[i].type == SHT_NOTE)
			read_notes(f, f->sections[i].offset, f->sections[i].size,
				   f->sections[i].align, ret);
	for (i = 0; i < f->n_segments && ret->len == 0 && f->n_sections < 2; i++)
		if (f->segments[i].type == PT_NOTE)
			read_notes(f, f->segments[i].offset, f->segments[i].file_size,
				   f->segments[i].align, ret);
}

void elf_identity_get_link(const struct elf_file *f, struct elf_debug_link *ret)
{
	const struct elf_section *s = elf_file_get_section(f, ".gnu_debuglink");
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t len, name;

	memset(ret, 0, sizeof(*ret));
	if (!s || s->size > LINK_MAX || elf_file_dup_section(f, s, &bytes, &len) < 0)
		return;
	name = strnlen((const char *)bytes, len);
	if (name == 0 || name >= sizeof(ret->name) || align_up(name + 1, 4) + 4 > len ||
	    memchr(bytes, '/', name))
		return;
	memcpy(ret->name, bytes, name);
	ret->crc = elf_get_u32(f, bytes + align_up(name + 1, 4));
}

int elf_identity_get_crc(const struct elf_file *f, uint32_t *ret)
{
	uint64_t at = 0, step;
	uLong crc = crc32(0, NULL, 0);
	int r;

	while (at < f->size) {
		_cleanup_free_ uint8_t *bytes = NULL;

		step = f->size - at < CRC_STEP ? f->size - at : CRC_STEP;
		r = elf_file_read(f, at, step, &bytes);
		if (r < 0)
			return r;
		crc = crc32(crc, bytes, (uInt)step);
		at += step;
	}
	*ret = (uint32_t)crc;
	return 0;
}
