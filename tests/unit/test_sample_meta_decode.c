/* SPDX-License-Identifier: MIT */
/*
 * sample_meta_decode: rows of what a profile says about itself come back as they were put; cut anywhere they are none, and a number
 * that is larger than its field, or a text longer than its ceiling, makes a row none, too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/sample_meta_decode.h"
#include "wire/sample_meta_encode.h"
#include "wire/sched_event.h"

#define LARGE (1ULL << 40) /* too much for any field of 32 bits */

static uint8_t made[2 * SAMPLE_META_TEXT_MAX];

static union {
	struct sample_sampling sampling;
	struct sample_mapping mapping;
	struct sample_life_row life;
	struct sample_kernel_name kernel_name;
	struct sample_pace_row pace;
	struct sample_table_row table;
	struct guest_link_row link;
} got;

static bool get_sampling(struct byte_reader *r)
{
	return sample_meta_get_sampling(r, &got.sampling);
}

static bool get_mapping(struct byte_reader *r)
{
	return sample_meta_get_mapping(r, &got.mapping);
}

static bool get_life(struct byte_reader *r)
{
	return sample_meta_get_life(r, &got.life);
}

static bool get_kernel_name(struct byte_reader *r)
{
	return sample_meta_get_kernel_name(r, &got.kernel_name);
}

static bool get_pace(struct byte_reader *r)
{
	return sample_meta_get_pace(r, &got.pace);
}

static bool get_table(struct byte_reader *r)
{
	return sample_meta_get_table(r, &got.table);
}

static bool get_link(struct byte_reader *r)
{
	return sample_meta_get_link(r, &got.link);
}

/* The row that ends there is one, and none if it is cut. */
static void expect(const uint8_t *end, bool (*get)(struct byte_reader *r))
{
	struct byte_reader r;
	size_t len = (size_t)(end - made), cut;

	for (cut = 0; cut < len; cut++) {
		reader_init(&r, made, cut);
		if (get(&r))
			fail_msg("a row that is cut at %zu of %zu was taken", cut, len);
	}
	reader_init(&r, made, len);
	assert_true(get(&r));
	assert_int_equal(reader_left(&r), 0);
}

/* Numbers one after the other, as a row without texts has them. */
static bool take(bool (*get)(struct byte_reader *r), const uint64_t *numbers, size_t n)
{
	struct byte_reader r;
	uint8_t *p = made;
	size_t i;

	for (i = 0; i < n; i++)
		p = varint_put(p, numbers[i]);
	reader_init(&r, made, (size_t)(p - made));
	return get(&r);
}

static void test_rows(void **state)
{
	struct sample_mapping m = { -1, 9, 4096, 8192, 7, { 1, 2, 3 }, 3, "/bin/true", 9 };
	struct sample_life_row life = { 4711, -12, 9, SAMPLE_LIFE_EXEC, "editor", 6 };
	struct sample_kernel_name k = { UINT64_MAX - 5, UINT64_MAX, "a [kvm]", 7 };
	struct sample_pace_row pace = { UINT64_MAX, SAMPLE_PACE_GOES, 1000000 };
	struct sample_table_row t = { 5, 6, 9, true, 0x1000, 0x2000, "x", 1 };
	struct guest_link_row link = { 9, GUEST_LINK_CLOCK, 300, "vm", 2 };

	(void)state;
	expect(sample_meta_put_mapping(made, &m), get_mapping);
	assert_int_equal(got.mapping.pid, -1);
	assert_int_equal(got.mapping.to, 8192);
	assert_memory_equal(got.mapping.build_id, m.build_id, 3);
	assert_memory_equal(got.mapping.path, "/bin/true", 9);
	expect(sample_meta_put_life(made, &life), get_life);
	assert_int_equal(got.life.parent, -12);
	expect(sample_meta_put_kernel_name(made, &k), get_kernel_name);
	assert_true(got.kernel_name.to == UINT64_MAX);
	expect(sample_meta_put_pace(made, &pace), get_pace);
	assert_true(got.pace.tick == UINT64_MAX && got.pace.period == 1000000);
	expect(sample_meta_put_table(made, &t), get_table);
	assert_true(got.table.is_end && got.table.task == 0x2000);
	expect(guest_link_put(made, &link), get_link);
	assert_int_equal(got.link.error_ns, 300);
}

