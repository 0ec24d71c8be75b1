/* SPDX-License-Identifier: MIT */
/*
 * symbolise: names of addresses, for tests that compare them with those of other tools.
 *
 *	symbolise [-r SYSROOT] [-f FOLDER]... [-k KALLSYMS] [-b HEX|-n] [-c CACHE] [-m] [-a] [-l]
 *		OBJECT < addresses
 *
 * One address in hexadecimal per line: of the object's file (an offset), with -a the object's own (a
 * virtual address, turned into an offset by its segments), with -k alone the kernel's. Each becomes a
 * line "name+0xoffset object", "?? object+0xoffset" if it has no name; -l adds " file:line". The
 * build-id asked for is the object's own unless -b gives another or -n none. Problems go to standard
 * error, one a line.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hex.h"
#include "symbol/elf_identity.h"
#include "symbol/symbols.h"

#define FOLDERS_MAX 16

struct options {
	struct symbols_options symbols;
	const char *folders[FOLDERS_MAX + 1];
	int n_folders;
	const char *path, *hex;
	bool no_id, addresses, lines;
};

static void die(const char *text)
{
	fprintf(stderr, "symbolise: %s\n", text);
	exit(2);
}

static void parse_options(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "r:f:k:b:c:nmal")) != -1) {
		switch (c) {
		case 'r':
			o->symbols.sysroot = optarg;
			break;
		case 'f':
			if (o->n_folders == FOLDERS_MAX)
				die("too many folders");
			o->folders[o->n_folders++] = optarg;
			break;
		case 'k':
			o->symbols.kallsyms = optarg;
			break;
		case 'b':
			o->hex = optarg;
			break;
		case 'c':
			o->symbols.cache = optarg;
			break;
		case 'n':
			o->no_id = true;
			break;
		case 'm':
			o->symbols.mangled = true;
			break;
		case 'a':
			o->addresses = true;
			break;
		case 'l':
			o->lines = true;
			break;
		default:
			die("see the head of tests/tools/symbolise.c");
		}
	}
	o->path = argv[optind];
	o->symbols.folders = o->folders;
}

/* Where an address of the object lies in its file. */
static uint64_t to_offset(const struct elf_file *f, uint64_t address)
{
	size_t i;

	for (i = 0; i < f->n_segments; i++)
		if (f->segments[i].type == PT_LOAD && address >= f->segments[i].address &&
		    address - f->segments[i].address < f->segments[i].file_size)
			return address - f->segments[i].address + f->segments[i].offset;
	return UINT64_MAX;
}

static void open_object(const struct options *o, struct elf_file *ret)
{
	struct error e = ERROR_INIT;
	char path[4096];

	snprintf(path, sizeof(path), "%s%s", o->symbols.sysroot ? o->symbols.sysroot : "", o->path);
	if (elf_file_open(ret, open(path, O_RDONLY), &e) < 0 && (o->addresses || !o->hex))
		memset(ret, 0, sizeof(*ret));
}

static size_t get_build_id(const struct options *o, const struct elf_file *f, uint8_t *ret)
{
	struct elf_build_id id = { .len = 0 };
	size_t i;

	if (o->no_id)
		return 0;
	if (!o->hex) {
		elf_identity_get_build_id(f, &id);
		memcpy(ret, id.bytes,
		       id.len < SYMBOLS_BUILD_ID_MAX ? id.len : SYMBOLS_BUILD_ID_MAX);
		return id.len < SYMBOLS_BUILD_ID_MAX ? id.len : SYMBOLS_BUILD_ID_MAX;
	}
	for (i = 0; o->hex[2 * i] && i < SYMBOLS_BUILD_ID_MAX; i++)
		ret[i] = (uint8_t)(hex_digit(o->hex[2 * i]) << 4 | hex_digit(o->hex[2 * i + 1]));
	return i;
}

static void print_line(struct symbols *s, uint32_t object, uint64_t offset)
{
	const char *file = NULL;
	uint32_t line = 0;

	if (symbols_find_line(s, object, offset, &file, &line) == 1)
		printf(" %s:%" PRIu32, file, line);
	else
		printf(" ??:0");
}

static void print_name(const struct symbol *name)
{
	if (name->name)
		printf("%s+0x%" PRIx64 " %s", name->name, name->offset, name->object);
	else
		printf("?? %s+0x%" PRIx64, name->object, name->offset);
}

static void name_all(const struct options *o, struct symbols *s, const struct elf_file *f,
		     uint32_t object)
{
	struct symbol name;
	char line[256];

	while (fgets(line, sizeof(line), stdin)) {
		uint64_t at = strtoull(line, NULL, 16);

		at = o->addresses ? to_offset(f, at) : at;
		if ((o->path ? symbols_find(s, object, at, &name)
			     : symbols_find_kernel(s, at, &name)) < 0)
			die("no memory");
		print_name(&name);
		if (o->lines)
			print_line(s, object, at);
		putchar('\n');
	}
}

int main(int argc, char **argv)
{
	struct elf_file file = { .fd = -1 };
	uint8_t id[SYMBOLS_BUILD_ID_MAX];
	struct error e = ERROR_INIT;
	struct symbol_object object = { .build_id = id };
	struct options o = { 0 };
	struct symbols *s;
	uint32_t number = 0;
	size_t i;

	parse_options(&o, argc, argv);
	if (!o.path && !o.symbols.kallsyms)
		die("no object and no kallsyms");
	if (symbols_new(&o.symbols, &s, &e) < 0)
		die(e.text);
	object.path = o.path;
	if (o.path) {
		open_object(&o, &file);
		object.build_id_len = get_build_id(&o, &file, id);
		if (symbols_add(s, &object, &number) < 0)
			die("no memory");
	}
	name_all(&o, s, &file, number);
	for (i = 0; symbols_get_problem(s, i); i++)
		fprintf(stderr, "%s\n", symbols_get_problem(s, i));
	elf_file_close(&file);
	symbols_free(s);
	return 0;
}
