/* SPDX-License-Identifier: MIT */
/* What lay where in whom, and when: reuse of numbers, fork, exec, maps over maps, and rows out of metadata. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace/sample_spaces.h"
#include "wire/sample_meta_encode.h"

static struct sample_spaces *spaces;

static int set_up(void **state)
{
	(void)state;
	return sample_spaces_new(&spaces);
}

static int tear_down(void **state)
{
	(void)state;
	sample_spaces_free(spaces);
	return 0;
}

static void map(int32_t pid, uint64_t tick, uint64_t from, uint64_t to, const char *path)
{
	struct sample_mapping m = { .pid = pid,
				    .tick = tick,
				    .from = from,
				    .to = to,
				    .path = path,
				    .path_len = (uint32_t)strlen(path) };

	assert_int_equal(sample_spaces_add_mapping(spaces, &m), 0);
}

static void live(int32_t pid, int32_t parent, uint64_t tick, enum sample_life what)
{
	struct sample_life_row l = { .pid = pid,
				     .parent = parent,
				     .tick = tick,
				     .what = (uint8_t)what,
				     .comm = "name",
				     .comm_len = 4 };

	assert_int_equal(sample_spaces_add_life(spaces, &l), 0);
}

/* What is there then; "" for nothing. */
static const char *at(int32_t pid, uint64_t tick, uint64_t address)
{
	const struct sample_mapping *m = sample_spaces_get(spaces, pid, tick, address);

	return m ? m->path : "";
}

static void test_maps_over_maps(void **state)
{
	struct sample_span span;

	(void)state;
	map(1, 50, 0x1800, 0x2800, "b"); /* said before the earlier one */
	map(1, 10, 0x1000, 0x2000, "a");
	map(1, 50, 0x1c00, 0x1d00, "c"); /* at the same tick, later */
	sample_spaces_settle(spaces);
	assert_string_equal(at(1, 9, 0x1000), "");
	assert_string_equal(at(1, 10, 0x1000), "a");
	assert_string_equal(at(1, 49, 0x1fff), "a");
	assert_string_equal(at(1, 50, 0x1fff), "b");
	assert_string_equal(at(1, 50, 0x1c80), "c");
	assert_string_equal(at(1, 99, 0x17ff), "a");
	assert_string_equal(at(1, 99, 0x2800), "");
	assert_string_equal(at(2, 99, 0x1000), "");
	assert_string_equal(sample_spaces_find(spaces, 1, 20, 0x1900, &span)->path, "a");
	assert_int_equal(span.since, 10);
	assert_int_equal(span.until, 50);
	assert_null(sample_spaces_find(spaces, 1, 3, 0x1900, &span));
	assert_int_equal(span.since, 0);
	assert_int_equal(span.until, 10);
	assert_string_equal(at(1, UINT64_MAX, 0x1900), "b");
}

static void test_fork_and_exec(void **state)
{
	struct sample_span span;

	(void)state;
	map(1, 0, 0x1000, 0x2000, "old");
	live(2, 1, 100, SAMPLE_LIFE_START);
	map(1, 150, 0x1000, 0x2000, "new"); /* of the parent, after the fork */
	map(2, 160, 0x5000, 0x6000, "own");
	live(2, 1, 200, SAMPLE_LIFE_EXEC);
	map(2, 200, 0x9000, 0xa000, "program");
	live(3, 2, 180, SAMPLE_LIFE_START);
	live(1, 1, 120, SAMPLE_LIFE_START); /* a thread: nothing changes */
	sample_spaces_settle(spaces);
	assert_string_equal(at(2, 99, 0x1000), "");
	assert_string_equal(at(2, 100, 0x1000), "old");
	assert_string_equal(at(2, 199, 0x1000), "old");
	assert_string_equal(at(1, 160, 0x1000), "new");
	assert_string_equal(at(2, 170, 0x5000), "own");
	assert_string_equal(at(2, 200, 0x1000), "");
	assert_string_equal(at(2, 200, 0x9000), "program");
	/* The child of a child has what both had. */
	assert_string_equal(at(3, 300, 0x1000), "old");
	assert_string_equal(at(3, 300, 0x5000), "own");
	assert_string_equal(at(3, 300, 0x9000), "");
	assert_string_equal(sample_spaces_find(spaces, 2, 150, 0x1000, &span)->path, "old");
	assert_int_equal(span.since, 100);
	assert_int_equal(span.until, 200);
	assert_int_equal(sample_spaces_life(spaces, 2, 300), 0);
	assert_string_equal(sample_spaces_comm(spaces, 2, 300), "name");
	assert_null(sample_spaces_comm(spaces, 1, 300));
}

