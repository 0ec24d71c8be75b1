/* SPDX-License-Identifier: MIT */
/*
 * elf_plt: names of the entries of a procedure linkage table; see elf_symbols.h.
 *
 * An entry jumps through a slot of the global offset table, and the relocation of that slot names the
 * function. Sizes of entries and of what stands before them differ by linker, by machine and by what
 * hardens the code (BTI, IBT, Thumb), so the slot is read from the instructions. An entry that is not
 * understood has no name.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "symbol/elf_symbols.h"

#define SLOTS_MAX (1U << 20)
#define PLT_MAX (4U << 20)
#define AARCH64_BTI 0xd503245fU

struct slot {
	uint64_t at;
	uint32_t symbol;
};

/* Everything an entry's name comes from. */
struct plt {
	const struct elf_file *file;
	struct slot *slots; /* sorted */
	size_t n_slots;
	uint8_t *symbols, *names, *code;
	size_t symbols_len, names_len, code_len;
	uint64_t address; /* of code */
};

/* Instructions are stored least byte first, also where data is not. */
static uint32_t code_u32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t extend(uint64_t v, unsigned bits)
{
	uint64_t sign = (uint64_t)1 << (bits - 1);

	return ((v & (2 * sign - 1)) ^ sign) - sign;
}

/* adrp x16, page; ldr x17, [x16, #offset]; add; br: 16 bytes. */
static size_t decode_aarch64(const struct plt *p, size_t at, uint64_t *ret_start,
			     uint64_t *ret_slot)
{
	uint32_t adrp = code_u32(p->code + at), ldr;
	uint64_t page;

	if (p->code_len - at < 16 || (adrp & 0x9f00001fU) != 0x90000010U)
		return 0;
	ldr = code_u32(p->code + at + 4);
	if ((ldr & 0xffc003ffU) != 0xf9400211U)
		return 0;
	page = extend((uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3), 21) << 12;
	*ret_slot = ((p->address + at) & ~(uint64_t)4095) + page + (ldr >> 10 & 4095) * 8;
	*ret_start = p->address + at;
	if (at >= 4 && code_u32(p->code + at - 4) == AARCH64_BTI)
		*ret_start -= 4;
	return 16;
}

/* An immediate of ARM: eight bits, turned right by twice four. */
static uint32_t arm_immediate(uint32_t instruction)
{
	uint32_t v = instruction & 255, turn = (instruction >> 8 & 15) * 2;

	return turn ? v >> turn | v << (32 - turn) : v;
}

/* add ip, pc, #; add ip, ip, #; ldr pc, [ip, #]!: 12 bytes. */
static size_t decode_arm(const struct plt *p, size_t at, uint64_t *ret_start, uint64_t *ret_slot)
{
	uint32_t a, b, c;

	if (p->code_len - at < 12)
		return 0;
	a = code_u32(p->code + at);
	b = code_u32(p->code + at + 4);
	c = code_u32(p->code + at + 8);
	if ((a & 0xfffff000U) != 0xe28fc000U || (b & 0xfffff000U) != 0xe28cc000U ||
	    (c & 0xfffff000U) != 0xe5bcf000U)
		return 0;
	*ret_start = p->address + at;
	*ret_slot =
		(uint32_t)(p->address + at + 8 + arm_immediate(a) + arm_immediate(b) + (c & 4095));
	/* Callers in Thumb enter before it: bx pc; nop or b.n. */
	if (at >= 4 && p->code[at - 4] == 0x78 && p->code[at - 3] == 0x47)
		*ret_start -= 4;
	return 12;
}

/* jmp *slot(%rip), with endbr64 or bnd before it, in entries of 16 bytes. */
static size_t decode_x86(const struct plt *p, size_t at, uint64_t *ret_start, uint64_t *ret_slot)
{
	size_t i;

	if (at % 16 || p->code_len - at < 16)
		return 0;
	for (i = 0; i <= 10; i++)
		if (p->code[at + i] == 0xff && p->code[at + i + 1] == 0x25)
			break;
	if (i > 5)
		return 0;
	*ret_start = p->address + at;
	*ret_slot = p->address + at + i + 6 + extend(code_u32(p->code + at + i + 2), 32);
	return 16;
}

