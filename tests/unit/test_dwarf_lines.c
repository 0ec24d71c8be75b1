/* SPDX-License-Identifier: MIT */
/*
 * dwarf_lines: line tables as no compiler writes them: sequences over each other, names of every kind, and damage at each place, which
 * costs the names and lines that it hit and never gives a wrong one.
 */
#include <stdio.h>

#include "elf_image.h"
#include "symbol/dwarf_lines.h"

#define TEXT 0x1000U /* where the code lies */
#define TEXT_LEN 0x100U

/* What is under test, and what its lines are written into. */
struct story {
	struct image image;
	struct bytes lines, info, abbreviations;
	size_t unit, head; /* where the lengths of what is being written lie */
	char told[4096];
};

static void put_uleb(struct bytes *b, uint64_t v)
{
	for (; v > 127; v >>= 7)
		put(b, v | 128, 1);
	put(b, v, 1);
}

static void patch(struct bytes *b, size_t at)
{
	const uint64_t len = b->len - at - 4;
	size_t i;

	for (i = 0; i < 4; i++)
		b->p[at + i] = (uint8_t)(len >> 8 * i);
}

static void begin_unit(struct story *s, unsigned version, unsigned max_ops)
{
	static const uint8_t lengths[] = { 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1 };
	struct bytes *b = &s->lines;

	s->unit = b->len;
	put(b, 0, 4);
	put(b, version, 2);
	if (version == 5)
		put(b, 8, 2); /* bytes of an address; no segments */
	s->head = b->len;
	put(b, 0, 4);
	put(b, 1, 1); /* bytes of an instruction */
	if (version >= 4)
		put(b, max_ops, 1);
	put(b, 1, 1);  /* statements */
	put(b, 0, 1);  /* base of lines */
	put(b, 14, 1); /* and their range */
	put(b, 13, 1); /* first special opcode */
	put_bytes(b, lengths, sizeof(lengths));
}

static void begin_program(struct story *s)
{
	patch(&s->lines, s->head);
}

static void put_address(struct story *s, uint64_t address)
{
	put(&s->lines, 0x020900, 3);
	put(&s->lines, address, 8);
}

/* A row of this file and line. */
static void put_row(struct story *s, uint64_t address, uint64_t file, uint8_t line)
{
	put_address(s, address);
	put(&s->lines, 4, 1); /* set_file */
	put_uleb(&s->lines, file);
	put(&s->lines, 3, 1); /* advance_line, from 1 */
	put(&s->lines, line - 1, 1);
	put(&s->lines, 1, 1); /* copy */
}

static void end_sequence(struct story *s, uint64_t address)
{
	put_address(s, address);
	put(&s->lines, 0x010100, 3);
}

static void put_sequence(struct story *s, uint64_t from, uint64_t to, uint8_t line)
{
	put_row(s, from, 1, line);
	end_sequence(s, to);
}

static void end_unit(struct story *s)
{
	patch(&s->lines, s->unit);
}

static int tell(void *context, const struct dwarf_piece *p)
{
	struct story *s = context;
	const size_t len = strlen(s->told);

	snprintf(s->told + len, sizeof(s->told) - len, "%s%llx-%llx %s:%u", len ? ", " : "",
		 (unsigned long long)(p->from - TEXT), (unsigned long long)(p->to - TEXT), p->file,
		 p->line);
	return 0;
}

/* What a search says of each address, told as a walk tells it. */
static void search_all(struct story *s, struct dwarf_lines *l)
{
	struct dwarf_piece p = { 0 };
	const char *file = NULL;
	uint32_t line = 0;
	uint64_t at;

	s->told[0] = 0;
	for (at = TEXT; at <= TEXT + TEXT_LEN; at++) {
		const int r = dwarf_lines_find(l, at, &file, &line);

		assert_true(r == 0 || r == 1);
		if (p.to && (r == 0 || strcmp(p.file, file) != 0 || p.line != line)) {
			tell(s, &p);
			p.to = 0;
		}
		if (r == 1 && !p.to)
			p = (struct dwarf_piece){ .from = at, .file = file, .line = line };
		if (r == 1)
			p.to = at + 1;
	}
}

