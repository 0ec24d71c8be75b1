/* SPDX-License-Identifier: MIT */
/*
 * symbols: programs compiled here, run, and asked where their functions lie.
 *
 * The program prints the addresses of its functions and its own maps; from these alone the names must
 * come back, however it was linked, stripped or moved about, and where the file is not the one that
 * ran there must be no name and one reason.
 */
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

static char folder[] = "/tmp/test_symbols.XXXXXX";

/* What a run told. */
struct run {
	struct maps maps;
	char text[1 << 17];
	int n;
	char name[FUNCTIONS_MAX][64];
	uint64_t address[FUNCTIONS_MAX];
};

__attribute__((format(printf, 1, 2))) static int command(const char *fmt, ...)
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

static void write_file(const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	write_file("program.c", program_c);
	write_file("program.cc", program_cc);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Runs a program and reads what it prints: "name address result" lines, then its maps. */
static void run_program(struct run *r, const char *how, const char *name)
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

static void get_id(const char *path, struct elf_build_id *ret)
{
	struct elf_file f;

	ret->len = 0;
	if (elf_file_open(&f, open(path, O_RDONLY | O_CLOEXEC), NULL) == 0) {
		elf_identity_get_build_id(&f, ret);
		elf_file_close(&f);
	}
}

/* Looks up function i of the run as a process's map gives it. */
static struct symbol find(struct symbols *s, const struct run *r, int i,
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

static struct symbols *make(const char *sysroot, const char *below, const char *mangled)
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

static void expect_all(struct symbols *s, const struct run *r, const struct elf_build_id *id)
{
	for (int i = 0; i < r->n; i++) {
		struct symbol found = find(s, r, i, id);

		assert_non_null(found.name);
		assert_string_equal(found.name, r->name[i]);
		assert_int_equal(found.offset, 0);
	}
}

static void expect_problem(struct symbols *s, const char *words)
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

/* However it is linked. */
static void test_links(void **state)
{
	static const char *const flags[] = {
		"-fPIE -pie",
		"-fno-pie -no-pie",
		"-static",
		"-static-pie -fPIE",
		"-Wl,-z,separate-code",
		"-Wl,-z,noseparate-code",
		"-fuse-ld=lld",
		"-Wl,-Ttext-segment=0x7000000 -no-pie",
	};
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/linked", folder);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (command("cc -O1 -Wl,--build-id %s -o linked program.c", flags[i]) != 0) {
			print_message("[ NOTE     ] not linked here: %s\n", flags[i]);
			assert_true(i >= 3); /* the first three are everywhere */
			continue;
		}
		run_program(&r, "", "linked");
		get_id(path, &id);
		assert_true(id.len >= 8); /* lld's are shorter */
		s = make(NULL, NULL, NULL);
		expect_all(s, &r, &id);
		expect_problem(s, NULL);
		symbols_free(s);
		maps_done(&r.maps);
	}
}

static void test_stripped(void **state)
{
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	struct symbol found;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/stripped", folder);
	assert_int_equal(command("cc -O1 -g -rdynamic -Wl,--build-id -o stripped program.c && "
				 "objcopy --only-keep-debug stripped kept && strip stripped"),
			 0);
	run_program(&r, "", "stripped");
	get_id(path, &id);
	s = make(NULL, NULL, NULL);
	found = find(s, &r, 0, &id); /* hidden: between exported ones, and nobody's */
	assert_null(found.name);
	assert_string_equal(found.object, "stripped");
	assert_true(found.offset > 0);
	assert_string_equal(find(s, &r, 1, &id).name, "visible");
	expect_problem(s, "is stripped");
	symbols_free(s);

	/* In a tree of build-ids, in either form. */
	assert_int_equal(command("id=$(readelf -n stripped | sed -n 's/.*Build ID: //p'); "
				 "mkdir -p tree/.build-id/${id%%${id#??}} bare/${id%%${id#??}}; "
				 "cp kept tree/.build-id/${id%%${id#??}}/${id#??}.debug; "
				 "cp kept bare/${id%%${id#??}}/${id#??}.debug"),
			 0);
	for (int i = 0; i < 2; i++) {
		s = make(NULL, i ? "bare" : "tree", NULL);
		expect_all(s, &r, &id);
		expect_problem(s, NULL);
		symbols_free(s);
	}
	/* The debug file of another program under its name. */
	assert_int_equal(command("cc -g -O0 -Wl,--build-id -o another program.c && "
				 "objcopy --only-keep-debug another kept && "
				 "for f in tree/.build-id/*/*; do cp kept $f; done"),
			 0);
	s = make(NULL, "tree", NULL);
	assert_null(find(s, &r, 0, &id).name);
	expect_problem(s, "build-id");
	symbols_free(s);
	maps_done(&r.maps);
}

