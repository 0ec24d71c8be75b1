/* SPDX-License-Identifier: MIT */
/* symfile: the vector of docs/format/symbols.md, written and read; tables against the one in memory; any
 * byte of the head changed. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/symfile_write.h"
#include "tools/vector.h"
#include "wire/crc32c.h"

#define ROOM 4096U

static struct vector vector;
static uint8_t bytes[ROOM], other[ROOM];
static size_t len;

static int load(void **state)
{
	(void)state;
	vector_open(&vector, "symbols.hex");
	len = vector_bytes(&vector, bytes, ROOM);
	return len ? 0 : -1;
}

static void push(struct symtab *t, uint64_t start, uint64_t size, const char *name)
{
	struct symtab_item item = { .start = start,
				    .end = start + size,
				    .name = name,
				    .name_len = (uint32_t)strlen(name) };

	assert_int_equal(symtab_push(t, &item), 0);
}

static int write_memory(const struct symfile_source *s)
{
	int fd = memfd_create("symfile", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(symfile_write(fd, s), 0);
	return fd;
}

static void test_written(void **state)
{
	static const uint8_t id[] = { 0xa1, 0xb2, 0xc3, 0xd4 };
	struct elf_segment segments[] = {
		{ .type = PT_LOAD,
		  .flags = PF_R | PF_X,
		  .offset = 0x10000,
		  .address = 0x410000,
		  .file_size = 0x400 },
		{ .type = PT_NOTE },
	};
	struct elf_file file = { .machine = EM_AARCH64, .segments = segments, .n_segments = 2 };
	struct symtab *t = symtab_new();
	struct symfile_source s = {
		.kind = SYMFILE_OBJECT, .id = id, .id_len = sizeof(id), .table = t, .file = &file
	};
	int fd;

	(void)state;
	push(t, 0x410300, 0x10, "helper");
	push(t, 0x410100, 0x40, "main");
	push(t, 0x410140, 0x40, "_ZN1A1bEv");
	assert_int_equal(symtab_index(t), 0);
	fd = write_memory(&s);
	assert_int_equal(pread(fd, other, ROOM, 0), (ssize_t)len);
	assert_memory_equal(other, bytes, len);
	close(fd);
	symtab_free(t);
}

static void expect(const struct symfile *f, uint64_t address, const char *name, const char *shown)
{
	struct symfile_symbol s;

	assert_int_equal(symfile_find(f, address, &s), name != NULL);
	if (name) {
		assert_string_equal(s.name, name);
		assert_string_equal(s.other, shown);
	}
}

static void test_read(void **state)
{
	struct elf_segment *segments = NULL;
	struct symfile *f = NULL;
	size_t n;

	(void)state;
	assert_int_equal(symfile_open_memory(bytes, len, &f, NULL), 0);
	expect(f, 0, NULL, NULL);
	expect(f, 0x4100ff, NULL, NULL);
	expect(f, 0x410100, "main", "main");
	expect(f, 0x41013f, "main", "main");
	expect(f, 0x410140, "_ZN1A1bEv", "A::b()");
	expect(f, 0x410180, NULL, NULL);
	expect(f, 0x4102ff, NULL, NULL);
	expect(f, 0x41030f, "helper", "helper");
	expect(f, 0x410310, NULL, NULL);
	expect(f, UINT64_MAX, NULL, NULL);
	assert_int_equal(symfile_check(f), 0);
	assert_int_equal(symfile_dup_segments(f, &segments, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(segments[0].address, 0x410000);
	assert_int_equal(segments[0].offset, 0x10000);
	assert_int_equal(segments[0].file_size, 0x400);
	assert_int_equal(segments[0].type, PT_LOAD);
	free(segments);
	symfile_close(f);
}

/* No changed head is believed; a changed body is found by who looks for it. */
static void test_damage(void **state)
{
	struct symfile *f = NULL;
	size_t i;
	int r;

	(void)state;
	for (i = 0; i < len; i++) {
		memcpy(other, bytes, len);
		other[i] ^= 0x10;
		r = symfile_open_memory(other, len, &f, NULL);
		if (i < SYMFILE_HEAD_LEN) {
			assert_int_equal(r, i == 8 ? -EPROTONOSUPPORT : -EBADMSG);
			continue;
		}
		/* The last byte ends the last name, and is looked at. */
		assert_int_equal(r, i == len - 1 ? -EBADMSG : 0);
		if (r < 0)
			continue;
		assert_int_equal(symfile_check(f), -EBADMSG);
		symfile_close(f);
	}
	for (i = 0; i < len; i++)
		assert_int_equal(symfile_open_memory(bytes, i, &f, NULL), -EBADMSG);
}

