/* SPDX-License-Identifier: MIT */
/* Bodies of answers: memory, files, and encoded in both ways, pulled in pieces of any size. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "collector/http_body.h"
#include "collector/tar.h"

#define LEN 300000U

static char *make_text(void)
{
	char *text = malloc(LEN);
	uint32_t i, x = 1;

	assert_non_null(text);
	for (i = 0; i < LEN; i++) {
		x = x * 1103515245 + 12345;
		text[i] = (char)('a' + (x >> 28));
	}
	return text;
}

/* Pulls all of it in pieces of this size. */
static char *pull(struct http_body *b, size_t piece, size_t *ret_len)
{
	char *all = malloc(2 * LEN);
	size_t len = 0;
	ssize_t n;

	assert_non_null(all);
	while ((n = b->ops->read(b, all + len, piece)) > 0) {
		len += (size_t)n;
		assert_true(len + piece <= 2 * LEN);
	}
	assert_int_equal(n, 0);
	http_body_free(b);
	*ret_len = len;
	return all;
}

static void check_coded(enum http_coding coding, size_t piece)
{
	struct http_body *inner = NULL, *coded = NULL;
	char *text = make_text(), *packed, *back = malloc(LEN + 1);
	struct error e = ERROR_INIT;
	size_t len = 0, n = 0;
	z_stream z = { 0 };

	assert_int_equal(http_body_new_static(&inner, text, LEN, &e), 0);
	assert_int_equal(http_body_new_coded(&coded, inner, coding, &e), 0);
	packed = pull(coded, piece, &len);
	assert_true(len < LEN);
	if (coding == CODING_ZSTD) {
		n = ZSTD_decompress(back, LEN + 1, packed, len);
	} else {
		assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
		z.next_in = (Bytef *)packed;
		z.avail_in = (unsigned int)len;
		z.next_out = (Bytef *)back;
		z.avail_out = LEN + 1;
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		n = z.total_out;
		inflateEnd(&z);
	}
	assert_int_equal(n, LEN);
	assert_memory_equal(back, text, LEN);
	free(packed);
	free(back);
	free(text);
}

static void encodes(void **state)
{
	(void)state;
	check_coded(CODING_GZIP, 1);
	check_coded(CODING_GZIP, 32768);
	check_coded(CODING_ZSTD, 7);
	check_coded(CODING_ZSTD, 32768);
}

struct broken {
	struct http_body body;
	int *freed;
};

static ssize_t broken_read(struct http_body *b, char *out, size_t room)
{
	(void)b;
	(void)out;
	(void)room;
	return -EIO;
}

static void broken_free(struct http_body *b)
{
	++*((struct broken *)b)->freed;
}

static void passes_failures_on(void **state)
{
	static const struct http_body_ops ops = { broken_read, broken_free };
	int freed = 0;
	struct broken inner = { .body = { &ops }, .freed = &freed };
	struct http_body *coded = NULL;
	struct error e = ERROR_INIT;
	char out[64];

	(void)state;
	assert_int_equal(http_body_new_coded(&coded, &inner.body, CODING_GZIP, &e), 0);
	assert_int_equal(coded->ops->read(coded, out, sizeof(out)), -EIO);
	http_body_free(coded);
	assert_int_equal(freed, 1);
}

static void sends_parts_of_files(void **state)
{
	const struct http_range range = { 1000, 2000 };
	char *text = make_text(), *got;
	FILE *f = tmpfile();
	struct error e = ERROR_INIT;
	struct http_body *b = NULL;
	size_t len;

	(void)state;
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, LEN, f), LEN);
	fflush(f);
	assert_int_equal(http_body_new_file(&b, dup(fileno(f)), &range, &e), 0);
	got = pull(b, 99, &len);
	assert_int_equal(len, range.len);
	assert_memory_equal(got, text + range.from, range.len);
	free(got);
	/* A file that became shorter is a failure, not an end. */
	assert_int_equal(http_body_new_file(&b, dup(fileno(f)), &range, &e), 0);
	assert_int_equal(ftruncate(fileno(f), 1500), 0);
	got = malloc(4096);
	assert_int_equal(b->ops->read(b, got, 4096), 500);
	assert_int_equal(b->ops->read(b, got, 4096), -EIO);
	http_body_free(b);
	free(got);
	fclose(f);
	free(text);
}

static void heads_archives(void **state)
{
	uint8_t head[TAR_BLOCK];
	unsigned int sum = 0, i;

	(void)state;
	tar_encode_head(head, "a/metadata", 1234, 1763200000);
	assert_string_equal((char *)head, "a/metadata");
	assert_string_equal((char *)head + 124, "00000002322");
	assert_string_equal((char *)head + 136, "15106046000");
	assert_memory_equal(head + 257,
			    "ustar\0"
			    "00",
			    8);
	for (i = 0; i < TAR_BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : head[i];
	assert_int_equal(strtoul((char *)head + 148, NULL, 8), sum);
	/* 9 GiB do not fit into eleven octal digits. */
	tar_encode_head(head, "a", 9ULL << 30, 0);
	assert_int_equal(head[124], 0x80);
	assert_int_equal(head[124 + 7], 2);
	assert_int_equal(head[124 + 8], 0x40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(encodes),
		cmocka_unit_test(passes_failures_on),
		cmocka_unit_test(sends_parts_of_files),
		cmocka_unit_test(heads_archives),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
