/* SPDX-License-Identifier: MIT */
/*
 * unpack: what the libraries packed comes out again; cuts and damage are errors, and so is what would
 * fill a disk. The same bytes go in and out, so the packers are the truth.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "convert/unpack.h"

#define PLAIN (300U * 1024) /* more than four pieces */
#define ROOM (1U << 20)

static uint8_t plain[PLAIN], packed[ROOM], out[ROOM];
static size_t n_packed, n_out;

static const enum recognised formats[] = { RECOGNISED_GZIP, RECOGNISED_XZ, RECOGNISED_ZSTD,
					   RECOGNISED_ATRACE };
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

static int take(void *context, const uint8_t *data, size_t len)
{
	const size_t *most = context;

	if (n_out + len > *most)
		return -EFBIG;
	memcpy(out + n_out, data, len);
	n_out += len;
	return 0;
}

static int unpack(enum recognised format, size_t len)
{
	struct error e = ERROR_INIT;
	size_t most = ROOM;
	int r;

	n_out = 0;
	r = unpack_bytes(format, (struct import_bytes){ packed, len }, take, &most, &e);
	if (r == -EBADMSG)
		assert_true(strlen(e.text) > 10);
	return r;
}

static void pack_zlib(size_t len, int window)
{
	z_stream z = { .next_in = plain,
		       .avail_in = (uInt)len,
		       .next_out = packed + n_packed,
		       .avail_out = ROOM };

	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	n_packed += z.total_out;
	deflateEnd(&z);
}

/* Adds `len` bytes of what is plain. */
static void pack(enum recognised format, size_t len)
{
	static const char atrace[] = "capturing trace... done\nTRACE:\n";

	if (format == RECOGNISED_GZIP) {
		pack_zlib(len, 15 + 16);
	} else if (format == RECOGNISED_ATRACE) {
		memcpy(packed, atrace, sizeof(atrace) - 1);
		n_packed = sizeof(atrace) - 1;
		pack_zlib(len, 15);
	} else if (format == RECOGNISED_XZ) {
		assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, plain, len,
							 packed, &n_packed, ROOM),
				 LZMA_OK);
	} else {
		size_t n = ZSTD_compress(packed + n_packed, ROOM - n_packed, plain, len, 1);

		assert_false(ZSTD_isError(n));
		n_packed += n;
	}
}

static int fill(void **state)
{
	uint32_t x = 1, i;

	(void)state;
	for (i = 0; i < PLAIN; i++) {
		x = x * 1103515245 + 12345;
		plain[i] = i % 3 ? (uint8_t)(i >> 8) : (uint8_t)(x >> 24);
	}
	return 0;
}

static void test_whole(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < FORMATS; i++) {
		n_packed = 0;
		pack(formats[i], PLAIN);
		assert_int_equal(recognise_bytes(packed, n_packed), formats[i]);
		assert_true(unpack_can(formats[i]));
		assert_int_equal(unpack(formats[i], n_packed), 0);
		assert_int_equal(n_out, PLAIN);
		assert_memory_equal(out, plain, PLAIN);
		n_packed = 0;
		pack(formats[i], 0);
		assert_int_equal(unpack(formats[i], n_packed), 0);
		assert_int_equal(n_out, 0);
	}
	assert_false(unpack_can(RECOGNISED_LZ4));
	assert_false(unpack_can(RECOGNISED_TEXT));
}

/* Two files, one behind the other, as `cat` makes them. */
static void test_two(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		n_packed = 0;
		pack(formats[i], 1000);
		pack(formats[i], 70000);
		assert_int_equal(unpack(formats[i], n_packed), 0);
		assert_int_equal(n_out, 71000);
		assert_memory_equal(out, plain, 1000);
		assert_memory_equal(out + 1000, plain, 70000);
	}
}

static void test_cut(void **state)
{
	size_t i, len, all;

	(void)state;
	for (i = 0; i < FORMATS; i++) {
		n_packed = 0;
		pack(formats[i], 5000);
		all = n_packed;
		for (len = formats[i] == RECOGNISED_ATRACE ? 33 : 6; len < all; len++)
			if (unpack(formats[i], len) != -EBADMSG)
				fail_msg("format %zu cut to %zu of %zu bytes is taken", i, len,
					 all);
	}
}

/* Whatever is flipped, it ends; and most of it is noticed, since all but zstd's have sums. */
static void test_flipped(void **state)
{
	size_t i, at, noticed;

	(void)state;
	for (i = 0; i < FORMATS; i++) {
		n_packed = 0;
		pack(formats[i], 3000);
		for (at = 40, noticed = 0; at < n_packed; at += 7) {
			packed[at] ^= 0x55;
			noticed += unpack(formats[i], n_packed) < 0;
			packed[at] ^= 0x55;
		}
		if (formats[i] != RECOGNISED_ZSTD)
			assert_int_equal(noticed, (n_packed - 40 + 6) / 7);
	}
}

/* Who takes what comes out can end it. */
static void test_stop(void **state)
{
	size_t i, most = 100000;

	(void)state;
	for (i = 0; i < FORMATS; i++) {
		n_packed = 0;
		pack(formats[i], PLAIN);
		n_out = 0;
		assert_int_equal(unpack_bytes(formats[i], (struct import_bytes){ packed, n_packed },
					      take, &most, NULL),
				 -EFBIG);
		assert_true(n_out <= most);
	}
}

static void test_file(void **state)
{
	struct error e = ERROR_INIT;
	size_t i;
	int fd;

	(void)state;
	for (i = 0; i < FORMATS; i++) {
		n_packed = 0;
		pack(formats[i], PLAIN);
		assert_int_equal(unpack_file(formats[i], (struct import_bytes){ packed, n_packed },
					     &fd, &e),
				 0);
		assert_int_equal(pread(fd, out, ROOM, 0), PLAIN);
		assert_memory_equal(out, plain, PLAIN);
		close(fd);
		assert_int_equal(unpack_file(formats[i],
					     (struct import_bytes){ packed, n_packed - 9 }, &fd,
					     &e),
				 -EBADMSG);
	}
}

/* 80 MiB of zeros in some KiB: more than the least that is allowed, and than the factor. */
static void test_bomb(void **state)
{
	const size_t len = UNPACK_LEAST + (16U << 20);
	void *zeros = calloc(1, len);
	struct error e = ERROR_INIT;
	int fd = -1;

	(void)state;
	assert_non_null(zeros);
	n_packed = 0;
	assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_NONE, NULL, zeros, len, packed,
						 &n_packed, ROOM),
			 LZMA_OK);
	free(zeros);
	assert_true(n_packed * UNPACK_FACTOR < 16U << 20);
	assert_int_equal(unpack_file(RECOGNISED_XZ, (struct import_bytes){ packed, n_packed }, &fd,
				     &e),
			 -EFBIG);
	assert_non_null(strstr(e.text, "300 times its size"));
	assert_int_equal(fd, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole), cmocka_unit_test(test_two),
		cmocka_unit_test(test_cut),   cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_stop),  cmocka_unit_test(test_file),
		cmocka_unit_test(test_bomb),
	};

	return cmocka_run_group_tests(tests, fill, NULL);
}