/* A head that fits its checksum, and lies. */
static void test_lies(void **state)
{
	static const struct {
		size_t at;
		uint32_t value;
	} rows[] = {
		{ 32, UINT32_MAX }, { 36, UINT32_MAX }, { 40, UINT32_MAX }, { 44, UINT32_MAX },
		{ 32, 2 },	    { 36, 6 },		{ 40, 0 },	    { 44, 0 },
		{ 48, 31 },	    { 48, 0 },		{ 52, 1 },	    { 56, 0x410000b7 },
		{ 56, 0x000000b7 }, { 8, 0x08000501 },	{ 8, 0x40000101 },  { 8, 0x08020101 },
	};
	struct error e = ERROR_INIT;
	struct symfile *f = NULL;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		memcpy(other, bytes, len);
		put_le32(other + rows[i].at, rows[i].value);
		put_le32(other + 12,
			 crc32c_add(crc32c_add(0, other, 12), other + 16, SYMFILE_HEAD_LEN - 16));
		assert_int_equal(symfile_open_memory(other, len, &f, &e), -EBADMSG);
		assert_string_equal(e.text, "is damaged: its parts do not fit together");
	}
}

/* Without any names, not even that of nothing. */
static void test_nameless(void **state)
{
	struct symfile *f = NULL;
	size_t cut;

	(void)state;
	memcpy(other, bytes, len);
	cut = len - (size_t)get_le64(other + 48);
	put_le64(other + 16, cut);
	put_le64(other + 48, 0);
	put_le32(other + 12,
		 crc32c_add(crc32c_add(0, other, 12), other + 16, SYMFILE_HEAD_LEN - 16));
	assert_int_equal(symfile_open_memory(other, cut, &f, NULL), -EBADMSG);
}

/* What is no file, and what is too short for one. */
static void test_no_file(void **state)
{
	struct error e = ERROR_INIT;
	struct symfile *f = NULL;

	(void)state;
	assert_int_equal(symfile_open(open("/", O_RDONLY | O_CLOEXEC), &f, &e), -EBADMSG);
	assert_string_equal(e.text, "is no table of symbols");
	assert_int_equal(symfile_open(memfd_create("empty", MFD_CLOEXEC), &f, &e), -EBADMSG);
	assert_string_equal(e.text, "is no table of symbols");
	assert_int_equal(symfile_open(-1, &f, &e), -EBADF);
}

