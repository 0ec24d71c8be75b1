/* SPDX-License-Identifier: MIT */
/*
 * elf_file: see elf_file.h. Headers are read once, when the file is opened, into structs of our own;
 * the bytes of sections only when they are asked for.
 */
#include "symbol/elf_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "symbol/elf_unpack.h"

#define HEADER_BYTES 64U /* of the larger form */

int elf_file_read(const struct elf_file *f, uint64_t offset, uint64_t len, uint8_t **ret)
{
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t done = 0;
	ssize_t n;

	if (offset > f->size || len > f->size - offset)
		return -EBADMSG;
	if (len > ELF_READ_MAX)
		return -E2BIG;
	bytes = malloc((size_t)len + 1);
	if (!bytes)
		return -ENOMEM;
	if (f->memory)
		memcpy(bytes, f->memory + (size_t)offset, (size_t)len);
	while (!f->memory && done < len) {
		n = pread(f->fd, bytes + done, (size_t)len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EBADMSG;
		done += (size_t)n;
	}
	bytes[len] = 0;
	*ret = take_ptr(bytes);
	return 0;
}

struct header {
	uint64_t segments, sections; /* places of the tables */
	uint32_t n_segments, n_sections, names;
	uint16_t segment_size, section_size;
};

static int read_header(struct elf_file *f, struct header *ret, struct error *e)
{
	_cleanup_free_ uint8_t *h = NULL;
	size_t want = f->size < HEADER_BYTES ? (size_t)f->size : HEADER_BYTES, at;
	int r = elf_file_read(f, 0, want, &h);

	if (r < 0)
		return error_set(e, -r, "cannot be read: %s", strerror(-r));
	if (want < EI_NIDENT || memcmp(h, ELFMAG, SELFMAG) != 0)
		return error_set(e, ENOEXEC, "is no ELF file");
	f->wide = h[EI_CLASS] == ELFCLASS64;
	f->big = h[EI_DATA] == ELFDATA2MSB;
	if ((!f->wide && h[EI_CLASS] != ELFCLASS32) || (!f->big && h[EI_DATA] != ELFDATA2LSB))
		return error_set(e, ENOEXEC, "is an ELF file of an unknown class");
	if (want < (f->wide ? 64U : 52U))
		return error_set(e, EBADMSG, "is cut in its header");
	f->type = elf_get_u16(f, h + 16);
	f->machine = elf_get_u16(f, h + 18);
	at = f->wide ? 32 : 28; /* e_phoff; e_shoff is behind it */
	ret->segments = elf_get_word(f, h + at);
	at += f->wide ? 8 : 4;
	ret->sections = elf_get_word(f, h + at);
	at += f->wide ? 14 : 10; /* e_shoff, e_flags, e_ehsize */
	ret->segment_size = elf_get_u16(f, h + at);
	ret->n_segments = elf_get_u16(f, h + at + 2);
	ret->section_size = elf_get_u16(f, h + at + 4);
	ret->n_sections = elf_get_u16(f, h + at + 6);
	ret->names = elf_get_u16(f, h + at + 8);
	return 0;
}

static void parse_section(const struct elf_file *f, const uint8_t *p, struct elf_section *ret)
{
	const size_t word = f->wide ? 8 : 4;

	ret->name = "";
	ret->type = elf_get_u32(f, p + 4);
	ret->flags = elf_get_word(f, p + 8);
	p += 8 + word;
	ret->address = elf_get_word(f, p);
	ret->offset = elf_get_word(f, p + word);
	ret->size = elf_get_word(f, p + 2 * word);
	p += 3 * word;
	ret->link = elf_get_u32(f, p);
	ret->align = elf_get_word(f, p + 8);
	ret->entry_size = elf_get_word(f, p + 8 + word);
}

/* Where a file has more sections than 16 bits hold, the first one has the true numbers. */
static int read_extended(const struct elf_file *f, struct header *h)
{
	_cleanup_free_ uint8_t *p = NULL;
	struct elf_section first;
	int r = elf_file_read(f, h->sections, h->section_size, &p);

	if (r < 0)
		return r;
	parse_section(f, p, &first);
	if (h->n_sections == 0)
		h->n_sections = first.size > ELF_SECTIONS_MAX ? UINT32_MAX : (uint32_t)first.size;
	if (h->names == SHN_XINDEX)
		h->names = first.link;
	return 0;
}

/* A name that does not end inside the table is no name. */
static void name_sections(struct elf_file *f, const uint8_t *table, size_t entry)
{
	uint32_t at;
	size_t i;

	for (i = 0; i < f->n_sections; i++) {
		at = elf_get_u32(f, table + i * entry);
		if (at < f->section_names_len)
			f->sections[i].name = f->section_names + at;
	}
}

static int read_names(struct elf_file *f, uint32_t number)
{
	const struct elf_section *s;
	uint8_t *names;
	int r;

	if (number == SHN_UNDEF || number >= f->n_sections)
		return 0;
	s = &f->sections[number];
	if (s->type != SHT_STRTAB)
		return 0;
	r = elf_file_read(f, s->offset, s->size, &names);
	if (r < 0)
		return r;
	f->section_names = (char *)names;
	f->section_names_len = (size_t)s->size;
	return 0;
}

static int read_sections(struct elf_file *f, struct header *h, struct error *e)
{
	_cleanup_free_ uint8_t *table = NULL;
	int r = 0;
	size_t i;

	if (h->sections == 0)
		return 0;
	if (h->section_size < (f->wide ? 64 : 40))
		return error_set(e, EBADMSG, "has sections of %u bytes", h->section_size);
	if (h->n_sections == 0 || h->names == SHN_XINDEX)
		r = read_extended(f, h);
	if (r == 0 && h->n_sections > ELF_SECTIONS_MAX)
		return error_set(e, E2BIG, "has more than %u sections", ELF_SECTIONS_MAX);
	if (r == 0)
		r = elf_file_read(f, h->sections, (uint64_t)h->n_sections * h->section_size,
				  &table);
	if (r < 0)
		return error_set(e, -r, "is cut: its sections at offset %llu are not there",
				 (unsigned long long)h->sections);
	f->sections = calloc((size_t)h->n_sections + 1, sizeof(*f->sections));
	if (!f->sections)
		return error_set(e, ENOMEM, "cannot be read: %s", strerror(ENOMEM));
	f->n_sections = h->n_sections;
	for (i = 0; i < f->n_sections; i++)
		parse_section(f, table + i * h->section_size, &f->sections[i]);
	r = read_names(f, h->names);
	if (r < 0)
		return error_set(e, -r, "is cut: the names of its sections are not there");
	name_sections(f, table, h->section_size);
	return 0;
}

static void parse_segment(const struct elf_file *f, const uint8_t *p, struct elf_segment *ret)
{
	ret->type = elf_get_u32(f, p);
	if (f->wide) {
		ret->flags = elf_get_u32(f, p + 4);
		ret->offset = elf_get_u64(f, p + 8);
		ret->address = elf_get_u64(f, p + 16);
		ret->file_size = elf_get_u64(f, p + 32);
		ret->memory_size = elf_get_u64(f, p + 40);
		ret->align = elf_get_u64(f, p + 48);
	} else {
		ret->offset = elf_get_u32(f, p + 4);
		ret->address = elf_get_u32(f, p + 8);
		ret->file_size = elf_get_u32(f, p + 16);
		ret->memory_size = elf_get_u32(f, p + 20);
		ret->flags = elf_get_u32(f, p + 24);
		ret->align = elf_get_u32(f, p + 28);
	}
}

static int read_segments(struct elf_file *f, const struct header *h, struct error *e)
{
	_cleanup_free_ uint8_t *table = NULL;
	size_t i;
	int r;

	if (h->segments == 0 || h->n_segments == 0)
		return 0;
	if (h->segment_size < (f->wide ? 56 : 32) || h->n_segments > ELF_SEGMENTS_MAX)
		return error_set(e, EBADMSG, "has %u segments of %u bytes", h->n_segments,
				 h->segment_size);
	r = elf_file_read(f, h->segments, (uint64_t)h->n_segments * h->segment_size, &table);
	if (r < 0)
		return error_set(e, -r, "is cut: its segments at offset %llu are not there",
				 (unsigned long long)h->segments);
	f->segments = calloc(h->n_segments, sizeof(*f->segments));
	if (!f->segments)
		return error_set(e, ENOMEM, "cannot be read: %s", strerror(ENOMEM));
	f->n_segments = h->n_segments;
	for (i = 0; i < f->n_segments; i++)
		parse_segment(f, table + i * h->segment_size, &f->segments[i]);
	return 0;
}

static int compare_code(const void *left, const void *right)
{
	const struct elf_code *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return a->to < b->to ? -1 : a->to > b->to;
}

static void put_code(struct elf_file *f, uint64_t from, uint64_t size)
{
	if (from + size > from)
		f->code[f->n_code++] = (struct elf_code){ from, from + size };
}

/* Every symbol is looked up here, so a file with as many sections as symbols must not cost both
 * together: sorted. */
static int find_all_code(struct elf_file *f)
{
	const uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
	size_t i;

	f->code = calloc(f->n_sections + f->n_segments + 1, sizeof(*f->code));
	if (!f->code)
		return -ENOMEM;
	for (i = 1; i < f->n_sections; i++)
		if ((f->sections[i].flags & code) == code)
			put_code(f, f->sections[i].address, f->sections[i].size);
	for (i = 0; i < f->n_segments && f->n_sections < 2; i++)
		if (f->segments[i].type == PT_LOAD && (f->segments[i].flags & PF_X))
			put_code(f, f->segments[i].address, f->segments[i].memory_size);
	if (f->n_code)
		qsort(f->code, f->n_code, sizeof(*f->code), compare_code);
	return 0;
}

static int read_tables(struct elf_file *f, struct error *e)
{
	struct header h = { 0 };
	int r = read_header(f, &h, e);

	if (r == 0)
		r = read_segments(f, &h, e);
	if (r == 0)
		r = read_sections(f, &h, e);
	if (r == 0)
		r = find_all_code(f);
	if (r < 0)
		elf_file_close(f);
	return r;
}

int elf_file_open(struct elf_file *f, int fd, struct error *e)
{
	struct stat st;

	memset(f, 0, sizeof(*f));
	f->fd = fd;
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		elf_file_close(f);
		return error_set(e, ENOEXEC, "is no regular file");
	}
	f->size = (uint64_t)st.st_size;
	return read_tables(f, e);
}

