/* SPDX-License-Identifier: MIT */
/* symbols: names and lines of programs, however they were compiled and linked; and of damaged ones. */
#include "compiled.h"
#include "symbol/object_reader.h"

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
		cmocka_unit_test(test_links),	   cmocka_unit_test(test_sizeless),
		cmocka_unit_test(test_cxx),	   cmocka_unit_test(test_lines),
		cmocka_unit_test(test_packed),	   cmocka_unit_test(test_arm),
		cmocka_unit_test(test_big_endian), cmocka_unit_test(test_damage),
	};
	int failed = cmocka_run_group_tests_name("read here", tests, set_up, tear_down);

	/* Everything is the same when another process reads the files. */
	if (object_reader_start(OBJECT_READER_THIS_MACHINE, NULL) < 0)
		return 1;
	failed += cmocka_run_group_tests_name("read elsewhere", tests, set_up, tear_down);
	object_reader_stop();
	return failed;
}