static void test_reuse(void **state)
{
	(void)state;
	map(7, 0, 0x1000, 0x2000, "first");
	live(7, 1, 100, SAMPLE_LIFE_END);
	live(7, 9, 200, SAMPLE_LIFE_START);
	live(7, 9, 200, SAMPLE_LIFE_START); /* said again */
	map(7, 210, 0x3000, 0x4000, "second");
	map(9, 0, 0x8000, 0x9000, "parent");
	live(7, 9, 300, SAMPLE_LIFE_END);
	live(7, 8, 300, SAMPLE_LIFE_START);
	sample_spaces_settle(spaces);
	assert_string_equal(at(7, 99, 0x1000), "first");
	assert_string_equal(at(7, 100, 0x1000), "");
	assert_string_equal(at(7, 250, 0x1000), "");
	assert_string_equal(at(7, 250, 0x3000), "second");
	assert_string_equal(at(7, 250, 0x8000), "parent");
	assert_string_equal(at(7, 300, 0x3000), "");
	assert_string_equal(at(7, 300, 0x8000), "");
	assert_int_equal(sample_spaces_life(spaces, 7, 99), 0);
	assert_int_equal(sample_spaces_life(spaces, 7, 150), 0);
	assert_int_equal(sample_spaces_life(spaces, 7, 200), 1);
	assert_int_equal(sample_spaces_life(spaces, 7, 400), 2);
}

static void call(int32_t pid, uint64_t tick, enum sample_life what, const char *comm)
{
	struct sample_life_row l = { .pid = pid,
				     .parent = 1,
				     .tick = tick,
				     .what = (uint8_t)what,
				     .comm = comm,
				     .comm_len = (uint32_t)strlen(comm) };

	assert_int_equal(sample_spaces_add_life(spaces, &l), 0);
}

/* A process is called as it was last called, and its number may be used again. */
static void test_last_comm(void **state)
{
	(void)state;
	call(7, 100, SAMPLE_LIFE_START, "sh");
	call(7, 110, SAMPLE_LIFE_EXEC, "make");
	call(7, 200, SAMPLE_LIFE_END, "");
	call(7, 300, SAMPLE_LIFE_START, "sh");
	call(8, 10, SAMPLE_LIFE_EXEC, "other");
	sample_spaces_settle(spaces);
	assert_string_equal(sample_spaces_comm(spaces, 7, 105), "sh");
	assert_string_equal(sample_spaces_last_comm(spaces, 7, 105), "make");
	assert_string_equal(sample_spaces_last_comm(spaces, 7, 250), "make");
	assert_string_equal(sample_spaces_last_comm(spaces, 7, 300), "sh");
	assert_string_equal(sample_spaces_last_comm(spaces, 7, 0), "make");
	assert_null(sample_spaces_last_comm(spaces, 9, 300));
}

/* A circle of parents, which only a wrong recorder makes, has an end. */
static void test_circle(void **state)
{
	(void)state;
	live(5, 6, 10, SAMPLE_LIFE_START);
	live(6, 5, 10, SAMPLE_LIFE_START);
	sample_spaces_settle(spaces);
	assert_string_equal(at(5, 20, 0x1000), "");
}

static void name(uint64_t from, uint64_t to, const char *text)
{
	struct sample_kernel_name k = { from, to, text, (uint32_t)strlen(text) };

	assert_int_equal(sample_spaces_add_kernel(spaces, &k), 0);
}