/* Both ways say the same: "from-to file:line, …". */
static void expect(struct story *s, const char *told)
{
	struct dwarf_lines *l = NULL;
	struct image_section *text;
	struct elf_file f;

	s->image.wide = true;
	s->image.machine = EM_AARCH64;
	text = image_add(&s->image, ".text", SHT_NOBITS);
	text->flags = SHF_ALLOC | SHF_EXECINSTR;
	text->address = TEXT;
	text->size = TEXT_LEN;
	image_add(&s->image, ".debug_line", SHT_PROGBITS)->bytes = s->lines;
	image_add(&s->image, ".debug_info", SHT_PROGBITS)->bytes = s->info;
	image_add(&s->image, ".debug_abbrev", SHT_PROGBITS)->bytes = s->abbreviations;
	image_open(&s->image, &f);
	assert_int_equal(dwarf_lines_open(&f, &l), 0);
	search_all(s, l);
	assert_string_equal(s->told, told);
	s->told[0] = 0;
	assert_int_equal(dwarf_lines_walk(l, tell, s), 0);
	assert_string_equal(s->told, told);
	dwarf_lines_free(l);
	elf_file_close(&f);
	image_done(&s->image);
	memset(s, 0, sizeof(*s));
}

/* Version 4: one folder, two files. */
static void begin_named(struct story *s)
{
	begin_unit(s, 4, 1);
	put_text(&s->lines, "in");
	put_text(&s->lines, "");
	put_text(&s->lines, "a.c");
	put(&s->lines, 0x000001, 3); /* folder, time, length */
	put_text(&s->lines, "/abs/b.c");
	put(&s->lines, 0, 3);
	put_text(&s->lines, "");
	begin_program(s);
}

static void test_overlap(void **state)
{
	struct story s = { 0 };
	unsigned i;

	(void)state;
	/* Of two that begin together the later has the address. */
	begin_named(&s);
	put_sequence(&s, TEXT + 0x10, TEXT + 0x30, 1);
	put_sequence(&s, TEXT + 0x10, TEXT + 0x20, 2);
	end_unit(&s);
	expect(&s, "10-20 in/a.c:2, 20-30 in/a.c:1");
	/* However many have come and gone inside of it, the outer one has what is left. */
	begin_named(&s);
	put_sequence(&s, TEXT, TEXT + 0x50, 1);
	for (i = 0; i < 20; i++)
		put_sequence(&s, TEXT + 0x10 + i, TEXT + 0x11 + i, (uint8_t)(i + 2));
	end_unit(&s);
	expect(&s,
	       "0-10 in/a.c:1, 10-11 in/a.c:2, 11-12 in/a.c:3, 12-13 in/a.c:4, 13-14 in/a.c:5, "
	       "14-15 in/a.c:6, 15-16 in/a.c:7, 16-17 in/a.c:8, 17-18 in/a.c:9, 18-19 in/a.c:10, "
	       "19-1a in/a.c:11, 1a-1b in/a.c:12, 1b-1c in/a.c:13, 1c-1d in/a.c:14, "
	       "1d-1e in/a.c:15, 1e-1f in/a.c:16, 1f-20 in/a.c:17, 20-21 in/a.c:18, "
	       "21-22 in/a.c:19, 22-23 in/a.c:20, 23-24 in/a.c:21, 24-50 in/a.c:1");
	/* The seventeenth that lies in another is left out. */
	begin_named(&s);
	for (i = 0; i < 18; i++)
		put_sequence(&s, TEXT + i, TEXT + 0x20 - (i < 16 ? 0 : i - 14), (uint8_t)(i + 1));
	end_unit(&s);
	expect(&s, "0-1 in/a.c:1, 1-2 in/a.c:2, 2-3 in/a.c:3, 3-4 in/a.c:4, 4-5 in/a.c:5, "
		   "5-6 in/a.c:6, 6-7 in/a.c:7, 7-8 in/a.c:8, 8-9 in/a.c:9, 9-a in/a.c:10, "
		   "a-b in/a.c:11, b-c in/a.c:12, c-d in/a.c:13, d-e in/a.c:14, e-f in/a.c:15, "
		   "f-20 in/a.c:16");
}

/* What one sequence of file 1 and one of file 2 are called. */
static void put_two(struct story *s)
{
	put_sequence(s, TEXT, TEXT + 1, 1);
	put_row(s, TEXT + 2, 2, 1);
	end_sequence(s, TEXT + 3);
	end_unit(s);
}