static void test_sampling(void **state)
{
	static const uint64_t most[] = { UINT64_MAX, UINT32_MAX, UINT8_MAX,
					 UINT8_MAX,  UINT8_MAX,	 UINT32_MAX };
	uint64_t numbers[6];
	size_t i;

	(void)state;
	assert_true(take(get_sampling, most, 6));
	assert_true(got.sampling.period == UINT64_MAX && got.sampling.has == UINT32_MAX);
	assert_false(take(get_sampling, most, 5));
	for (i = 1; i < 6; i++) {
		memcpy(numbers, most, sizeof(numbers));
		numbers[i]++;
		assert_false(take(get_sampling, numbers, 6));
	}
	got.sampling = (struct sample_sampling){ .has = SAMPLE_HAS_SWITCHES };
	assert_false(sample_sampling_has_guests(&got.sampling));
	got.sampling.exits = SAMPLE_EXITS_SVM;
	assert_true(sample_sampling_has_guests(&got.sampling));
	got.sampling = (struct sample_sampling){ .has = SAMPLE_HAS_GUESTS };
	assert_true(sample_sampling_has_guests(&got.sampling));
}

/* A zigzag number of the process, and what stands behind it in each kind of row. */
static void test_numbers(void **state)
{
	static const uint64_t pid[] = { LARGE, 1, 1, 1, 1, 0, 0 };
	static const uint64_t second[] = { 2, LARGE, 1, 1, 1, 0, 0 };
	static const uint64_t empty[] = { 2, 1, 1, 0, 1, 0, 0 };
	static const uint64_t wraps[] = { 2, 1, UINT64_MAX, 1, 1, 0, 0 };
	static const uint64_t what[] = { 2, 2, 1, SAMPLE_LIFE_END + 1, 0 };
	static const uint64_t pace[] = { 1, UINT8_MAX + 1, 1, 0 };

	(void)state;
	assert_false(take(get_mapping, pid, 7));
	assert_false(take(get_life, pid, 7));
	assert_false(take(get_table, pid, 7));
	assert_false(take(get_life, second, 7));
	assert_false(take(get_table, second, 7));
	assert_false(take(get_mapping, empty, 7));
	assert_false(take(get_mapping, wraps, 7));
	assert_false(take(get_life, what, 5));
	assert_false(take(get_pace, pace, 3));
	assert_false(take(get_link, pace, 4));
}

static void test_texts(void **state)
{
	static char text[SAMPLE_META_TEXT_MAX + 1];
	struct sample_kernel_name k = { 1, 2, text, SAMPLE_META_TEXT_MAX };
	struct sample_table_row t = { .comm = text, .comm_len = SCHED_COMM_LEN };
	struct sample_mapping m = { .to = 1, .build_id_len = SAMPLE_BUILD_ID_MAX };
	struct guest_link_row link = { .note = text, .note_len = GUEST_LINK_NOTE_MAX + 1 };
	struct byte_reader r;
	uint8_t *end;

	(void)state;
	expect(sample_meta_put_kernel_name(made, &k), get_kernel_name);
	k.name_len++;
	reader_init(&r, made, (size_t)(sample_meta_put_kernel_name(made, &k) - made));
	assert_false(get_kernel_name(&r));
	expect(sample_meta_put_table(made, &t), get_table);
	t.comm_len++;
	reader_init(&r, made, (size_t)(sample_meta_put_table(made, &t) - made));
	assert_false(get_table(&r));
	expect(guest_link_put(made, &link), get_link); /* who writes cuts it */
	assert_int_equal(got.link.note_len, GUEST_LINK_NOTE_MAX);
	end = sample_meta_put_mapping(made, &m);
	expect(end, get_mapping);
	made[5]++; /* pid, tick, from, size, offset: a build-id that is longer than any */
	reader_init(&r, made, (size_t)(end - made) + 1);
	assert_false(get_mapping(&r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_sampling),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests_name("sample_meta_decode", tests, NULL, NULL);
}
