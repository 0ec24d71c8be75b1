/* SPDX-License-Identifier: MIT */
/* perf_record: each kind of record as the kernel writes it, and with lengths that lie. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/profile/perf_record.h"

struct bytes {
	uint8_t at[2048];
	uint32_t len;
};

static void put(struct bytes *b, const void *v, uint32_t len)
{
	memcpy(b->at + b->len, v, len);
	b->len += len;
}

static void put32(struct bytes *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put64(struct bytes *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

static void begin(struct bytes *b, uint32_t type, uint16_t misc)
{
	uint16_t none = 0;

	memset(b, 0, sizeof(*b));
	put32(b, type);
	put(b, &misc, sizeof(misc));
	put(b, &none, sizeof(none));
}

/* Task, time and CPU, and the length. */
static void end(struct bytes *b, int with_trailer)
{
	uint16_t len;

	if (with_trailer) {
		put32(b, 70);
		put32(b, 71);
		put64(b, 123456789);
		put32(b, 3);
		put32(b, 0);
	}
	len = (uint16_t)b->len;
	memcpy(b->at + 6, &len, sizeof(len));
}

static void put_sample(struct bytes *b, uint16_t misc)
{
	begin(b, PERF_SAMPLE, misc);
	put64(b, 0x1000);
	put32(b, 10);
	put32(b, 11);
	put64(b, 5000);
	put32(b, 2);
	put32(b, 0);
	put64(b, 1000003);
}

static int parse(struct perf_record *r, const struct bytes *b)
{
	/* Memory of exactly this size, so that a step beyond is noticed. */
	uint8_t *copy = test_malloc(b->len);
	int got;

	memcpy(copy, b->at, b->len);
	got = perf_record_parse(r, copy, b->len, true);
	test_free(copy);
	return got;
}

static void test_samples(void **state)
{
	struct perf_record r;
	struct bytes b;

	(void)state;
	put_sample(&b, PERF_MISC_KERNEL);
	put64(&b, 7);
	put64(&b, PERF_CONTEXT_KERNEL_MARK);
	put64(&b, 0x1000);
	put64(&b, 0x2000);
	put64(&b, PERF_CONTEXT_USER_MARK);
	put64(&b, 0x30);
	put64(&b, 0x40);
	put64(&b, 0x50);
	end(&b, 0);
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.mode, SAMPLE_KERNEL);
	assert_int_equal(r.pid, 10);
	assert_int_equal(r.tid, 11);
	assert_int_equal(r.time, 5000);
	assert_int_equal(r.cpu, 2);
	assert_int_equal(r.period, 1000003);
	assert_int_equal(r.n_kernel, 2);
	assert_int_equal(r.n_user, 3);
	assert_int_equal(r.chain[1], 0x2000);
	assert_int_equal(r.chain[4], 0x50);
	assert_int_equal(perf_record_time_at(b.at, b.len), 24);

	/* A chain with nothing in it: the place is known all the same. */
	put_sample(&b, PERF_MISC_USER);
	put64(&b, 0);
	end(&b, 0);
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.n_user, 1);
	assert_int_equal(r.n_kernel, 0);
	assert_int_equal(r.chain[0], 0x1000);

	/* In a program of a guest. */
	put_sample(&b, PERF_MISC_GUEST_USER);
	put64(&b, 0);
	end(&b, 0);
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.mode, SAMPLE_GUEST_USER);
}

static void test_chains_that_lie(void **state)
{
	struct perf_record r;
	struct bytes b;
	uint32_t i;

	(void)state;
	put_sample(&b, PERF_MISC_USER);
	put64(&b, 1ULL << 60);
	end(&b, 0);
	assert_int_equal(parse(&r, &b), -EBADMSG);
	put_sample(&b, PERF_MISC_USER);
	put64(&b, 2);
	put64(&b, PERF_CONTEXT_USER_MARK);
	end(&b, 0);
	assert_int_equal(parse(&r, &b), -EBADMSG);

	/* More than there is room for, the kernel's behind the program's, addresses of nobody. */
	put_sample(&b, PERF_MISC_USER);
	put64(&b, 205);
	put64(&b, 0x99);
	put64(&b, PERF_CONTEXT_USER_MARK);
	for (i = 0; i < 200; i++)
		put64(&b, 0x100 + i);
	put64(&b, PERF_CONTEXT_KERNEL_MARK);
	put64(&b, 0x77);
	put64(&b, 0x78);
	end(&b, 0);
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.n_kernel, 0);
	assert_int_equal(r.n_user, SAMPLE_CHAIN_MAX);
	assert_int_equal(r.chain[SAMPLE_CHAIN_MAX - 1], 0x100 + SAMPLE_CHAIN_MAX - 1);
	put_sample(&b, PERF_MISC_USER);
	put64(&b, 5);
	put64(&b, PERF_CONTEXT_USER_MARK);
	put64(&b, 0x30);
	put64(&b, PERF_CONTEXT_KERNEL_MARK);
	put64(&b, 0x77);
	put64(&b, 0x78);
	end(&b, 0);
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.n_kernel, 0);
	assert_int_equal(r.n_user, 1);
	assert_int_equal(r.chain[0], 0x30);
}