/* Version 5: entries of a path, and of files a folder's number, as bytes; the table of files is left to be written. */
static void begin_named_5(struct story *s, const char *base, const char *folder)
{
	begin_unit(s, 5, 1);
	put(&s->lines, 1, 1);
	put(&s->lines, 0x0801, 2); /* a path, inside */
	put(&s->lines, 2, 1);
	put_text(&s->lines, base);
	put_text(&s->lines, folder);
}

static void put_file_5(struct story *s, const char *name, uint8_t folder)
{
	put_text(&s->lines, name);
	put(&s->lines, folder, 1);
}

static void end_names_5(struct story *s, const char *first, const char *second)
{
	put(&s->lines, 2, 1);
	put(&s->lines, 0x0b020801, 4); /* a path, inside; a folder, of one byte */
	put(&s->lines, 3, 1);
	put_file_5(s, "unit.c", 0);
	put_file_5(s, first, 1);
	put_file_5(s, second, 0);
	begin_program(s);
}

static void test_names(void **state)
{
	struct story s = { 0 };

	(void)state;
	begin_named(&s);
	put_two(&s);
	expect(&s, "0-1 in/a.c:1, 2-3 /abs/b.c:1");
	begin_named_5(&s, "/src", "in");
	end_names_5(&s, "a.c", "b.c");
	put_two(&s);
	expect(&s, "0-1 /src/in/a.c:1, 2-3 /src/b.c:1");
	begin_named_5(&s, "/src", "/else");
	end_names_5(&s, "a.c", "/b.c");
	put_two(&s);
	expect(&s, "0-1 /else/a.c:1, 2-3 /b.c:1");
	begin_named_5(&s, "/src", ""); /* a folder without a name is that of the compilation */
	end_names_5(&s, "a.c", "b.c");
	put_two(&s);
	expect(&s, "0-1 /src/a.c:1, 2-3 /src/b.c:1");
}

/* Rows that a table has in spite of what its opcodes look like. */
static void test_opcodes(void **state)
{
	struct story s = { 0 };
	unsigned i;

	(void)state;
	begin_named(&s);
	put(&s.lines, 0x020300, 3); /* an address of 2 bytes */
	put(&s.lines, TEXT, 2);
	put(&s.lines, 0x020400, 3); /* and one of 3, which is none */
	put(&s.lines, 0, 3);
	put(&s.lines, 3, 1); /* a line with more digits than 64 bits have */
	for (i = 0; i < 11; i++)
		put(&s.lines, i ? 128 : 129, 1);
	put(&s.lines, 0, 1);
	put(&s.lines, 2, 1); /* and an advance */
	for (i = 0; i < 11; i++)
		put(&s.lines, i ? 128 : 132, 1);
	put(&s.lines, 0, 1);
	put(&s.lines, 0x020201, 3); /* copy; two bytes on */
	put(&s.lines, 0x017f03, 3); /* a line back; copy */
	end_sequence(&s, TEXT + 8);
	end_unit(&s);
	expect(&s, "4-6 in/a.c:2, 6-8 in/a.c:1");
}

/* What a program is cut in costs what was not ended. */
static void test_cut_programs(void **state)
{
	static const uint8_t cuts[][3] = {
		{ 3, 0x81, 0 }, { 2, 0x81, 0 }, { 9, 0, 0 }, { 0, 9, 2 }
	};
	struct story s = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
		begin_named(&s);
		put_sequence(&s, TEXT, TEXT + 4, 7);
		put_row(&s, TEXT + 8, 1, 8);
		put_bytes(&s.lines, cuts[i], i == 3 ? 3 : 2);
		end_unit(&s);
		expect(&s, "0-4 in/a.c:7");
	}
}

/* Tables of names that end early, or cannot be: no name is better than a wrong one. */
static void test_cut_names(void **state)
{
	struct story s = { 0 };

	(void)state;
	begin_unit(&s, 4, 1); /* in the folders */
	put_text(&s.lines, "in");
	begin_program(&s);
	put_two(&s);
	expect(&s, "");
	begin_unit(&s, 4, 1); /* in the numbers of a file */
	put_text(&s.lines, "");
	put_text(&s.lines, "a.c");
	put(&s.lines, 0x0080, 2);
	begin_program(&s);
	put_two(&s);
	expect(&s, "");
	begin_unit(&s, 4, 1); /* a folder that is not there */
	put_text(&s.lines, "in");
	put_text(&s.lines, "");
	put_text(&s.lines, "a.c");
	put(&s.lines, 2, 3);
	put_text(&s.lines, "b.c");
	put(&s.lines, 0, 3);
	begin_program(&s);
	put_two(&s);
	expect(&s, "2-3 b.c:1");
	begin_named(&s); /* a file that is not there */
	put_row(&s, TEXT, 3, 1);
	end_sequence(&s, TEXT + 1);
	put_row(&s, TEXT + 2, 0, 1);
	end_sequence(&s, TEXT + 3);
	end_unit(&s);
	expect(&s, "");
}

