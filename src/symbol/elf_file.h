/* SPDX-License-Identifier: MIT */
/*
 * elf_file: the parts of an ELF file, of either word size and byte order, read with bounds.
 *
 * Files come from sysroots and from folders that a user names, and are cut, rewritten while we
 * read, or made to hurt. So this reader is our own: nothing is mapped (a file that shrinks under a
 * mapping kills the process), every offset is checked against the file's size before it is used, every
 * count has a ceiling, and a table that does not fit is an error with its place. It reads what names
 * need: sections, segments, and the bytes of a section, unpacked where they are compressed.
 */
#ifndef KISEKI_SYMBOL_ELF_FILE_H
#define KISEKI_SYMBOL_ELF_FILE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define ELF_SECTIONS_MAX 65536U
#define ELF_SEGMENTS_MAX 4096U
#define ELF_READ_MAX (1U << 30) /* bytes of one section, unpacked */

struct elf_section {
	const char *name; /* "" if it has none */
	uint32_t type, link;
	uint64_t flags, address, offset, size, align, entry_size;
};

struct elf_segment {
	uint32_t type, flags;
	uint64_t offset, address, file_size, memory_size, align;
};

/* Addresses of code: an executable section, or where there are no sections a segment. */
struct elf_code {
	uint64_t from, to;
};

struct elf_file {
	int fd; /* -1: in memory */
	const uint8_t *memory;
	uint64_t size;
	bool wide; /* 64 bits */
	bool big;  /* most significant byte first */
	uint16_t type, machine;
	struct elf_section *sections;
	size_t n_sections;
	struct elf_segment *segments;
	size_t n_segments;
	char *section_names;
	size_t section_names_len;
	struct elf_code *code; /* sorted */
	size_t n_code;
};

/* Takes fd, also on failure. -ENOEXEC: no ELF file; -EBADMSG: damaged; -EIO; -ENOMEM. The text of e
 * is the reason alone, as in "is cut: …". */
int elf_file_open(struct elf_file *f, int fd, struct error *e);
/* The memory stays the caller's, and stays. */
int elf_file_open_memory(struct elf_file *f, const void *data, size_t size, struct error *e);
void elf_file_close(struct elf_file *f);

/* A copy of bytes of the file, with a NUL behind them. */
int elf_file_read(const struct elf_file *f, uint64_t offset, uint64_t len, uint8_t **ret);

/* NULL: there is none. */
const struct elf_section *elf_file_get_section(const struct elf_file *f, const char *name);
const struct elf_section *elf_file_get_typed(const struct elf_file *f, uint32_t type);

/* A section's bytes, unpacked. -ENODATA: it has none in this file. */
int elf_file_dup_section(const struct elf_file *f, const struct elf_section *s, uint8_t **ret,
			 size_t *ret_len);

/* The virtual address of a place in the file, by the segment that has it; executable ones first. */
bool elf_file_find_address(const struct elf_file *f, uint64_t offset, uint64_t *ret);

/* The code that has this address; NULL: it is no code. */
const struct elf_code *elf_file_find_code(const struct elf_file *f, uint64_t address);

static inline uint16_t elf_get_u16(const struct elf_file *f, const uint8_t *p)
{
	return (uint16_t)(f->big ? p[0] << 8 | p[1] : p[1] << 8 | p[0]);
}

static inline uint32_t elf_get_u32(const struct elf_file *f, const uint8_t *p)
{
	uint32_t a = elf_get_u16(f, p), b = elf_get_u16(f, p + 2);

	return f->big ? a << 16 | b : b << 16 | a;
}

static inline uint64_t elf_get_u64(const struct elf_file *f, const uint8_t *p)
{
	uint64_t a = elf_get_u32(f, p), b = elf_get_u32(f, p + 4);

	return f->big ? a << 32 | b : b << 32 | a;
}

/* What has the size of an address in this file. */
static inline uint64_t elf_get_word(const struct elf_file *f, const uint8_t *p)
{
	return f->wide ? elf_get_u64(f, p) : elf_get_u32(f, p);
}

#endif
