/* SPDX-License-Identifier: MIT */
/* symcache: tables are made once and found again, by objects and kernels; damaged and old ones are made
 * anew; the longest unused go; a folder that cannot be written takes nothing away. */
#include "compiled.h"

#include <sys/wait.h>

#include "symbol/kallsyms.h"
#include "symbol/object_reader.h"

static const char *cache_path(const char *name)
{
	static char path[2][512];
	static unsigned turn;

	turn ^= 1;
	snprintf(path[turn], sizeof(path[turn]), "%s/cache%s%s", folder, *name ? "/" : "", name);
	return path[turn];
}

static struct symbols *make_cached(bool mangled)
{
	char cache[256];
	struct symbols_options o = { .cache = cache, .mangled = mangled };
	struct symbols *s = NULL;
	struct error e = ERROR_INIT;

	snprintf(cache, sizeof(cache), "%s", cache_path(""));
	assert_int_equal(symbols_new(&o, &s, &e), 0);
	return s;
}

static struct symcache *open_cache(uint64_t bytes_max)
{
	struct symcache *c = NULL;

	assert_int_equal(symcache_open(cache_path(""), bytes_max, &c, NULL), 0);
	return c;
}

static size_t count_tables(void)
{
	struct symcache *c = open_cache(0);
	struct symcache_row *rows = NULL;
	size_t n = 0;

	assert_int_equal(symcache_dup_rows(c, &rows, &n), 0);
	free(rows);
	symcache_close(c);
	return n;
}

static void compile(const char *name, const char *flags)
{
	assert_int_equal(command("rm -rf cache; cc -g -O1 -Wl,--build-id %s -o %s program.c", flags,
				 name),
			 0);
}

/* 0: as it should be. */
static int find_no_line(struct symbols *s, const struct run *r, int i,
			const struct elf_build_id *id)
{
	const struct func_mapping *m = maps_get(r->maps.mappings, r->maps.n, 0, r->address[i]);
	struct symbol_object o = { m->path, id->bytes, id->len };
	const char *file = NULL;
	uint32_t n, line = 0;

	assert_int_equal(symbols_add(s, &o, &n), 0);
	return symbols_find_line(s, n, r->address[i] - m->from + m->offset, &file, &line);
}

static void check_once(struct run *r, const struct elf_build_id *id, const char *problem)
{
	struct symbols *s = make_cached(false);

	expect_all(s, r, id);
	expect_problem(s, problem);
	symbols_free(s);
}

/* The second time without the file: the table is all that is needed, but for lines that nobody
 * asked for. */
static void test_object(void **state)
{
	struct elf_build_id id, other;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	compile("kept", "");
	run_program(&r, "", "kept");
	snprintf(path, sizeof(path), "%s/kept", folder);
	get_id(path, &id);
	check_once(&r, &id, NULL);
	assert_int_equal(count_tables(), 1);
	s = make_cached(false);
	expect_all(s, &r, &id);
	expect_line(s, &r, 0, &id, 3);
	symbols_free(s);
	assert_int_equal(command("rm kept"), 0);
	check_once(&r, &id, NULL);
	/* Another build-id is another object. */
	other = id;
	other.bytes[3] ^= 1;
	s = make_cached(false);
	assert_null(find(s, &r, 0, &other).name);
	expect_problem(s, "no file was found");
	symbols_free(s);
	assert_int_equal(count_tables(), object_reader_is_there() ? 2 : 1); /* its lines */
	maps_done(&r.maps);
}

/* The device told no build-id: the file's own is what it is kept under. */
static void test_untold(void **state)
{
	static struct run r;

	(void)state;
	compile("untold", "");
	run_program(&r, "", "untold");
	check_once(&r, NULL, "unchecked");
	assert_int_equal(count_tables(), 1);
	check_once(&r, NULL, "unchecked");
	assert_int_equal(command("cc -O1 -Wl,--build-id=none -o untold program.c"), 0);
	maps_done(&r.maps);
	run_program(&r, "", "untold");
	check_once(&r, NULL, "unchecked");
	assert_int_equal(count_tables(), 1); /* no build-id, no table */
	maps_done(&r.maps);
}

