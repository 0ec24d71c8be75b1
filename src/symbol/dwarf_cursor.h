/* SPDX-License-Identifier: MIT */
/*
 * dwarf_cursor: debug information read piece by piece, and never behind its end.
 *
 * Reading past the end gives zeros and sets `bad`, so that a parser looks once, at the end of what
 * belongs together, and a damaged length cannot send it anywhere. What is bad has nothing left.
 */
#ifndef KISEKI_SYMBOL_DWARF_CURSOR_H
#define KISEKI_SYMBOL_DWARF_CURSOR_H

#include <string.h>

#include "symbol/elf_file.h"

struct dwarf_cursor {
	const struct elf_file *file; /* for its byte order */
	const uint8_t *p, *end;
	bool bad;
};

static inline size_t dwarf_left(const struct dwarf_cursor *c)
{
	return (size_t)(c->end - c->p);
}

/* What is here cannot be understood, so nor can what follows. */
static inline void dwarf_give_up(struct dwarf_cursor *c)
{
	c->bad = true;
	c->p = c->end;
}

/* n bytes, or NULL. */
static inline const uint8_t *dwarf_take(struct dwarf_cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	if (n > dwarf_left(c)) {
		dwarf_give_up(c);
		return NULL;
	}
	c->p += (size_t)n;
	return p;
}

static inline uint64_t dwarf_get(struct dwarf_cursor *c, unsigned bytes)
{
	const uint8_t *p = dwarf_take(c, bytes);
	uint64_t v = 0;
	unsigned i;

	for (i = 0; p && i < bytes; i++)
		v |= (uint64_t)p[c->file->big ? bytes - 1 - i : i] << 8 * i;
	return v;
}

/* Behind the end the zeros end it, as they end the next. */
static inline uint64_t dwarf_get_uleb(struct dwarf_cursor *c)
{
	uint64_t v = 0, byte = 0x80;
	unsigned shift;

	for (shift = 0; byte & 0x80; shift += 7) {
		byte = dwarf_get(c, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
	}
	return v;
}

static inline int64_t dwarf_get_sleb(struct dwarf_cursor *c)
{
	uint64_t v = 0, byte = 0x80;
	unsigned shift;

	for (shift = 0; byte & 0x80; shift += 7) {
		byte = dwarf_get(c, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
	}
	if (shift < 64 && byte & 0x40)
		v |= ~(uint64_t)0 << shift;
	return (int64_t)v;
}

/* "" where there is none. */
static inline const char *dwarf_get_string(struct dwarf_cursor *c)
{
	const uint8_t *nul = (const uint8_t *)memchr(c->p, 0, dwarf_left(c)), *p = c->p;

	if (!nul) {
		dwarf_give_up(c);
		return "";
	}
	c->p = nul + 1;
	return (const char *)p;
}

/* The length of a unit, and whether its offsets have 4 or 8 bytes. */
static inline uint64_t dwarf_get_length(struct dwarf_cursor *c, unsigned *ret_offset_size)
{
	uint64_t length = dwarf_get(c, 4);

	*ret_offset_size = length == 0xffffffffU ? 8 : 4;
	return length == 0xffffffffU ? dwarf_get(c, 8) : length;
}

#endif