/* From assembler, without a size, exported; behind it a function that has no name any more. */
static const char sizeless_s[] =
	"\t.text\n\t.globl bare\n\t.type bare, %function\nbare:\n\t.fill 16, 1, 0\n"
	"\t.type local_bare, %function\nlocal_bare:\n\t.fill 16, 1, 0\n"
	"\t.globl sized\n\t.type sized, %function\nsized:\n\t.fill 8, 1, 0\n"
	"\t.size sized, . - sized\n\t.fill 8, 1, 0\n"
	"\t.globl chosen\n\t.type chosen, %gnu_indirect_function\n"
	"\t.type choose, %function\nchosen:\nchoose:\n\t.fill 16, 1, 0\n\t.size choose, 16\n"
	"\t.section .note.GNU-stack,\"\",%progbits\n";

static void expect_at(struct symbols *s, uint32_t object, uint64_t offset, const char *name)
{
	struct symbol found;

	assert_int_equal(symbols_find(s, object, offset, &found), 0);
	if (!name)
		assert_null(found.name);
	else
		assert_string_equal(found.name, name);
}

static void test_sizeless(void **state)
{
	char path[64];
	struct symbol_object o = { .path = path };
	struct elf_file f;
	uint64_t at;
	uint32_t n;

	(void)state;
	snprintf(path, sizeof(path), "%s/sizeless.so", folder);
	write_file("sizeless.s", sizeless_s);
	for (int stripped = 0; stripped < 2; stripped++) {
		struct symbols *s = make(NULL, NULL, NULL);

		assert_int_equal(command("cc -shared -nostdlib -o sizeless.so sizeless.s && %s",
					 stripped ? "strip sizeless.so" : "true"),
				 0);
		assert_int_equal(elf_file_open(&f, open(path, O_RDONLY | O_CLOEXEC), NULL), 0);
		at = elf_file_get_section(&f, ".text")->offset;
		elf_file_close(&f);
		assert_int_equal(symbols_add(s, &o, &n), 0);
		expect_at(s, n, at, "bare");
		expect_at(s, n, at + 15, stripped ? NULL : "bare");
		expect_at(s, n, at + 16, stripped ? NULL : "local_bare");
		expect_at(s, n, at + 31, stripped ? NULL : "local_bare");
		expect_at(s, n, at + 39, "sized");
		expect_at(s, n, at + 40, NULL);
		expect_at(s, n, at + 48, stripped ? "chosen" : "choose");
		symbols_free(s);
	}
}

/* What the debug link names: beside it, in .debug, and only with the right bytes. */
static void test_debug_link(void **state)
{
	static const char *const places[] = { "cp info.debug linked.debug",
					      "mkdir -p .debug && mv linked.debug .debug/" };
	struct symbols *s;
	static struct run r;

	(void)state;
	for (int with_id = 0; with_id < 2; with_id++) {
		struct elf_build_id id;
		char path[64];

		assert_int_equal(
			command("rm -rf .debug *.debug; cc -O1 -g -Wl,--build-id%s -o with_link "
				"program.c && objcopy --only-keep-debug with_link linked.debug "
				"&& strip with_link && objcopy --add-gnu-debuglink=linked.debug "
				"with_link && cp linked.debug info.debug",
				with_id ? "" : "=none"),
			0);
		run_program(&r, "", "with_link");
		snprintf(path, sizeof(path), "%s/with_link", folder);
		get_id(path, &id);
		assert_int_equal(id.len, with_id ? 20 : 0);
		for (int i = 0; i < 2; i++) {
			assert_int_equal(command("%s", places[i]), 0);
			s = make(NULL, NULL, NULL);
			expect_all(s, &r, &id);
			expect_problem(s, with_id ? NULL : "unchecked");
			symbols_free(s);
		}
		/* One byte more is another file; with a build-id that is what counts. */
		assert_int_equal(command("printf x >>.debug/linked.debug"), 0);
		s = make(NULL, NULL, NULL);
		if (with_id)
			expect_all(s, &r, &id);
		else
			assert_null(find(s, &r, 0, &id).name);
		expect_problem(s, with_id ? NULL : "CRC");
		symbols_free(s);
		maps_done(&r.maps);
	}
}