/* What a stripped object has is kept, and gives way to a debug file that turns up. */
static void test_partial(void **state)
{
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	compile("bare", "-rdynamic");
	snprintf(path, sizeof(path), "%s/bare", folder);
	assert_int_equal(command("cp bare whole && strip bare"), 0);
	run_program(&r, "", "bare");
	get_id(path, &id);
	for (int i = 0; i < 2; i++) {
		s = make_cached(false);
		assert_null(find(s, &r, 0, &id).name);
		assert_string_equal(find(s, &r, 1, &id).name, "visible");
		expect_problem(s, "is stripped");
		symbols_free(s);
	}
	assert_int_equal(command("mv bare away"), 0);
	s = make_cached(false);
	assert_null(find(s, &r, 0, &id).name);
	assert_string_equal(find(s, &r, 1, &id).name, "visible");
	expect_problem(s, "is stripped");
	symbols_free(s);
	assert_int_equal(command("mv whole bare"), 0);
	check_once(&r, &id, NULL);
	assert_int_equal(command("mv away bare"), 0);
	check_once(&r, &id, NULL); /* the better table stays */
	maps_done(&r.maps);
}

static void test_readable(void **state)
{
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	if (command("rm -rf cache; c++ -O1 -Wl,--build-id -o boxes program.cc") != 0)
		skip();
	run_program(&r, "", "boxes");
	snprintf(path, sizeof(path), "%s/boxes", folder);
	get_id(path, &id);
	for (int i = 0; i < 2; i++) {
		check_once(&r, &id, NULL);
		s = make_cached(true);
		assert_string_equal(find(s, &r, 0, &id).name, "_ZN5shape4areaEim");
		symbols_free(s);
	}
	maps_done(&r.maps);
}

/* Cut, changed, of another version, of another object: made again, and then whole. */
static void test_damaged(void **state)
{
	static const char *const damages[] = {
		"truncate -s -1 cache/*.ksym",
		"truncate -s 0 cache/*.ksym",
		"printf '\\002' | dd of=$(echo cache/*.ksym) bs=1 seek=8 conv=notrunc",
		"printf 'x' | dd of=$(echo cache/*.ksym) bs=1 seek=40 conv=notrunc",
		"f=$(echo cache/*.ksym); rm $f; mkdir $f.dir; ln -s /dev/zero $f",
		"f=$(echo cache/*.ksym); head -c 4096 /dev/urandom >$f",
	};
	struct elf_build_id id;
	static struct run r;
	char path[64];

	(void)state;
	compile("hurt", "");
	run_program(&r, "", "hurt");
	snprintf(path, sizeof(path), "%s/hurt", folder);
	get_id(path, &id);
	check_once(&r, &id, NULL);
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
		struct symcache *c = open_cache(0);
		struct symfile *f = NULL;

		assert_int_equal(command("%s", damages[i]), 0);
		assert_int_equal(symcache_get(c, SYMFILE_OBJECT, id.bytes, id.len, &f), 0);
		check_once(&r, &id, NULL);
		assert_int_equal(symcache_get(c, SYMFILE_OBJECT, id.bytes, id.len, &f), 1);
		assert_int_equal(symfile_check(f), 0);
		symfile_close(f);
		symcache_close(c);
	}
	maps_done(&r.maps);
}

static void put_table(struct symcache *c, uint8_t number, unsigned hours_ago)
{
	struct symtab *t = symtab_new();
	struct symtab_item item = { .start = 16, .end = 32, .name = "f", .name_len = 1 };
	struct symfile_source s = {
		.kind = SYMFILE_OBJECT, .id = &number, .id_len = 1, .table = t
	};
	struct symfile *f = NULL;

	assert_int_equal(symtab_push(t, &item), 0);
	assert_int_equal(symtab_index(t), 0);
	assert_int_equal(symcache_put(c, &s, &f, NULL), 1);
	assert_int_equal(command("touch -d '%u hours ago' cache/%02x.ksym", hours_ago, number), 0);
	symfile_close(f);
	symtab_free(t);
}

static bool has_table(struct symcache *c, uint8_t number)
{
	struct symfile *f = NULL;
	int r = symcache_get(c, SYMFILE_OBJECT, &number, 1, &f);

	assert_in_range(r, 0, 1);
	if (r)
		symfile_close(f);
	return r;
}