static void put_map(struct bytes *b, uint16_t misc, const void *id, const char *path)
{
	begin(b, PERF_MMAP2, misc);
	put32(b, 20);
	put32(b, 21);
	put64(b, 0x400000);
	put64(b, 0x2000);
	put64(b, 0x1000);
	put(b, id, 24);
	put64(b, 0);
	put(b, path, 16);
	end(b, 1);
}

static void test_mappings(void **state)
{
	uint8_t id[24] = { 20, 0, 0, 0, 1, 2, 3 };
	struct perf_record r;
	struct bytes b;

	(void)state;
	put_map(&b, PERF_MISC_BUILD_ID, id, "/usr/bin/x\0\0\0\0\0");
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.map.pid, 20);
	assert_int_equal(r.map.from, 0x400000);
	assert_int_equal(r.map.to, 0x402000);
	assert_int_equal(r.map.offset, 0x1000);
	assert_int_equal(r.map.build_id_len, 20);
	assert_int_equal(r.map.build_id[2], 3);
	assert_int_equal(r.map.path_len, 10);
	assert_int_equal(r.time, 123456789);

	id[0] = 24; /* longer than one can be */
	put_map(&b, PERF_MISC_BUILD_ID, id, "0123456789abcdef");
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.map.build_id_len, 0);
	assert_int_equal(r.map.path_len, 16);

	memset(id, 0, sizeof(id));
	id[0] = 8;
	memcpy(id + 8, &(uint64_t){ 4711 }, 8);
	put_map(&b, 0, id, "/usr/bin/x\0\0\0\0\0");
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.inode, 4711);
	assert_true(r.device != 0);

	memcpy(b.at + 16, &(uint64_t){ UINT64_MAX - 5 }, 8);
	assert_int_equal(parse(&r, &b), -EBADMSG);
}

static void test_tasks(void **state)
{
	struct perf_record r;
	struct bytes b;

	(void)state;
	begin(&b, PERF_COMM, PERF_MISC_EXEC);
	put32(&b, 5);
	put32(&b, 6);
	put(&b, "a name\0", 8);
	end(&b, 1);
	assert_int_equal(parse(&r, &b), 1);
	assert_string_equal(r.comm, "a name");
	assert_int_equal(r.pid, 5);
	assert_int_equal(r.tid, 6);
	assert_true(r.misc & PERF_MISC_EXEC);

	begin(&b, PERF_FORK, 0);
	put32(&b, 8);
	put32(&b, 5);
	put32(&b, 9);
	put32(&b, 6);
	put64(&b, 1);
	end(&b, 1);
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.pid, 8);
	assert_int_equal(r.parent, 5);
	assert_int_equal(r.tid, 9);
	assert_int_equal(r.parent_tid, 6);

	begin(&b, PERF_SWITCH_WIDE, PERF_MISC_OUT);
	put32(&b, 40);
	put32(&b, 41);
	end(&b, 1);
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.tid, 71);
	assert_int_equal(r.other_tid, 41);

	begin(&b, PERF_LOST, 0);
	put64(&b, 1);
	put64(&b, 99);
	end(&b, 1);
	assert_int_equal(parse(&r, &b), 1);
	assert_int_equal(r.count, 99);
	assert_int_equal(perf_record_time_at(b.at, b.len), b.len - 16);
}

static void test_others(void **state)
{
	struct perf_record r;
	struct bytes b;
	uint32_t len;

	(void)state;
	begin(&b, 17, 0);
	put64(&b, 0);
	end(&b, 1);
	assert_int_equal(parse(&r, &b), 0);
	begin(&b, 70000, 0);
	end(&b, 1);
	assert_int_equal(parse(&r, &b), 0);

	/* Every length of a whole one. */
	put_sample(&b, PERF_MISC_USER);
	put64(&b, 1);
	put64(&b, PERF_CONTEXT_USER_MARK);
	end(&b, 0);
	for (len = b.len - 8; len >= 8; len -= 8) {
		b.len = len;
		assert_int_equal(parse(&r, &b), -EBADMSG);
	}
	assert_int_equal(perf_record_length(b.at, 1000), 64);
	assert_int_equal(perf_record_length(b.at, 63), 0);
	assert_int_equal(perf_record_length(b.at, 7), 0);
	b.at[6] = 4;
	assert_int_equal(perf_record_length(b.at, 1000), 0);
	b.at[6] = 33;
	assert_int_equal(perf_record_length(b.at, 1000), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),	 cmocka_unit_test(test_chains_that_lie),
		cmocka_unit_test(test_mappings), cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
