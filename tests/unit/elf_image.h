/* SPDX-License-Identifier: MIT */
/*
 * elf_image: an ELF file that a test puts together section by section, so that it can have what no compiler writes.
 *
 * Least significant byte first. Sections have the numbers 1 and up in the order in which they were given; the names come behind them.
 */
#ifndef KISEKI_TESTS_ELF_IMAGE_H
#define KISEKI_TESTS_ELF_IMAGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "symbol/elf_file.h"

#define BYTES_MAX (1U << 20)
#define IMAGE_SECTIONS_MAX 8U

/* Bytes that are written one after the other. */
struct bytes {
	uint8_t *p;
	size_t len;
};

static inline void put_bytes(struct bytes *b, const void *p, size_t len)
{
	if (!b->p)
		b->p = calloc(1, BYTES_MAX);
	assert_non_null(b->p);
	assert_true(len <= BYTES_MAX - b->len);
	if (len)
		memcpy(b->p + b->len, p, len);
	b->len += len;
}

static inline void put(struct bytes *b, uint64_t v, unsigned size)
{
	uint8_t p[8];
	unsigned i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> 8 * i);
	put_bytes(b, p, size);
}

static inline void put_text(struct bytes *b, const char *text)
{
	put_bytes(b, text, strlen(text) + 1);
}

static inline void free_bytes(struct bytes *b)
{
	free(b->p);
	memset(b, 0, sizeof(*b));
}

struct image_section {
	const char *name;
	uint32_t type, link;
	uint64_t flags, address, size; /* size: of what has no bytes */
	struct bytes bytes;
};

struct image {
	bool wide;
	uint16_t machine;
	struct image_section sections[IMAGE_SECTIONS_MAX];
	uint32_t n;
	struct bytes file;
};

/* Valid until the next: bytes are put into it, or borrowed. */
static inline struct image_section *image_add(struct image *m, const char *name, uint32_t type)
{
	assert_true(m->n < IMAGE_SECTIONS_MAX);
	m->sections[m->n] = (struct image_section){ .name = name, .type = type };
	return &m->sections[m->n++];
}

static inline void image_put_header(struct image *m, uint64_t sections)
{
	static const uint8_t ident[] = { 0x7f, 'E', 'L', 'F', 0, ELFDATA2LSB, EV_CURRENT };
	const unsigned word = m->wide ? 8 : 4;
	uint8_t padded[EI_NIDENT] = { 0 };

	memcpy(padded, ident, sizeof(ident));
	padded[EI_CLASS] = m->wide ? ELFCLASS64 : ELFCLASS32;
	put_bytes(&m->file, padded, sizeof(padded));
	put(&m->file, ET_DYN, 2);
	put(&m->file, m->machine, 2);
	put(&m->file, EV_CURRENT, 4);
	put(&m->file, 0, word); /* entry */
	put(&m->file, 0, word); /* no segments */
	put(&m->file, sections, word);
	put(&m->file, 0, 4);		     /* flags */
	put(&m->file, m->wide ? 64 : 52, 2); /* of this header */
	put(&m->file, m->wide ? 56 : 32, 2); /* of a segment's */
	put(&m->file, 0, 2);		     /* segments */
	put(&m->file, m->wide ? 64 : 40, 2); /* of a section's */
	put(&m->file, m->n + 2, 2);	     /* with the first and the names */
	put(&m->file, m->n + 1, 2);	     /* where the names are */
}

static inline void image_put_section(struct image *m, const struct image_section *s, size_t name,
				     uint64_t at)
{
	const unsigned word = m->wide ? 8 : 4;
	const bool is_symbols = s->type == SHT_SYMTAB || s->type == SHT_DYNSYM;

	put(&m->file, name, 4);
	put(&m->file, s->type, 4);
	put(&m->file, s->flags, word);
	put(&m->file, s->address, word);
	put(&m->file, at, word);
	put(&m->file, s->bytes.len ? s->bytes.len : s->size, word);
	put(&m->file, s->link, 4);
	put(&m->file, 0, 4); /* info */
	put(&m->file, 4, word);
	put(&m->file, is_symbols ? (m->wide ? 24 : 16) : 0, word);
}

/* Header, bytes, names, the sections' headers; and opens it. */
static inline void image_open(struct image *m, struct elf_file *f)
{
	const size_t first = m->wide ? 64 : 52;
	struct image_section none = { 0 }, names = { .name = ".shstrtab", .type = SHT_STRTAB };
	size_t name[IMAGE_SECTIONS_MAX], at = first, i;

	put(&names.bytes, 0, 1);
	for (i = 0; i < m->n; i++) {
		name[i] = names.bytes.len;
		put_text(&names.bytes, m->sections[i].name);
		at += m->sections[i].bytes.len;
	}
	free_bytes(&m->file);
	image_put_header(m, at + names.bytes.len);
	for (i = 0; i < m->n; i++)
		put_bytes(&m->file, m->sections[i].bytes.p, m->sections[i].bytes.len);
	put_bytes(&m->file, names.bytes.p, names.bytes.len);
	image_put_section(m, &none, 0, 0);
	for (i = 0, at = first; i < m->n; at += m->sections[i++].bytes.len)
		image_put_section(m, &m->sections[i], name[i], at);
	image_put_section(m, &names, 0, at);
	free_bytes(&names.bytes);
	assert_int_equal(elf_file_open_memory(f, m->file.p, m->file.len, NULL), 0);
}

static inline void image_done(struct image *m)
{
	uint32_t i;

	for (i = 0; i < m->n; i++)
		free_bytes(&m->sections[i].bytes);
	free_bytes(&m->file);
	m->n = 0;
}

#endif
