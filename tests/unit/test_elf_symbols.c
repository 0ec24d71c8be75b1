/* SPDX-License-Identifier: MIT */
/* elf_symbols: tables of symbols and of linkage that no linker of this machine writes: other machines, other hardening, and damage. */
#include <errno.h>
#include <stdio.h>

#include "elf_image.h"
#include "symbol/elf_symbols.h"

#define TEXT 0x1000U

static void put_symbol(struct bytes *b, bool wide, uint32_t name, uint64_t value, uint8_t info)
{
	put(b, name, 4);
	if (wide) {
		put(b, info, 1);
		put(b, 0, 1);
		put(b, 1, 2); /* of a section */
		put(b, value, 8);
		put(b, 4, 8);
	} else {
		put(b, value, 4);
		put(b, 4, 4);
		put(b, info, 1);
		put(b, 0, 1);
		put(b, 1, 2);
	}
}

static void add_text(struct image *m, uint64_t address)
{
	struct image_section *text = image_add(m, ".text", SHT_NOBITS);

	text->flags = SHF_ALLOC | SHF_EXECINSTR;
	text->address = address;
	text->size = 0x100;
}

/* The name of an address; "": it has none. */
static const char *find(const struct symtab *t, uint64_t address)
{
	static char name[64];
	const struct symtab_symbol *s = symtab_find(t, address);

	snprintf(name, sizeof(name), "%.*s", s ? (int)s->name_len : 0, s ? s->name : "");
	return name;
}

/* Marks are no functions, nor is what has a name that nobody would write. */
static void test_names(void **state)
{
	static const char *const names[] = { "$x", "$x.foo",   "$xrv64gc", "$y",   "$xyz",
					     "",   "@VERSION", ".L1",	   "at@@V" };
	static const char *const wanted[] = { "", "", "", "$y", "$xyz", "", "", "", "at" };
	struct image m = { .wide = true, .machine = EM_RISCV };
	struct bytes symbols = { 0 }, strings = { 0 };
	struct image_section *s;
	struct elf_file f;
	struct symtab *t = symtab_new();
	uint32_t i;

	(void)state;
	assert_non_null(t);
	add_text(&m, TEXT);
	put_symbol(&symbols, true, 0, 0, 0);
	put(&strings, 0, 1);
	for (i = 0; i < 9; i++) {
		put_symbol(&symbols, true, (uint32_t)strings.len, TEXT + 8 * i, STT_NOTYPE);
		put_text(&strings, names[i]);
	}
	put_symbol(&symbols, true, (uint32_t)strings.len, TEXT + 8 * i, STT_FUNC);
	for (i = 0; i < 65537; i++)
		put(&strings, 'n', 1);
	put(&strings, 0, 1);
	s = image_add(&m, ".symtab", SHT_SYMTAB);
	s->bytes = symbols;
	s->link = 3;
	image_add(&m, ".strtab", SHT_STRTAB)->bytes = strings;
	image_open(&m, &f);
	assert_int_equal(elf_symbols_push(t, &f, SHT_SYMTAB, 0), 0);
	assert_int_equal(symtab_count(t), 3);
	assert_int_equal(symtab_index(t), 0);
	for (i = 0; i < 9; i++)
		assert_string_equal(find(t, TEXT + 8 * i), wanted[i]);
	symtab_free(t);
	elf_file_close(&f);
	image_done(&m);
}

/* A bias that takes a symbol over the end of all addresses. */
static void test_bias(void **state)
{
	struct image m = { .wide = true, .machine = EM_AARCH64 };
	struct image_section *s;
	struct elf_file f;
	struct symtab *t = symtab_new();

	(void)state;
	assert_non_null(t);
	add_text(&m, TEXT);
	s = image_add(&m, ".symtab", SHT_SYMTAB);
	s->link = 3;
	put_symbol(&s->bytes, true, 0, 0, 0);
	put_symbol(&s->bytes, true, 1, TEXT, STT_FUNC);
	put_symbol(&s->bytes, true, 1, TEXT + 4, STT_FUNC);
	s = image_add(&m, ".strtab", SHT_STRTAB);
	put_bytes(&s->bytes, "\0f", 3);
	image_open(&m, &f);
	assert_int_equal(elf_symbols_push(t, &f, SHT_SYMTAB, 0 - (uint64_t)TEXT - 4), 1);
	assert_int_equal(symtab_count(t), 1);
	assert_int_equal(symtab_index(t), 0);
	assert_string_equal(find(t, 0), "f");
	symtab_free(t);
	elf_file_close(&f);
	image_done(&m);
}

/* A debug file has the headers of tables without their bytes. */
static void test_no_bytes(void **state)
{
	struct image m = { .wide = true, .machine = EM_AARCH64 };
	struct symtab *t = symtab_new();
	struct elf_file f;

	(void)state;
	assert_non_null(t);
	image_add(&m, ".symtab", SHT_NOBITS)->size = 24;
	image_add(&m, ".gnu_debugdata", SHT_NOBITS)->size = 8;
	image_open(&m, &f);
	assert_int_equal(elf_symbols_push(t, &f, SHT_SYMTAB, 0), 0);
	assert_int_equal(elf_symbols_push_packed(t, &f, 0), -ENODATA);
	symtab_free(t);
	elf_file_close(&f);
	image_done(&m);
}

/* Linkage: code, and slots that a relocation of each gives to symbol 1, "f". */
struct linkage {
	bool wide, is_rel, has_no_names;
	uint16_t machine;
	uint64_t address, slot;
	const uint32_t *code;
	size_t n;
	uint32_t type, relocations; /* of these sections, if they are others */
};

