/* SPDX-License-Identifier: MIT */
/* page: pages built by hand, of either endianness and both long sizes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ftrace/page.h"
#include "wire/loss.h"

#define SIZE 256

struct build {
	uint8_t bytes[SIZE];
	struct page_layout layout;
	size_t used; /* of the data */
};

static void put(const struct build *b, uint8_t *p, uint64_t v, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		p[i] = (uint8_t)(v >> 8 * (b->layout.big_endian ? size - 1 - i : i));
}

static void start(struct build *b, unsigned int long_size, bool big_endian, uint64_t stamp)
{
	memset(b, 0, sizeof(*b));
	page_layout_init(&b->layout, long_size, big_endian);
	put(b, b->bytes, stamp, 8);
}

static void word(struct build *b, uint32_t v)
{
	put(b, b->bytes + b->layout.data_offset + b->used, v, 4);
	b->used += 4;
}

static void head(struct build *b, uint32_t type, uint32_t delta)
{
	word(b, b->layout.big_endian ? type << 27 | delta : delta << 5 | type);
}

static void finish(struct build *b, uint32_t flags)
{
	put(b, b->bytes + 8, b->used | flags, b->layout.long_size);
}

static void expect(struct page *p, uint64_t stamp, uint32_t len, uint8_t first)
{
	struct page_record r;

	assert_int_equal(page_next(p, &r, NULL), 1);
	assert_true(r.stamp == stamp);
	assert_int_equal(r.len, len);
	assert_int_equal(r.data[0] | r.data[3], first); /* 32-bit words of either order */
}

static void check_records(unsigned int long_size, bool big_endian)
{
	const uint64_t base = 0xf800000000000000ULL | 1000;
	struct page_record r;
	struct build b;
	struct page p;

	start(&b, long_size, big_endian, base);
	head(&b, 1, 0); /* one word of data */
	word(&b, 0x11);
	head(&b, 2, 5); /* two */
	word(&b, 0x22);
	word(&b, 0);
	head(&b, PAGE_TYPE_TIME_EXTEND, 7);
	word(&b, 3);
	head(&b, 0, 1); /* long form: the length counts its own word */
	word(&b, 12);
	word(&b, 0x33);
	word(&b, 0);
	head(&b, PAGE_TYPE_PADDING, 2); /* a discarded event of two words */
	word(&b, 8);
	word(&b, 0);
	head(&b, PAGE_TYPE_TIME_STAMP, 9);
	word(&b, 1);
	head(&b, 1, 0);
	word(&b, 0x44);
	head(&b, PAGE_TYPE_PADDING, 0); /* the rest of the page is empty */
	word(&b, 0xffffffff);
	finish(&b, 0);
	assert_int_equal(page_open(&p, &b.layout, b.bytes, SIZE, NULL), 0);
	assert_true(p.missed == 0);
	assert_true(page_get_stamp(&b.layout, b.bytes) == base);
	expect(&p, base, 4, 0x11);
	expect(&p, base + 5, 8, 0x22);
	expect(&p, base + 5 + (3ULL << 27) + 7 + 1, 8, 0x33);
	expect(&p, 0xf800000000000000ULL | 1ULL << 27 | 9, 4, 0x44);
	assert_int_equal(page_next(&p, &r, NULL), 0);
	assert_int_equal(page_next(&p, &r, NULL), 0);
}

static void test_records(void **state)
{
	(void)state;
	check_records(8, false);
	check_records(4, false);
	check_records(8, true);
	check_records(4, true);
}

static uint64_t missed(struct build *b, uint32_t flags, uint64_t count)
{
	struct page p;

	finish(b, flags);
	put(b, b->bytes + b->layout.data_offset + b->used, count, b->layout.long_size);
	assert_int_equal(page_open(&p, &b->layout, b->bytes, SIZE, NULL), 0);
	return p.missed;
}