/* The file is not the one that ran. */
static void test_wrong_id(void **state)
{
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	struct symbol found;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/changing", folder);
	assert_int_equal(command("cc -O1 -Wl,--build-id -o changing program.c"), 0);
	run_program(&r, "", "changing");
	get_id(path, &id);
	assert_int_equal(command("cc -O0 -DLATER -Wl,--build-id -o changing program.c"), 0);
	s = make(NULL, NULL, NULL);
	found = find(s, &r, 0, &id);
	assert_null(found.name);
	assert_string_equal(found.object, "changing");
	expect_problem(s, "the device's is");
	symbols_free(s);
	/* It has none, and the device saw one. */
	assert_int_equal(command("cc -O1 -Wl,--build-id=none -o changing program.c"), 0);
	s = make(NULL, NULL, NULL);
	assert_null(find(s, &r, 0, &id).name);
	expect_problem(s, "has no build-id");
	symbols_free(s);
	/* Gone, and found again by name in a folder. */
	assert_int_equal(
		command("mkdir -p old && cc -O1 -Wl,--build-id -o old/changing program.c && "
			"rm changing"),
		0);
	s = make(NULL, NULL, NULL);
	assert_null(find(s, &r, 0, &id).name);
	expect_problem(s, "no file was found");
	symbols_free(s);
	s = make(NULL, "old", NULL);
	expect_all(s, &r, &id);
	expect_problem(s, NULL);
	symbols_free(s);
	maps_done(&r.maps);
}

static void test_deleted(void **state)
{
	struct symbol_object o = { .path = "/usr/bin/gone (deleted)" };
	const char *const others[] = { "", "[vdso]", "//anon", "/dev/null", "/" };
	struct symbols *s = make(NULL, NULL, NULL);
	struct symbol found;
	uint32_t n;

	(void)state;
	assert_int_equal(symbols_add(s, &o, &n), 0);
	assert_int_equal(symbols_find(s, n, 100, &found), 0);
	assert_null(found.name);
	assert_string_equal(found.object, "gone");
	assert_int_equal(found.offset, 100);
	expect_problem(s, "deleted");
	for (size_t i = 0; i < 5; i++) {
		o.path = others[i];
		assert_int_equal(symbols_add(s, &o, &n), 0);
		assert_int_equal(symbols_find(s, n, 100, &found), 0);
		assert_null(found.name);
		assert_non_null(symbols_get_problem(s, i + 1));
	}
	assert_int_equal(symbols_find(s, n + 1, 100, &found), -EINVAL);
	symbols_free(s);
}

/* Replaced while it ran; the old file is in the sysroot. */
static void test_sysroot(void **state)
{
	struct elf_build_id id;
	struct symbols_options none = { .sysroot = "/nonexistent" };
	struct error e = ERROR_INIT;
	static struct run r;
	struct symbols *s = NULL;
	char root[64], path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/moved", folder);
	snprintf(root, sizeof(root), "%s/root", folder);
	assert_int_equal(command("cc -O1 -Wl,--build-id -o moved program.c"), 0);
	run_program(&r, "", "moved");
	get_id(path, &id);
	/* An absolute link in it leads into it. */
	assert_int_equal(command("mkdir -p root%s root/opt && mv moved root/opt/moved && "
				 "ln -s /opt/moved root%s/moved",
				 folder, folder),
			 0);
	s = make(root, NULL, NULL);
	expect_all(s, &r, &id);
	expect_problem(s, NULL);
	symbols_free(s);
	assert_int_equal(symbols_new(&none, &s, &e), -ENOENT);
	assert_non_null(strstr(e.text, "cannot open sysroot /nonexistent"));
	maps_done(&r.maps);
}