/* A table of lines: files are written once, and what has no line, or no file, is nobody's. */
static void test_lines(void **state)
{
	static const uint8_t id[] = { 7 };
	static const struct symfile_place places[] = { { 0, 10 }, { 2, 20 }, { 3, 0 }, { 3, 30 } };
	static const char *const files[] = { "/src/a.c", NULL, "/src/a.c", "/src/b.c" };
	struct symfile_lines lines = { .places = places, .files = files, .n_files = 4 };
	struct symtab *t = symtab_new();
	struct symfile_source s = {
		.kind = SYMFILE_LINES, .id = id, .id_len = 1, .table = t, .lines = &lines
	};
	const char *file = NULL, *again = NULL;
	struct symfile_symbol symbol;
	struct symfile *f = NULL;
	uint32_t line = 0;

	(void)state;
	push(t, 0x1000, 4, "");
	push(t, 0x1004, 4, "");
	push(t, 0x1008, 4, "");
	push(t, 0x1010, 4, "");
	assert_int_equal(symtab_index(t), 0);
	assert_int_equal(symfile_open(write_memory(&s), &f, NULL), 0);
	assert_int_equal(symfile_check(f), 0);
	assert_true(symfile_find_line(f, 0x1003, &file, &line));
	assert_string_equal(file, "/src/a.c");
	assert_int_equal(line, 10);
	assert_true(symfile_find_line(f, 0x1004, &again, &line));
	assert_ptr_equal(file, again);
	assert_int_equal(line, 20);
	assert_false(symfile_find_line(f, 0x1008, &file, &line));
	assert_false(symfile_find_line(f, 0x100c, &file, &line));
	assert_true(symfile_find_line(f, 0x1010, &file, &line));
	assert_string_equal(file, "/src/b.c");
	assert_false(symfile_find(f, 0x1000, &symbol)); /* nor has it names */
	symfile_close(f);
	assert_int_equal(symfile_open_memory(bytes, len, &f, NULL), 0);
	assert_false(symfile_find_line(f, 0x410100, &file, &line));
	symfile_close(f);
	symtab_free(t);
}

static uint64_t random_next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Near and far ones answer as the table that they were made of. */
static void check_same(uint64_t step)
{
	static char names[500][16];
	static const uint8_t id[] = { 1 };
	struct symtab *t = symtab_new();
	struct symfile_source s = {
		.kind = SYMFILE_OBJECT, .flags = SYMFILE_PARTIAL, .id = id, .id_len = 1, .table = t
	};
	uint64_t seed = 88172645463325252ULL + step, at = 4096, end;
	struct symfile_symbol found;
	struct symfile *f = NULL;
	size_t i;

	for (i = 0; i < 500; i++) {
		snprintf(names[i], sizeof(names[i]), "f%zu", i);
		push(t, at, 1 + random_next(&seed) % 600, names[i]);
		at += random_next(&seed) % step;
	}
	end = at + 1000;
	assert_int_equal(symtab_index(t), 0);
	assert_int_equal(symfile_open(write_memory(&s), &f, NULL), 0);
	assert_int_equal(symfile_get_head(f)->flags & SYMFILE_PARTIAL, SYMFILE_PARTIAL);
	assert_int_equal(!(symfile_get_head(f)->flags & SYMFILE_FAR), end < UINT32_MAX);
	for (i = 0; i < 20000; i++) {
		const struct symtab_symbol *in_memory;
		bool in_file;

		at = i % 2 ? random_next(&seed) % end
			   : symtab_get_symbol(t, i / 2 % symtab_count(t))->start + i % 7;
		in_memory = symtab_find(t, at);
		in_file = symfile_find(f, at, &found);
		assert_int_equal(in_file, in_memory != NULL);
		if (in_file) {
			assert_int_equal(found.start, in_memory->start);
			assert_string_equal(found.name, in_memory->name);
		}
	}
	symfile_close(f);
	symtab_free(t);
}

static void test_same(void **state)
{
	(void)state;
	check_same(300);
	check_same(1ULL << 20);
	check_same(1ULL << 40);
}

static void test_none(void **state)
{
	static const uint8_t id[] = { 1 };
	struct symtab *t = symtab_new();
	struct symfile_source s = { .kind = SYMFILE_KERNEL, .id = id, .id_len = 1, .table = t };
	struct symfile *f = NULL;
	int fd;

	(void)state;
	assert_int_equal(symtab_index(t), 0);
	assert_int_equal(symfile_open(write_memory(&s), &f, NULL), 0);
	expect(f, 0, NULL, NULL);
	symfile_close(f);
	s.id_len = 0;
	fd = memfd_create("symfile", MFD_CLOEXEC);
	assert_int_equal(symfile_write(fd, &s), -EINVAL);
	close(fd);
	symtab_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written), cmocka_unit_test(test_read),
		cmocka_unit_test(test_damage),	cmocka_unit_test(test_lies),
		cmocka_unit_test(test_same),	cmocka_unit_test(test_none),
		cmocka_unit_test(test_lines),	cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
