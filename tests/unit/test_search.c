/* SPDX-License-Identifier: MIT */
/*
 * search: the right file, wherever it lies; and where there is only a wrong one, no name and one
 * reason.
 */
#include "compiled.h"
#include "symbol/object_reader.h"
#include "tools/emulator.h"

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
	if (emulator_is_there())
		skip(); /* it knows no openat2(), which keeps absolute links inside */
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

/* The object was given other addresses after its debug file was made, as prelink does. */
static void test_prelinked(void **state)
{
	static const char build[] =
		"cc -O1 -g -no-pie -fno-pie -Wl,--build-id=0x00112233445566778899"
		",-Ttext-segment=";
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/prelinked", folder);
	assert_int_equal(
		command("mkdir -p before && %s0x500000 -o before/prelinked.debug program.c && "
			"%s0x800000 -o prelinked program.c && strip prelinked",
			build, build),
		0);
	run_program(&r, "", "prelinked");
	get_id(path, &id);
	assert_int_equal(id.len, 10);
	s = make(NULL, "before", NULL);
	expect_all(s, &r, &id);
	expect_line(s, &r, 0, &id, 3);
	expect_problem(s, NULL);
	symbols_free(s);
	maps_done(&r.maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stripped),  cmocka_unit_test(test_debug_link),
		cmocka_unit_test(test_wrong_id),  cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_sysroot),	  cmocka_unit_test(test_debug_alone),
		cmocka_unit_test(test_prelinked),
	};
	int failed = cmocka_run_group_tests_name("read here", tests, set_up, tear_down);

	/* Everything is the same when another process reads the files. */
	if (object_reader_start(OBJECT_READER_THIS_MACHINE, NULL) < 0)
		return 1;
	failed += cmocka_run_group_tests_name("read elsewhere", tests, set_up, tear_down);
	object_reader_stop();
	return failed;
}
