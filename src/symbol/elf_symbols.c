/* SPDX-License-Identifier: MIT */
/* elf_symbols: see elf_symbols.h. */
#include "symbol/elf_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/elf_unpack.h"

#define NAME_MAX_BYTES 65536U

struct table {
	const struct elf_file *file;
	uint8_t *symbols;
	size_t n, entry;
	char *names; /* moved to the symtab */
	size_t names_len;
	bool complete;
};

struct elf_symbol {
	uint64_t value, size;
	uint64_t room; /* up to the end of the code it lies in */
	const char *name;
	uint32_t name_len;
	uint8_t type, bind;
};

uint64_t elf_symbols_code_address(const struct elf_file *f, uint64_t address)
{
	return f->machine == EM_ARM || f->machine == EM_MIPS ? address & ~(uint64_t)1 : address;
}

/* $a, $t, $d, $x, alone or followed by a dot or, for RISC-V, by the name of an instruction set. */
static bool is_mark(const char *name)
{
	return name[0] == '$' && name[1] && strchr("atdx", name[1]) &&
	       (!name[2] || name[2] == '.' || name[2] == 'r');
}

/* Symbol number i; false: it is none of ours. */
static bool get_symbol(const struct table *t, size_t i, struct elf_symbol *ret)
{
	const uint8_t *p = t->symbols + i * t->entry;
	const struct elf_file *f = t->file;
	uint32_t at = elf_get_u32(f, p);
	const uint8_t *info = p + (f->wide ? 4 : 12);
	uint16_t section = elf_get_u16(f, info + 2);
	const struct elf_code *code;

	ret->type = info[0] & 15;
	ret->bind = info[0] >> 4;
	if (section == SHN_UNDEF || (section >= SHN_LORESERVE && section != SHN_XINDEX))
		return false;
	if ((ret->type != STT_FUNC && ret->type != STT_GNU_IFUNC && ret->type != STT_NOTYPE) ||
	    at >= t->names_len || !t->names[at])
		return false;
	ret->name = t->names + at;
	/* In .symtab the linker writes versions behind names: memcpy@@GLIBC_2.17. */
	ret->name_len = (uint32_t)strcspn(ret->name, "@");
	if (ret->name_len == 0 || ret->name_len > NAME_MAX_BYTES)
		return false;
	if (ret->type == STT_NOTYPE && (is_mark(ret->name) || strncmp(ret->name, ".L", 2) == 0))
		return false;
	ret->value = elf_get_word(f, p + (f->wide ? 8 : 4));
	ret->size = elf_get_word(f, p + (f->wide ? 16 : 8));
	ret->value = elf_symbols_code_address(f, ret->value);
	code = elf_file_find_code(f, ret->value);
	if (code)
		ret->room = code->to - ret->value;
	return code != NULL;
}

static uint8_t get_rank(const struct elf_symbol *s)
{
	uint8_t rank = s->bind == STB_LOCAL  ? SYMTAB_LOCAL
		       : s->bind == STB_WEAK ? SYMTAB_WEAK
					     : SYMTAB_GLOBAL;

	/* An IFUNC has the address of the function that chooses, but the name of what is chosen. */
	return (uint8_t)(s->type == STT_FUNC ? rank : rank + SYMTAB_LABEL);
}

static int push_symbol(struct symtab *t, const struct table *from, const struct elf_symbol *s,
		       uint64_t bias)
{
	struct symtab_item item = { .start = s->value + bias,
				    .name = s->name,
				    .name_len = s->name_len,
				    .rank = get_rank(s) };

	if (s->size) {
		item.end = item.start + (s->size < s->room ? s->size : s->room);
	} else {
		item.open = from->complete;
		item.end = item.start + (from->complete ? s->room : 1);
	}
	/* A bias that wraps around is one of a file that was made up. */
	return item.end > item.start ? symtab_push(t, &item) : 0;
}

static int read_table(const struct elf_file *f, const struct elf_section *s, struct table *ret)
{
	const struct elf_section *names;
	uint8_t *bytes = NULL;
	size_t len;
	int r;

	ret->file = f;
	ret->entry = f->wide ? 24 : 16;
	if (s->entry_size != ret->entry || s->link >= f->n_sections)
		return -EBADMSG;
	names = &f->sections[s->link];
	if (names->type != SHT_STRTAB)
		return -EBADMSG;
	r = elf_file_dup_section(f, s, &ret->symbols, &len);
	if (r < 0)
		return r;
	ret->n = len / ret->entry;
	r = elf_file_dup_section(f, names, &bytes, &ret->names_len);
	ret->names = (char *)bytes;
	return r;
}

static bool has_local_functions(const struct table *t)
{
	struct elf_symbol s;
	size_t i;

	for (i = 1; i < t->n; i++)
		if (get_symbol(t, i, &s) && s.bind == STB_LOCAL && s.type == STT_FUNC)
			return true;
	return false;
}

static int push_table(struct symtab *t, struct table *from, uint64_t bias)
{
	struct elf_symbol s;
	size_t i;
	int r;

	r = symtab_take(t, from->names);
	if (r < 0) {
		free(from->names);
		return r;
	}
	from->complete = has_local_functions(from);
	for (i = 1; i < from->n && r == 0; i++)
		if (get_symbol(from, i, &s))
			r = push_symbol(t, from, &s, bias);
	return r < 0 ? r : from->complete;
}

int elf_symbols_push(struct symtab *t, const struct elf_file *f, uint32_t type, uint64_t bias)
{
	const struct elf_section *s = elf_file_get_typed(f, type);
	struct table from = { 0 };
	int r;

	if (!s)
		return 0;
	r = read_table(f, s, &from);
	if (r == 0)
		r = push_table(t, &from, bias);
	else
		free(from.names);
	free(from.symbols);
	return r;
}

int elf_symbols_push_packed(struct symtab *t, const struct elf_file *f, uint64_t bias)
{
	const struct elf_section *s = elf_file_get_section(f, ".gnu_debugdata");
	_cleanup_free_ uint8_t *packed = NULL, *bytes = NULL;
	struct elf_file inner;
	size_t len;
	int r;

	if (!s)
		return 0;
	r = elf_file_dup_section(f, s, &packed, &len);
	if (r == 0)
		r = elf_unpack_xz(packed, len, &bytes, &len);
	if (r == 0)
		r = elf_file_open_memory(&inner, bytes, len, NULL);
	if (r < 0)
		return r;
	r = elf_symbols_push(t, &inner, SHT_SYMTAB, bias);
	elf_file_close(&inner);
	return r;
}