static void add_linkage(struct image *m, const struct linkage *k)
{
	const unsigned word = k->wide ? 8 : 4;
	struct image_section *s =
		image_add(m, k->is_rel ? ".rel.plt" : ".rela.plt", k->is_rel ? SHT_REL : SHT_RELA);
	size_t i;

	s->type = k->relocations ? k->relocations : s->type;
	s->link = k->has_no_names ? 0 : 2;
	put(&s->bytes, k->slot, word);
	put(&s->bytes, k->wide ? (uint64_t)1 << 32 : 1 << 8, word);
	if (!k->is_rel)
		put(&s->bytes, 0, word);
	s = image_add(m, ".dynsym", SHT_DYNSYM);
	s->link = 3;
	put_symbol(&s->bytes, k->wide, 0, 0, 0);
	put_symbol(&s->bytes, k->wide, 1, 0, STT_FUNC);
	s = image_add(m, ".dynstr", SHT_STRTAB);
	put_bytes(&s->bytes, "\0f", 3);
	s = image_add(m, ".plt", k->type ? k->type : SHT_PROGBITS);
	s->address = k->address;
	for (i = 0; i < k->n; i++)
		put(&s->bytes, k->code[i], 4);
}

/* The entry that has a name, as "from-to", relative to the code; "": none has. */
static void expect_entry(const struct linkage *k, const char *wanted)
{
	struct image m = { .wide = k->wide, .machine = k->machine };
	struct symtab *t = symtab_new();
	struct elf_file f;
	char told[64] = "";
	uint64_t at, from = 0, to = 0;

	assert_non_null(t);
	add_linkage(&m, k);
	image_open(&m, &f);
	assert_int_equal(elf_symbols_push_plt(t, &f), 0);
	assert_int_equal(symtab_index(t), 0);
	for (at = 0; at < 4 * k->n; at++) {
		const bool has = strcmp(find(t, k->address + at), "f@plt") == 0;

		from = has && !to ? at : from;
		to = has ? at + 1 : to;
	}
	if (to)
		snprintf(told, sizeof(told), "%llu-%llu", (unsigned long long)from,
			 (unsigned long long)to);
	assert_string_equal(told, wanted);
	symtab_free(t);
	elf_file_close(&f);
	image_done(&m);
}

/* adrp x16, the page behind; ldr x17, [x16, #8]; add; br. */
#define ADRP 0xb0000010U
#define LDR 0xf9400611U
#define ADD 0x91002210U
#define BR 0xd61f0220U
#define BTI 0xd503245fU
#define NOP 0xd503201fU

static void test_aarch64(void **state)
{
	static const uint32_t plain[] = { ADRP, LDR, ADD, BR },
			      hardened[] = { NOP, BTI, ADRP, LDR, ADD, BR },
			      behind[] = { NOP, ADRP, LDR, ADD, BR },
			      other[] = { ADRP, NOP, ADD, BR }, cut[] = { ADRP, LDR, ADD };
	struct linkage k = {
		.wide = true, .machine = EM_AARCH64, .address = 0x2000, .slot = 0x3008
	};

	(void)state;
#define EXPECT(entry, wanted)                                                                      \
	(k.code = (entry), k.n = sizeof(entry) / sizeof((entry)[0]), expect_entry(&k, (wanted)))
	EXPECT(plain, "0-16");
	EXPECT(hardened, "4-24");
	EXPECT(behind, "4-20");
	EXPECT(other, "");
	EXPECT(cut, "");
	k.has_no_names = true;
	EXPECT(plain, "");
	k.has_no_names = false;
	k.type = SHT_NOBITS;
	EXPECT(plain, "");
	k.type = 0;
	k.relocations = SHT_PROGBITS;
	EXPECT(plain, "");
	k.relocations = 0;
	k.slot = 0x3010; /* another's */
	EXPECT(plain, "");
	k.address = UINT64_MAX - 7; /* an entry over the end of all addresses */
	k.slot = 8;
	EXPECT(plain, "");
}

/* add ip, pc, #0; add ip, ip, #0x1000, the eight bits turned; ldr pc, [ip, #16]!. */
static void test_arm(void **state)
{
	static const uint32_t plain[] = { 0xe28fc600, 0xe28cca01, 0xe5bcf010 },
			      thumb[] = { 0x46c04778, 0xe28fc600, 0xe28cca01, 0xe5bcf00c },
			      unturned[] = { 0xe28fc004, 0xe28cca01, 0xe5bcf00c },
			      half[] = { 0x46c00078, 0xe28fc600, 0xe28cca01, 0xe5bcf00c },
			      other[] = { 0xe1a00000, 0xe28fc600, 0xe28cca01, 0xe5bcf00c };
	struct linkage k = { .machine = EM_ARM, .address = 0x2000, .slot = 0x3018, .is_rel = true };

	(void)state;
	EXPECT(plain, "0-12");
	EXPECT(thumb, "0-16");
	EXPECT(unturned, "0-12");
	EXPECT(half, "4-16");
	EXPECT(other, "4-16");
	k.is_rel = false;
	EXPECT(plain, "0-12");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),	 cmocka_unit_test(test_bias),
		cmocka_unit_test(test_no_bytes), cmocka_unit_test(test_aarch64),
		cmocka_unit_test(test_arm),
	};

	return cmocka_run_group_tests_name("elf_symbols", tests, NULL, NULL);
}