/* Using one counts: not the oldest goes, but the longest unused. */
static void test_ceiling(void **state)
{
	struct symcache *c;
	struct symcache_row *rows = NULL;
	uint64_t one;
	size_t n;

	(void)state;
	assert_int_equal(command("rm -rf cache"), 0);
	c = open_cache(0);
	put_table(c, 1, 30);
	assert_int_equal(symcache_dup_rows(c, &rows, &n), 0);
	assert_int_equal(n, 1);
	one = rows[0].bytes;
	free(rows);
	symcache_close(c);
	c = open_cache(3 * one);
	put_table(c, 2, 20);
	put_table(c, 3, 10);
	assert_true(has_table(c, 1));
	put_table(c, 4, 0);
	assert_false(has_table(c, 2));
	assert_true(has_table(c, 1) && has_table(c, 3) && has_table(c, 4));
	symcache_close(c);
	/* One that is larger than all is allowed stays alone. */
	c = open_cache(1);
	put_table(c, 5, 0);
	assert_true(has_table(c, 5));
	assert_int_equal(count_tables(), 1);
	/* What somebody left who died while he wrote goes, but not at once. */
	assert_int_equal(command("touch cache/aa.ksym.x1; touch -d '2 hours ago' cache/aa.ksym.x2"),
			 0);
	put_table(c, 6, 0);
	assert_int_equal(access(cache_path("aa.ksym.x1"), F_OK), 0);
	assert_int_equal(access(cache_path("aa.ksym.x2"), F_OK), -1);
	symcache_close(c);
}

/* Several processes at once, with the ceiling against them. */
static void test_crowd(void **state)
{
	pid_t child[4];
	int status;

	(void)state;
	assert_int_equal(command("rm -rf cache"), 0);
	for (int i = 0; i < 4; i++) {
		child[i] = fork();
		if (child[i])
			continue;
		struct symcache *c = open_cache(2000);

		for (int k = 0; k < 60; k++) {
			uint8_t number = (uint8_t)(k * 7 % 12);
			struct symfile_symbol s;
			struct symfile *f = NULL;
			struct symtab *t = symtab_new();
			struct symtab_item item = {
				.start = 16, .end = 32, .name = "f", .name_len = 1
			};
			struct symfile_source from = {
				.kind = SYMFILE_OBJECT, .id = &number, .id_len = 1, .table = t
			};

			symtab_push(t, &item);
			symtab_index(t);
			/* Made and removed by others at any time, but never half. */
			if (symcache_get(c, SYMFILE_OBJECT, &number, 1, &f) == 1 &&
			    (!symfile_find(f, 20, &s) || symfile_check(f) < 0))
				_exit(1);
			symfile_close(f);
			f = NULL;
			symcache_put(c, &from, &f, NULL);
			if (f && symfile_check(f) < 0)
				_exit(2);
			symfile_close(f);
			symtab_free(t);
		}
		symcache_close(c);
		_exit(0);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(waitpid(child[i], &status, 0), child[i]);
		assert_int_equal(status, 0);
	}
	assert_in_range(count_tables(), 1, 12);
}

/* Names come all the same, and the reason is said once. */
static void test_no_folder(void **state)
{
	struct elf_build_id id;
	static struct run r;
	char path[64];

	(void)state;
	compile("homeless", "");
	run_program(&r, "", "homeless");
	snprintf(path, sizeof(path), "%s/homeless", folder);
	get_id(path, &id);
	assert_int_equal(command("echo >cache"), 0);
	check_once(&r, &id, "tables of symbols are not kept: cannot open folder");
	assert_int_equal(command("rm cache"), 0);
	maps_done(&r.maps);
}

/* A full disk, where the tables would be. */
static void test_full(void **state)
{
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];
	int left;

	(void)state;
	compile("full", "");
	run_program(&r, "", "full");
	snprintf(path, sizeof(path), "%s/full", folder);
	get_id(path, &id);
	if (command("mkdir cache && mount -t tmpfs -o size=4096 none cache && head -c 4096 "
		    "/dev/zero >cache/filler") != 0) {
		print_message("[ NOTE     ] cannot mount a small disk here\n");
		skip();
	}
	s = make_cached(false);
	expect_all(s, &r, &id);
	left = command("test \"$(ls cache)\" = filler");
	assert_int_equal(command("umount cache"), 0);
	expect_problem(s, "tables of symbols are not kept: cannot write");
	assert_int_equal(left, 0);
	symbols_free(s);
	maps_done(&r.maps);
}