static void test_losses(void **state)
{
	unsigned int long_size;
	struct build b;
	int big;

	(void)state;
	for (long_size = 4; long_size <= 8; long_size += 4)
		for (big = 0; big < 2; big++) {
			start(&b, long_size, big, 1);
			head(&b, 1, 0);
			word(&b, 1);
			assert_true(missed(&b, 0, 77) == 0);
			assert_true(missed(&b, PAGE_MISSED, 77) == LOSS_UNKNOWN);
			assert_true(missed(&b, PAGE_MISSED_STORED, 77) == 0);
			assert_true(missed(&b, PAGE_MISSED | PAGE_MISSED_STORED, 77) == 77);
		}
	/* A full page has no room for the count. */
	start(&b, 8, false, 1);
	b.used = SIZE - b.layout.data_offset - 4;
	finish(&b, PAGE_MISSED | PAGE_MISSED_STORED);
	{
		struct page p;

		assert_int_equal(page_open(&p, &b.layout, b.bytes, SIZE, NULL), 0);
		assert_true(p.missed == LOSS_UNKNOWN);
	}
}

/* Reads to the end and returns how it ended. */
static int read_out(struct build *b, size_t len)
{
	struct error e = ERROR_INIT;
	struct page_record r;
	struct page p;
	bool is_open;
	int n;

	n = page_open(&p, &b->layout, b->bytes, len, &e);
	is_open = n >= 0;
	while (n >= 0 && (n = page_next(&p, &r, &e)) > 0)
		assert_true(r.data >= b->bytes && r.data + r.len <= b->bytes + len);
	if (n < 0)
		assert_true(strlen(e.text) > 10);
	if (n < 0 && is_open)
		assert_int_equal(page_next(&p, &r, NULL) > 0, 0);
	return n;
}

static void test_overruns(void **state)
{
	static const uint32_t types[] = {
		0, 1, 28, PAGE_TYPE_PADDING, PAGE_TYPE_TIME_EXTEND, PAGE_TYPE_TIME_STAMP
	};
	struct build b;
	size_t i;

	(void)state;
	start(&b, 8, false, 1);
	assert_int_equal(read_out(&b, 15), -EBADMSG);
	assert_int_equal(read_out(&b, 16), 0);
	b.used = SIZE;
	finish(&b, 0);
	assert_int_equal(read_out(&b, SIZE), -EBADMSG);
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		start(&b, 8, false, 1);
		head(&b, types[i], 1);
		finish(&b, 0);
		assert_int_equal(read_out(&b, SIZE), -EBADMSG);
	}
	for (i = 0; i < 2; i++) { /* long lengths, a length without its own word */
		start(&b, 8, false, 1);
		head(&b, 0, 1);
		word(&b, i ? 0xfffffffe : 0);
		finish(&b, 0);
		assert_int_equal(read_out(&b, SIZE), -EBADMSG);
	}
	start(&b, 8, false, 1);
	head(&b, PAGE_TYPE_PADDING, 1);
	word(&b, 8);
	finish(&b, 0);
	assert_int_equal(read_out(&b, SIZE), -EBADMSG);
	/* Its words end behind the data, which its bytes do not. */
	start(&b, 8, false, 1);
	head(&b, 0, 1);
	word(&b, 5);
	b.used += 2;
	finish(&b, 0);
	assert_int_equal(read_out(&b, SIZE), -EBADMSG);
	start(&b, 8, false, 1);
	b.used = 2;
	finish(&b, 0);
	assert_int_equal(read_out(&b, SIZE), -EBADMSG);
}

static void test_layout(void **state)
{
	static const char now[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				  "\tfield: local_t commit;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
				  "\tfield: char data;\toffset:12;\tsize:4084;\tsigned:1;\n";
	static const char old[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\n";
	struct page_layout l;

	(void)state;
	assert_int_equal(page_layout_parse(&l, now, strlen(now), true, NULL), 0);
	assert_int_equal(l.long_size, 4);
	assert_int_equal(l.data_offset, 12);
	assert_true(l.big_endian);
	assert_int_equal(page_layout_parse(&l, old, strlen(old), true, NULL), -EBADMSG);
	assert_int_equal(page_layout_parse(&l, "", 0, true, NULL), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_losses),
		cmocka_unit_test(test_overruns),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