static int compare_slots(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

/* The function whose address the slot gets; NULL: nobody's. */
static const char *get_name(const struct plt *p, uint64_t at)
{
	const size_t entry = p->file->wide ? 24 : 16;
	struct slot key = { .at = at }, *s;
	uint32_t name;

	s = bsearch(&key, p->slots, p->n_slots, sizeof(key), compare_slots);
	if (!s || s->symbol == 0 || s->symbol >= p->symbols_len / entry)
		return NULL;
	name = elf_get_u32(p->file, p->symbols + s->symbol * entry);
	return name < p->names_len && p->names[name] ? (const char *)p->names + name : NULL;
}

static int read_slots(struct plt *p, const struct elf_section *s)
{
	const bool addend = s->type == SHT_RELA, wide = p->file->wide;
	const size_t entry = (wide ? 16U : 8U) + (addend ? (wide ? 8U : 4U) : 0U);
	_cleanup_free_ uint8_t *bytes = NULL;
	size_t len, i;
	int r;

	r = elf_file_dup_section(p->file, s, &bytes, &len);
	if (r < 0 || len / entry == 0 || len / entry > SLOTS_MAX)
		return r < 0 ? r : -ENODATA;
	p->n_slots = len / entry;
	p->slots = calloc(p->n_slots, sizeof(*p->slots));
	if (!p->slots)
		return -ENOMEM;
	for (i = 0; i < p->n_slots; i++) {
		const uint8_t *at = bytes + i * entry;

		p->slots[i].at = elf_get_word(p->file, at);
		p->slots[i].symbol = wide ? (uint32_t)(elf_get_u64(p->file, at + 8) >> 32)
					  : elf_get_u32(p->file, at + 4) >> 8;
	}
	qsort(p->slots, p->n_slots, sizeof(*p->slots), compare_slots);
	return 0;
}

static int read_names(struct plt *p, const struct elf_section *relocations)
{
	const struct elf_file *f = p->file;
	const struct elf_section *symbols;
	int r;

	if (relocations->link == 0 || relocations->link >= f->n_sections)
		return -ENODATA;
	symbols = &f->sections[relocations->link];
	if (symbols->type != SHT_DYNSYM || symbols->link >= f->n_sections ||
	    f->sections[symbols->link].type != SHT_STRTAB)
		return -ENODATA;
	r = elf_file_dup_section(f, symbols, &p->symbols, &p->symbols_len);
	if (r < 0)
		return r;
	return elf_file_dup_section(f, &f->sections[symbols->link], &p->names, &p->names_len);
}

static int push_entry(struct symtab *t, uint64_t start, uint64_t end, const char *name)
{
	struct symtab_item item = { .start = start, .end = end, .rank = SYMTAB_GLOBAL };
	char *text = NULL;
	int r;

	if (end <= start) /* an address that wraps around: a file that was made up */
		return 0;
	if (asprintf(&text, "%.1000s@plt", name) < 0)
		return -ENOMEM;
	item.name = text;
	item.name_len = (uint32_t)strlen(text);
	r = symtab_take(t, text);
	if (r < 0)
		free(text);
	return r < 0 ? r : symtab_push(t, &item);
}

static int push_section(struct symtab *t, struct plt *p, const struct elf_section *s)
{
	size_t (*decode)(const struct plt *, size_t, uint64_t *, uint64_t *) =
		p->file->machine == EM_AARCH64 ? decode_aarch64
		: p->file->machine == EM_ARM   ? decode_arm
					       : decode_x86;
	uint64_t start, slot;
	const char *name;
	size_t at, len;
	int r;

	free(p->code);
	p->code = NULL;
	if (s->size > PLT_MAX)
		return 0;
	r = elf_file_dup_section(p->file, s, &p->code, &p->code_len);
	p->address = s->address;
	for (at = 0; r == 0 && p->code_len - at >= 4; at += len) {
		len = decode(p, at, &start, &slot);
		name = len ? get_name(p, slot) : NULL;
		if (name)
			r = push_entry(t, start, p->address + at + len, name);
		len = len ? len : 4;
	}
	return r == -ENODATA ? 0 : r;
}

int elf_symbols_push_plt(struct symtab *t, const struct elf_file *f)
{
	static const char *const sections[] = { ".plt", ".plt.sec" };
	const struct elf_section *s = elf_file_get_section(f, ".rela.plt");
	struct plt p = { .file = f };
	size_t i;
	int r;

	if (f->machine != EM_AARCH64 && f->machine != EM_ARM && f->machine != EM_X86_64)
		return 0;
	if (!s)
		s = elf_file_get_section(f, ".rel.plt");
	if (!s || (s->type != SHT_RELA && s->type != SHT_REL))
		return 0;
	r = read_slots(&p, s);
	if (r == 0)
		r = read_names(&p, s);
	for (i = 0; r == 0 && i < sizeof(sections) / sizeof(sections[0]); i++) {
		s = elf_file_get_section(f, sections[i]);
		r = s ? push_section(t, &p, s) : 0;
	}
	free(p.slots);
	free(p.symbols);
	free(p.names);
	free(p.code);
	return r == -ENODATA ? 0 : r;
}
