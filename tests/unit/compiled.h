/* SPDX-License-Identifier: MIT */
/*
 * compiled: programs compiled by a test, run, and asked where their functions lie.
 *
 * A program prints the addresses of its functions and its own maps; from these alone the names must
 * come back. Everything lies in a folder of the test's own.
 */
#ifndef KISEKI_TESTS_COMPILED_H
#define KISEKI_TESTS_COMPILED_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "symbol/elf_identity.h"
#include "symbol/symbols.h"
#include "trace/maps.h"

#define FUNCTIONS_MAX 8

static const char program_c[] =
	"#include <stdio.h>\n"
	"#define N __attribute__((noinline, noclone))\n"
	"static N int hidden(int x) { return x * 3 + 1; }\n" /* line 3 */
	"N int visible(int x) { return hidden(x) + 2; }\n"
	"N int original(int x) { return x ^ 5; }\n"
	"int longer_twin(int) __attribute__((alias(\"original\")));\n"
	"int twin(int) __attribute__((alias(\"original\")));\n"
	"int tw(int) __attribute__((weak, alias(\"original\")));\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"\tint (*volatile f[])(int) = { hidden, visible, original };\n"
	"\tconst char *names[] = { \"hidden\", \"visible\", \"twin\" };\n"
	"\tchar line[4096];\n"
	"\tFILE *m = fopen(\"/proc/self/maps\", \"r\");\n"
	"\tfor (int i = 0; i < 3; i++)\n"
	"\t\tprintf(\"%s %llx %d\\n\", names[i], (unsigned long long)(unsigned long)f[i], "
	"f[i](argc));\n"
	"\tputs(\"maps\");\n"
	"\twhile (m && fgets(line, sizeof(line), m))\n"
	"\t\tfputs(line, stdout);\n"
	"\treturn 0;\n"
	"}\n";

static const char program_cc[] =
	"#include <cstdio>\n"
	"namespace shape {\n"
	"template <class T> struct box { T v; __attribute__((noinline)) T get(int by) const; };\n"
	"template <class T> T box<T>::get(int by) const { return v * by; }\n"
	"__attribute__((noinline)) int area(int a, unsigned long b) { return a * (int)b; }\n"
	"}\n"
	"int main(int argc, char **)\n"
	"{\n"
	"\tshape::box<int> b{argc};\n"
	"\tchar line[4096];\n"
	"\tint (*volatile f)(int, unsigned long) = shape::area;\n"
	"\tstd::printf(\"shape::area(int,_unsigned_long) %llx %d\\n\", (unsigned long long)f, "
	"f(1, 2) + b.get(3));\n"
	"\tstd::puts(\"maps\");\n"
	"\tstd::FILE *m = std::fopen(\"/proc/self/maps\", \"r\");\n"
	"\twhile (std::fgets(line, sizeof(line), m))\n"
	"\t\tstd::fputs(line, stdout);\n"
	"}\n";

#define FOLDER "/tmp/test_symbols.XXXXXX"

static char folder[] = FOLDER;

/* What a run told. */
struct run {
	struct maps maps;
	char text[1 << 17];
	int n;
	char name[FUNCTIONS_MAX][64];
	uint64_t address[FUNCTIONS_MAX];
};

__attribute__((format(printf, 1, 2))) static inline int command(const char *fmt, ...)
{
	char line[4096], all[8192];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	/* The sanitizer of this program is not that of the compiler's. */
	snprintf(all, sizeof(all), "cd %s && unset LD_PRELOAD && { %s\n} >log 2>&1", folder, line);
	return system(all);
}

