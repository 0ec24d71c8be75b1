/* SPDX-License-Identifier: MIT */
/* sample_meta_encode: what a profile says about itself, by the vector of docs/format/wire.md, sections 7.17 and 7.21. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/vector.h"
#include "wire/sample_meta_encode.h"

#define ROOM 4096U

static struct vector vector;
static uint8_t made[ROOM], wanted[ROOM];

static void expect(const uint8_t *end)
{
	size_t len = (size_t)(end - made), wanted_len = vector_bytes(&vector, wanted, ROOM), i;

	if (len == wanted_len && !memcmp(made, wanted, len))
		return;
	for (i = 0; i < len; i++)
		fprintf(stderr, "%02x", made[i]);
	fputc('\n', stderr);
	fail_msg("sample_meta.hex: other bytes than the vector's; made were those above");
}

static uint8_t *put_mappings(uint8_t *p)
{
	struct sample_mapping m = { .pid = 4711,
				    .tick = 1000000,
				    .from = 0xaaaad5c00000,
				    .to = 0xaaaad5c01000,
				    .build_id = { 0x8d, 0x7f, 0x1c, 0x0e },
				    .build_id_len = 4,
				    .path = "/usr/bin/editor",
				    .path_len = 15 };
	uint8_t *body = meta_item_begin(p, META_MAPPED);

	p = sample_meta_put_mapping(body, &m);
	m = (struct sample_mapping){
		.pid = -1, .tick = UINT64_MAX, .to = UINT64_MAX, .offset = 0x2000, .path = NULL
	};
	return meta_item_end(body, sample_meta_put_mapping(p, &m));
}

static uint8_t *put_lives(uint8_t *p)
{
	struct sample_life_row r = { .pid = 4711,
				     .parent = 12,
				     .tick = 999000,
				     .what = SAMPLE_LIFE_EXEC,
				     .comm = "editor",
				     .comm_len = 6 };
	uint8_t *body = meta_item_begin(p, META_LIFE);

	p = sample_meta_put_life(body, &r);
	r = (struct sample_life_row){ .pid = 4711, .tick = 2000000, .what = SAMPLE_LIFE_END };
	return meta_item_end(body, sample_meta_put_life(p, &r));
}

static void test_vector(void **state)
{
	struct sample_sampling s = { .period = 1000000,
				     .jitter = 50,
				     .collector = SAMPLE_BY_MODULE,
				     .method = SAMPLE_TIMER,
				     .exits = SAMPLE_EXITS_ARM64,
				     .has = SAMPLE_HAS_SWITCHES | SAMPLE_HAS_EXITS |
					    SAMPLE_HAS_WHOLE };
	struct sample_kernel_name k = { .from = 0xffff800080010000,
					.to = 0xffff800080010400,
					.name = "kvm_vcpu_halt [kvm]",
					.name_len = 19 };
	uint8_t *body;

	(void)state;
	vector_open(&vector, "sample_meta.hex");
	expect(sample_meta_put_sampling(made, &s));
	expect(put_mappings(made));
	expect(put_lives(made));
	body = meta_item_begin(made, META_KERNEL_NAMES);
	expect(meta_item_end(body, sample_meta_put_kernel_name(body, &k)));
}

static void test_pace(void **state)
{
	static const struct sample_pace_row rows[] = {
		{ 1000000, SAMPLE_PACE_GOES, 1000000 },
		{ 2000000, SAMPLE_PACE_GOES, 2000000 },
		{ 3000000, SAMPLE_PACE_PAUSES, 0 },
		{ 25000000, SAMPLE_PACE_STOPPED, 0 },
	};
	uint8_t *body, *p;
	size_t i;

	(void)state;
	vector_open(&vector, "sample_pace.hex");
	p = body = meta_item_begin(made, META_PACE);
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		p = sample_meta_put_pace(p, &rows[i]);
	expect(meta_item_end(body, p));
}

/* A row of the largest numbers has room in what the header says. */
static void test_room(void **state)
{
	struct sample_mapping m = { .pid = INT32_MIN,
				    .tick = UINT64_MAX,
				    .from = UINT64_MAX,
				    .to = UINT64_MAX - 1,
				    .offset = UINT64_MAX,
				    .build_id_len = SAMPLE_BUILD_ID_MAX };
	struct sample_sampling s = { UINT64_MAX, UINT32_MAX, UINT8_MAX,
				     UINT8_MAX,	 UINT8_MAX,  UINT32_MAX };

	(void)state;
	assert_true(sample_meta_put_mapping(made, &m) - made <= (int)SAMPLE_META_ROW_ROOM);
	assert_true(sample_meta_put_sampling(made, &s) - made <= (int)SAMPLE_META_ROW_ROOM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector),
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests_name("sample_meta_encode", tests, NULL, NULL);
}