static void test_cut_names_5(void **state)
{
	struct story s = { 0 };
	unsigned i;

	(void)state;
	begin_unit(&s, 5, 1); /* in the formats */
	put(&s.lines, 0x0101, 2);
	begin_program(&s);
	put_two(&s);
	expect(&s, "");
	begin_unit(
		&s, 5,
		1); /* more formats than one table may have, which would be one of no folders and a table of files */
	put(&s.lines, 0x0021, 2);
	end_names_5(&s, "a.c", "b.c");
	put_two(&s);
	expect(&s, "");
	begin_unit(&s, 5, 1); /* more folders than bytes: 2^21, each of nothing */
	put(&s.lines, 0, 1);
	put_uleb(&s.lines, 1U << 21);
	end_names_5(&s, "a.c", "b.c");
	put_two(&s);
	expect(&s, "");
	begin_named_5(&s, "/src", "in"); /* in the files: what was whole before has its name */
	put(&s.lines, 2, 1);
	put(&s.lines, 0x0b020801, 4);
	put(&s.lines, 3, 1);
	for (i = 0; i < 2; i++)
		put_file_5(&s, "a.c", 1);
	begin_program(&s);
	put_two(&s);
	expect(&s, "0-1 /src/in/a.c:1");
}

/* Heads that say what cannot be: the unit is passed over, the next is read. */
static void test_heads(void **state)
{
	struct story s = { 0 };
	unsigned i;

	(void)state;
	for (i = 0; i < 4; i++) {
		if (i < 3) {
			begin_unit(&s, 4, i == 0 ? 0 : 1);
			put(&s.lines, 0, 2);
			begin_program(&s);
		} else {
			begin_named_5(&s, "/src", "in");
			end_names_5(&s, "a.c", "b.c");
			s.lines.p[s.head - 2] = 255; /* bytes of an address */
		}
		if (i == 1)
			s.lines.p[s.head + 8] = 0; /* range of lines */
		if (i == 2)
			s.lines.p[s.head] = 3; /* its own length: ends before the opcodes */
		put_two(&s);
		begin_named(&s);
		put_sequence(&s, TEXT + 8, TEXT + 9, 3);
		end_unit(&s);
		expect(&s, "8-9 in/a.c:3");
	}
}

enum {
	NAME = 0x03,
	STMT_LIST = 0x10,
	COMP_DIR = 0x1b,
	DATA1 = 0x0b,
	DATA4 = 0x06,
	STRING = 0x08,
	CONST = 0x21
};

/* A unit of an abbreviation, whose values are then written; it ends with end_info(). */
static void begin_info(struct story *s, unsigned version, uint8_t type, uint8_t code)
{
	s->unit = s->info.len;
	put(&s->info, 0, 4);
	put(&s->info, version, 2);
	if (version == 5)
		put(&s->info, type | 8U << 8, 2);
	put(&s->info, 0, 4); /* abbreviations */
	if (version < 5)
		put(&s->info, 8, 1);
	if (type == 4)
		put(&s->info, 0x1234, 8);
	put(&s->info, code, 1);
}

static void end_info(struct story *s)
{
	patch(&s->info, s->unit);
}

static void put_abbreviation(struct story *s, uint8_t code)
{
	put_uleb(&s->abbreviations, code);
	put(&s->abbreviations, 0x0011, 2); /* a unit, without children */
}

static void put_attribute(struct story *s, uint8_t name, uint8_t form)
{
	put(&s->abbreviations, name, 1);
	put(&s->abbreviations, form, 1);
}

/* The usual: where its lines are, and its folder. */
static void put_usual(struct story *s, uint8_t code)
{
	put_abbreviation(s, code);
	put_attribute(s, STMT_LIST, DATA4);
	put_attribute(s, COMP_DIR, STRING);
	put_attribute(s, 0, 0);
}