static inline void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static inline int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int set_up(void **state)
{
	(void)state;
	strcpy(folder, FOLDER); /* there may have been another group of tests */
	if (!mkdtemp(folder))
		return -1;
	write_file("program.c", program_c);
	write_file("program.cc", program_cc);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Runs a program and reads what it prints: "name address result" lines, then its maps. */
static inline void run_program(struct run *r, const char *how, const char *name)
{
	char line[256], *maps;
	FILE *p;
	size_t len;

	memset(r, 0, sizeof(*r));
	snprintf(line, sizeof(line), "%s %s/%s", how, folder, name);
	p = popen(line, "r");
	assert_non_null(p);
	len = fread(r->text, 1, sizeof(r->text) - 1, p);
	assert_int_equal(pclose(p), 0);
	r->text[len] = 0;
	maps = strstr(r->text, "maps\n");
	assert_non_null(maps);
	for (char *s = r->text; s < maps; s = strchr(s, '\n') + 1) {
		unsigned long long address;

		assert_int_equal(sscanf(s, "%63s %llx", r->name[r->n], &address), 2);
		for (char *c = r->name[r->n]; *c; c++)
			*c = *c == '_' && strchr(r->name[r->n], '(') ? ' ' : *c;
		r->address[r->n++] = address;
	}
	assert_int_equal(maps_parse(maps + 5, strlen(maps + 5), &r->maps, NULL), 0);
}

static inline void get_id(const char *path, struct elf_build_id *ret)
{
	struct elf_file f;

	ret->len = 0;
	if (elf_file_open(&f, open(path, O_RDONLY | O_CLOEXEC), NULL) == 0) {
		elf_identity_get_build_id(&f, ret);
		elf_file_close(&f);
	}
}

/* Looks up function i of the run as a process's map gives it. */
static inline struct symbol find(struct symbols *s, const struct run *r, int i,
				 const struct elf_build_id *id)
{
	const struct func_mapping *m = maps_get(r->maps.mappings, r->maps.n, 0, r->address[i]);
	struct symbol_object o = { .build_id_len = id ? id->len : 0 };
	struct symbol ret;
	uint32_t n, again;

	assert_non_null(m);
	o.path = m->path;
	o.build_id = id ? id->bytes : NULL;
	assert_int_equal(symbols_add(s, &o, &n), 0);
	assert_int_equal(symbols_add(s, &o, &again), 0);
	assert_int_equal(n, again);
	assert_int_equal(symbols_find(s, n, r->address[i] - m->from + m->offset, &ret), 0);
	return ret;
}

static inline struct symbols *make(const char *sysroot, const char *below, const char *mangled)
{
	char path[300];
	const char *folders[] = { path, NULL };
	struct symbols_options o = { .sysroot = sysroot,
				     .folders = below ? folders : NULL,
				     .mangled = mangled != NULL };
	struct symbols *s = NULL;
	struct error e = ERROR_INIT;

	snprintf(path, sizeof(path), "%s/%s", folder, below ? below : "");
	assert_int_equal(symbols_new(&o, &s, &e), 0);
	return s;
}

static inline void expect_all(struct symbols *s, const struct run *r, const struct elf_build_id *id)
{
	for (int i = 0; i < r->n; i++) {
		struct symbol found = find(s, r, i, id);

		assert_non_null(found.name);
		assert_string_equal(found.name, r->name[i]);
		assert_int_equal(found.offset, 0);
	}
}

static inline void expect_problem(struct symbols *s, const char *words)
{
	const char *text = symbols_get_problem(s, 0);

	if (!words) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	if (!strstr(text, words))
		fail_msg("\"%s\" is not in \"%s\"", words, text);
	assert_null(symbols_get_problem(s, 1)); /* once for each object */
}

static inline void expect_line(struct symbols *s, const struct run *r, int i,
			       const struct elf_build_id *id, unsigned expected)
{
	const struct func_mapping *m = maps_get(r->maps.mappings, r->maps.n, 0, r->address[i]);
	struct symbol_object o = { m->path, id->bytes, id->len };
	const char *file = NULL;
	uint32_t n, line = 0;
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "%s/program.c", folder);
	assert_int_equal(symbols_add(s, &o, &n), 0);
	assert_int_equal(symbols_find_line(s, n, r->address[i] - m->from + m->offset, &file, &line),
			 1);
	assert_string_equal(file, wanted);
	assert_int_equal(line, expected);
}

#endif