static void test_cxx(void **state)
{
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/cxx", folder);
	assert_int_equal(command("c++ -O1 -Wl,--build-id -o cxx program.cc"), 0);
	run_program(&r, "", "cxx");
	get_id(path, &id);
	s = make(NULL, NULL, NULL);
	expect_all(s, &r, &id);
	symbols_free(s);
	s = make(NULL, NULL, "mangled");
	assert_string_equal(find(s, &r, 0, &id).name, "_ZN5shape4areaEim");
	symbols_free(s);
	maps_done(&r.maps);
}

static void expect_line(struct symbols *s, const struct run *r, int i,
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

static void test_lines(void **state)
{
	static const char *const flags[] = {
		"-gdwarf-2",	       "-gdwarf-3",
		"-gdwarf-4",	       "-gdwarf-5",
		"-gdwarf-5 -gdwarf64", "-gdwarf-5 -gz=zlib -ffunction-sections -Wl,--gc-sections"
	};
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/lined", folder);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		assert_int_equal(
			command("rm -f lined && cc -O0 -Wl,--build-id %s -o lined program.c",
				flags[i]),
			0);
		run_program(&r, "", "lined");
		get_id(path, &id);
		s = make(NULL, NULL, NULL);
		expect_line(s, &r, 0, &id, 3);
		expect_line(s, &r, 1, &id, 4);
		expect_line(s, &r, 2, &id, 5);
		expect_line(s, &r, 2, &id, 5);
		symbols_free(s);
		maps_done(&r.maps);
	}
}

/* Local symbols packed into a stripped program, as distributions do it. */
static void test_packed(void **state)
{
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/packed", folder);
	assert_int_equal(
		command("cc -O1 -rdynamic -Wl,--build-id -o packed program.c && "
			"objcopy --only-keep-debug packed mini && "
			"nm packed | awk '$2 == \"t\" { print $3 }' >names && "
			"objcopy -S --remove-section .comment --keep-symbols=names mini mini2 "
			"&& xz -f mini2 && strip packed && "
			"objcopy --add-section .gnu_debugdata=mini2.xz packed"),
		0);
	run_program(&r, "", "packed");
	get_id(path, &id);
	s = make(NULL, NULL, NULL);
	expect_all(s, &r, &id);
	expect_problem(s, NULL);
	symbols_free(s);
	/* Damaged, it is as if it was not there. */
	assert_int_equal(command("printf 'not xz' >mini2.xz; objcopy --update-section "
				 ".gnu_debugdata=mini2.xz packed"),
			 0);
	s = make(NULL, NULL, NULL);
	assert_null(find(s, &r, 0, &id).name);
	assert_string_equal(find(s, &r, 1, &id).name, "visible");
	expect_problem(s, "is stripped");
	symbols_free(s);
	maps_done(&r.maps);
}

/* Only the debug file is at hand: with names where it still says where the code was. */
static void test_debug_alone(void **state)
{
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/apart", folder);
	assert_int_equal(
		command("mkdir -p only && cc -O1 -g -Wl,--build-id,-z,separate-code -o apart "
			"program.c && objcopy --only-keep-debug apart only/apart.debug"),
		0);
	run_program(&r, "", "apart");
	get_id(path, &id);
	assert_int_equal(command("mv apart elsewhere"), 0);
	s = make(NULL, "only", NULL);
	assert_null(find(s, &r, 0, &id).name);
	expect_problem(s, "only the debug file");
	symbols_free(s);
	if (command("eu-strip -f only/apart.debug elsewhere") == 0) {
		s = make(NULL, "only", NULL);
		expect_all(s, &r, &id);
		expect_problem(s, NULL);
		symbols_free(s);
	}
	maps_done(&r.maps);
}