static void put_lines(struct story *s)
{
	begin_unit(s, 4, 1);
	put_text(&s->lines, "");
	put_text(&s->lines, "a.c");
	put(&s->lines, 0, 3);
	put_text(&s->lines, "");
	begin_program(s);
	put_sequence(s, TEXT, TEXT + 1, 1);
	end_unit(s);
}

static void test_units(void **state)
{
	static const uint8_t types[] = { 1, 3, 4, 2, 5, 6 };
	struct story s = { 0 };
	unsigned i;

	(void)state;
	put_lines(&s); /* the last of many, behind an abbreviation of another kind */
	put_abbreviation(&s, 2);
	put_attribute(&s, NAME, CONST);
	put(&s.abbreviations, 5, 1);
	put_attribute(&s, 0, 0);
	put_usual(&s, 1);
	for (i = 0; i < 70; i++) {
		begin_info(&s, 4, 0, 1);
		put(&s.info, 69 - i, 4);
		put_text(&s.info, i == 69 ? "/src" : "/other");
		end_info(&s);
	}
	expect(&s, "0-1 /src/a.c:1");
	for (i = 0; i < sizeof(types); i++) {
		put_lines(&s);
		put_usual(&s, 1);
		begin_info(&s, 5, types[i], 1);
		put(&s.info, 0, 4);
		put_text(&s.info, "/src");
		end_info(&s);
		expect(&s, i < 3 ? "0-1 /src/a.c:1" : "0-1 a.c:1");
	}
}

/* Abbreviations that end early, and values that do: the folder is not known. */
static void test_cut_units(void **state)
{
	struct story s = { 0 };
	unsigned i;

	(void)state;
	put_lines(&s); /* in the name of an attribute of another */
	put_abbreviation(&s, 2);
	put(&s.abbreviations, 0x83, 1);
	begin_info(&s, 4, 0, 1);
	end_info(&s);
	expect(&s, "0-1 a.c:1");
	put_lines(&s); /* in the form of its own: it has what was before */
	put_abbreviation(&s, 1);
	put_attribute(&s, STMT_LIST, DATA4);
	put_attribute(&s, COMP_DIR, STRING);
	put_attribute(&s, NAME, 0x80 | DATA1);
	begin_info(&s, 4, 0, 1);
	put(&s.info, 0, 4);
	put_text(&s.info, "/src");
	put(&s.info, 0, 4);
	end_info(&s);
	expect(&s, "0-1 /src/a.c:1");
	for (i = 0; i < 3; i++) { /* in the value of either */
		put_lines(&s);
		put_abbreviation(&s, 1);
		put_attribute(&s, i ? COMP_DIR : STMT_LIST, i ? STRING : DATA4);
		put_attribute(&s, i ? STMT_LIST : COMP_DIR, i ? DATA4 : STRING);
		put_attribute(&s, 0, 0);
		begin_info(&s, 4, 0, 1);
		put_bytes(&s.info, "/s",
			  i == 2 ? 2 : 3); /* too short for a place; none behind; not ended */
		end_info(&s);
		expect(&s, "0-1 a.c:1");
	}
	put_lines(&s); /* in a value that the abbreviation itself has */
	put_abbreviation(&s, 1);
	put_attribute(&s, STMT_LIST, DATA4);
	put_attribute(&s, NAME, 0x80 | CONST);
	begin_info(&s, 4, 0, 1);
	put(&s.info, 0, 4);
	end_info(&s);
	expect(&s, "0-1 a.c:1");
	put_lines(&s); /* more attributes than are looked at */
	put_abbreviation(&s, 1);
	put_attribute(&s, COMP_DIR, STRING);
	for (i = 0; i < 255; i++)
		put_attribute(&s, NAME, DATA1);
	put_attribute(&s, STMT_LIST, DATA4);
	put_attribute(&s, 0, 0);
	begin_info(&s, 4, 0, 1);
	put_text(&s.info, "/src");
	for (i = 0; i < 255 + 4; i++)
		put(&s.info, 0, 1);
	end_info(&s);
	expect(&s, "0-1 a.c:1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overlap),	  cmocka_unit_test(test_names),
		cmocka_unit_test(test_opcodes),	  cmocka_unit_test(test_cut_programs),
		cmocka_unit_test(test_cut_names), cmocka_unit_test(test_cut_names_5),
		cmocka_unit_test(test_heads),	  cmocka_unit_test(test_units),
		cmocka_unit_test(test_cut_units),
	};

	return cmocka_run_group_tests_name("dwarf_lines", tests, NULL, NULL);
}