int elf_file_open_memory(struct elf_file *f, const void *data, size_t size, struct error *e)
{
	memset(f, 0, sizeof(*f));
	f->fd = -1;
	f->memory = data;
	f->size = size;
	return read_tables(f, e);
}

void elf_file_close(struct elf_file *f)
{
	if (!f->memory && f->fd >= 0)
		close(f->fd);
	free(f->sections);
	free(f->segments);
	free(f->section_names);
	free(f->code);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
}

const struct elf_section *elf_file_get_section(const struct elf_file *f, const char *name)
{
	size_t i;

	for (i = 1; i < f->n_sections; i++)
		if (strcmp(f->sections[i].name, name) == 0)
			return &f->sections[i];
	return NULL;
}

const struct elf_section *elf_file_get_typed(const struct elf_file *f, uint32_t type)
{
	size_t i;

	for (i = 1; i < f->n_sections; i++)
		if (f->sections[i].type == type)
			return &f->sections[i];
	return NULL;
}

int elf_file_dup_section(const struct elf_file *f, const struct elf_section *s, uint8_t **ret,
			 size_t *ret_len)
{
	_cleanup_free_ uint8_t *packed = NULL;
	int r;

	if (s->type == SHT_NOBITS || s->type == SHT_NULL)
		return -ENODATA;
	r = elf_file_read(f, s->offset, s->size, &packed);
	if (r < 0)
		return r;
	if (s->flags & SHF_COMPRESSED)
		return elf_unpack(f, packed, (size_t)s->size, ret, ret_len);
	*ret = take_ptr(packed);
	*ret_len = (size_t)s->size;
	return 0;
}

static bool is_loaded_at(const struct elf_segment *s, uint64_t offset)
{
	return s->type == PT_LOAD && offset >= s->offset && offset - s->offset < s->file_size;
}

bool elf_file_find_address(const struct elf_file *f, uint64_t offset, uint64_t *ret)
{
	const struct elf_segment *found = NULL;
	size_t i;

	for (i = 0; i < f->n_segments; i++) {
		const struct elf_segment *s = &f->segments[i];

		if (is_loaded_at(s, offset) && (!found || (s->flags & ~found->flags & PF_X)))
			found = s;
	}
	if (!found)
		return false;
	*ret = offset - found->offset + found->address;
	return true;
}

const struct elf_code *elf_file_find_code(const struct elf_file *f, uint64_t address)
{
	size_t low = 0, high = f->n_code, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (f->code[middle].from <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < f->code[low - 1].to ? &f->code[low - 1] : NULL;
}