/* 32 bits, and Thumb, whose addresses are odd. */
static void test_arm(void **state)
{
	static const char *const flags[] = { "-mthumb", "-marm", "-mthumb -fno-pie -no-pie" };
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	if (command("command -v arm-linux-gnueabihf-gcc && command -v qemu-arm-static") != 0)
		skip();
	snprintf(path, sizeof(path), "%s/arm", folder);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(
			command("arm-linux-gnueabihf-gcc -O1 -static -Wl,--build-id %s -o arm "
				"program.c",
				flags[i]),
			0);
		run_program(&r, "qemu-arm-static", "arm");
		assert_int_equal(r.address[0] & 1, i != 1);
		get_id(path, &id);
		s = make(NULL, NULL, NULL);
		expect_all(s, &r, &id);
		/* As a program counter has it. */
		for (int n = 0; n < r.n; n++)
			r.address[n] &= ~(uint64_t)1;
		expect_all(s, &r, &id);
		expect_problem(s, NULL);
		symbols_free(s);
		maps_done(&r.maps);
	}
}

/* Most significant byte first; nothing is run, nm has the truth. */
static void test_big_endian(void **state)
{
	char path[64], line[256], name[64];
	struct symbols_options none = { 0 };
	struct elf_build_id id;
	struct symbol found;
	struct symbol_object o = { .path = path };
	struct symbols *s = NULL;
	unsigned long long address;
	uint32_t n, seen = 0;
	FILE *nm;

	(void)state;
	if (command("command -v s390x-linux-gnu-gcc") != 0)
		skip();
	snprintf(path, sizeof(path), "%s/big", folder);
	assert_int_equal(command("s390x-linux-gnu-gcc -g -O1 -static "
				 "-Wl,--build-id,-Ttext-segment=0x1000000 "
				 "-o big program.c"),
			 0);
	get_id(path, &id);
	o.build_id = id.bytes;
	o.build_id_len = id.len;
	assert_int_equal(symbols_new(&none, &s, NULL), 0);
	assert_int_equal(symbols_add(s, &o, &n), 0);
	snprintf(line, sizeof(line), "nm %s", path);
	nm = popen(line, "r");
	assert_non_null(nm);
	while (fgets(line, sizeof(line), nm)) {
		if (sscanf(line, "%llx T %63s", &address, name) != 2 ||
		    (strcmp(name, "visible") != 0 && strcmp(name, "twin") != 0 &&
		     strcmp(name, "main") != 0))
			continue;
		assert_int_equal(symbols_find(s, n, address - 0x1000000, &found), 0);
		assert_non_null(found.name);
		assert_string_equal(found.name, name);
		seen++;
	}
	pclose(nm);
	assert_int_equal(seen, 3);
	expect_problem(s, NULL);
	symbols_free(s);
}

/* Cut anywhere, or with any byte of its headers changed: no crash, and never a name that is wrong.
 * What is inside of the symbols themselves cannot be known to be wrong. */
static void test_damage(void **state)
{
	struct elf_build_id id;
	static struct run r;
	struct symbols *s;
	char path[64], copy[64];
	static char bytes[1 << 18];
	size_t len, n, step;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/whole", folder);
	snprintf(copy, sizeof(copy), "%s/cut/whole", folder);
	assert_int_equal(command("mkdir -p cut && cc -O1 -Wl,--build-id -o whole program.c"), 0);
	run_program(&r, "", "whole");
	get_id(path, &id);
	f = fopen(path, "r");
	assert_non_null(f);
	len = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	assert_int_equal(command("mv whole whole.was"), 0);
	step = len / 199 + 1;
	for (n = 0; n < len; n += step) {
		f = fopen(copy, "w");
		assert_non_null(f);
		fwrite(bytes, 1, n, f);
		fclose(f);
		s = make(NULL, "cut", NULL);
		assert_null(find(s, &r, 0, &id).name);
		assert_non_null(symbols_get_problem(s, 0));
		assert_null(symbols_get_problem(s, 1));
		symbols_free(s);
	}
	maps_done(&r.maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links),	   cmocka_unit_test(test_stripped),
		cmocka_unit_test(test_debug_link), cmocka_unit_test(test_wrong_id),
		cmocka_unit_test(test_deleted),	   cmocka_unit_test(test_sysroot),
		cmocka_unit_test(test_cxx),	   cmocka_unit_test(test_lines),
		cmocka_unit_test(test_packed),	   cmocka_unit_test(test_debug_alone),
		cmocka_unit_test(test_arm),	   cmocka_unit_test(test_big_endian),
		cmocka_unit_test(test_sizeless),   cmocka_unit_test(test_damage),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