static const char kernel_text[] = "ffffffc008010000 T first\n"
				  "ffffffc008010040 t second\n"
				  "ffffffc008010080 D data\n"
				  "ffffffc000000000 t ext4_mount\t[ext4]\n"
				  "ffffffc000000100 t ext4_umount\t[ext4]\n"
				  "ffffffc000100000 t other\t[other]\n";

static void check_kernel(bool is_kept)
{
	struct symcache *c = open_cache(0);
	struct kallsyms_symbol s;
	struct kallsyms *k = NULL;
	char path[64];

	snprintf(path, sizeof(path), "%s/kallsyms", folder);
	assert_int_equal(count_tables(), is_kept ? 2 : 0);
	assert_int_equal(kallsyms_open(path, c, &k, NULL), 0);
	assert_int_equal(count_tables(), 2);
	assert_true(kallsyms_find(k, 0xffffffc008010044ULL, &s));
	assert_string_equal(s.name, "second");
	assert_null(s.module);
	assert_int_equal(s.start, 0xffffffc008010040ULL);
	assert_false(kallsyms_find(k, 0xffffffc008010080ULL, &s));
	assert_true(kallsyms_find(k, 0xffffffc000000004ULL, &s));
	assert_string_equal(s.name, "ext4_mount");
	assert_string_equal(s.module, "[ext4]");
	assert_true(kallsyms_find(k, 0xffffffc000000100ULL, &s));
	assert_string_equal(s.module, "[ext4]");
	assert_true(kallsyms_find(k, 0xffffffc000100000ULL, &s));
	assert_string_equal(s.module, "[other]");
	kallsyms_free(k);
	symcache_close(c);
}

static void test_kernel(void **state)
{
	(void)state;
	assert_int_equal(command("rm -rf cache"), 0);
	write_file("kallsyms", kernel_text);
	check_kernel(false);
	check_kernel(true);
	assert_int_equal(command("rm cache/*"), 0);
	check_kernel(false);
}

/* Files and lines have a table of their own, and need the file no more than names do. */
static void test_lines(void **state)
{
	struct elf_build_id id;
	struct symbols *s;
	static struct run r;
	char path[64];

	(void)state;
	compile("lined", "");
	run_program(&r, "", "lined");
	snprintf(path, sizeof(path), "%s/lined", folder);
	get_id(path, &id);
	for (int turn = 0; turn < 2; turn++) {
		s = make_cached(false);
		expect_line(s, &r, 0, &id, 3);
		expect_line(s, &r, 1, &id, 4);
		expect_problem(s, NULL);
		symbols_free(s);
		assert_int_equal(count_tables(), 2);
		assert_int_equal(command("ls cache/*.lines.ksym && rm -f lined"), 0);
	}
	/* One that is damaged counts as none. */
	assert_int_equal(command("for f in cache/*.lines.ksym; do echo >$f; done"), 0);
	s = make_cached(false);
	expect_all(s, &r, &id);
	assert_int_equal(find_no_line(s, &r, 0, &id), 0);
	symbols_free(s);
	maps_done(&r.maps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_object),	cmocka_unit_test(test_untold),
		cmocka_unit_test(test_partial), cmocka_unit_test(test_readable),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_crowd),	cmocka_unit_test(test_no_folder),
		cmocka_unit_test(test_full),	cmocka_unit_test(test_kernel),
	};
	const struct CMUnitTest lines[] = { cmocka_unit_test(test_lines) };
	int failed = cmocka_run_group_tests_name("read here", tests, set_up, tear_down);

	/* Everything is the same when another process reads the files. */
	if (object_reader_start(OBJECT_READER_THIS_MACHINE, NULL) < 0)
		return 1;
	failed += cmocka_run_group_tests_name("read elsewhere", tests, set_up, tear_down);
	failed += cmocka_run_group_tests_name("lines", lines, set_up, tear_down);
	object_reader_stop();
	return failed;
}