static const char *kernel_at(uint64_t address)
{
	const struct sample_kernel_name *k = sample_spaces_get_kernel(spaces, address);

	return k ? k->name : "";
}

static void test_kernel(void **state)
{
	(void)state;
	name(0x2000, 0x2100, "b");
	name(0x1000, 0x1100, "a [mod]");
	name(0x1000, 0x1100, "a [mod]");
	name(0x2080, 0x2200, "c");
	sample_spaces_settle(spaces);
	assert_string_equal(kernel_at(0xfff), "");
	assert_string_equal(kernel_at(0x10ff), "a [mod]");
	assert_string_equal(kernel_at(0x1100), "");
	assert_string_equal(kernel_at(0x207f), "b");
	assert_string_equal(kernel_at(0x2080), "c");
	assert_string_equal(kernel_at(0x21ff), "c");
	assert_string_equal(kernel_at(0x2200), "");
}

/* As it is written, so it is read; and no prefix of it is taken for all of it. */
static void test_decode(void **state)
{
	struct sample_sampling s = { .period = 1000000,
				     .jitter = 50,
				     .method = SAMPLE_CYCLES,
				     .has = SAMPLE_HAS_CHAINS },
			       back = { 0 };
	struct sample_mapping m = { .pid = -3,
				    .tick = 77,
				    .from = 0x1000,
				    .to = 0x2000,
				    .offset = 0x400,
				    .build_id = { 1, 2, 3 },
				    .build_id_len = 3,
				    .path = "/bin/x",
				    .path_len = 6 };
	struct sample_life_row l = { 4, -3, 100, SAMPLE_LIFE_START, "x\n", 2 };
	struct sample_kernel_name k = { 0xffff000000000000, 0xffff000000000010, "f", 1 };
	const struct sample_mapping *got;
	uint8_t bytes[512], *p = bytes, *body;
	size_t len, i;

	(void)state;
	p = sample_meta_put_sampling(p, &s);
	body = meta_item_begin(p, META_MAPPED);
	p = meta_item_end(body, sample_meta_put_mapping(body, &m));
	body = meta_item_begin(p, META_LIFE);
	p = meta_item_end(body, sample_meta_put_life(body, &l));
	body = meta_item_begin(p, META_KERNEL_NAMES);
	p = meta_item_end(body, sample_meta_put_kernel_name(body, &k));
	len = (size_t)(p - bytes);
	assert_int_equal(sample_spaces_decode(spaces, &back, bytes, len), 0);
	sample_spaces_settle(spaces);
	assert_int_equal(back.period, 1000000);
	assert_int_equal(back.jitter, 50);
	assert_int_equal(back.method, SAMPLE_CYCLES);
	assert_int_equal(back.has, SAMPLE_HAS_CHAINS);
	got = sample_spaces_get(spaces, 4, 200, 0x1fff);
	assert_non_null(got);
	assert_string_equal(got->path, "/bin/x");
	assert_int_equal(got->offset, 0x400);
	assert_memory_equal(got->build_id, m.build_id, 3);
	assert_string_equal(sample_spaces_comm(spaces, 4, 200), "x?");
	assert_string_equal(kernel_at(0xffff00000000000f), "f");
	/* Cut anywhere but between two items it is damaged. */
	for (i = 1; i < len; i++) {
		struct sample_spaces *other;
		int r;

		assert_int_equal(sample_spaces_new(&other), 0);
		r = sample_spaces_decode(other, &back, bytes, i);
		assert_true(r == 0 || r == -EBADMSG);
		sample_spaces_free(other);
	}
	m.to = m.from;
	assert_true(sample_spaces_add_mapping(spaces, &m) < 0);
	m.to = m.from + 1;
	m.path_len = SAMPLE_PATH_MAX + 1;
	assert_true(sample_spaces_add_mapping(spaces, &m) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_maps_over_maps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_fork_and_exec, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_reuse, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_last_comm, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_circle, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_kernel, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_decode, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
