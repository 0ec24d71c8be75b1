/* SPDX-License-Identifier: MIT */
/* elf: identity of objects and packed sections, as they are and as they are not meant to be. */
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "elf_image.h"
#include "symbol/elf_identity.h"
#include "symbol/elf_unpack.h"

static void put_note(struct bytes *b, const char *name, uint32_t type, uint32_t content)
{
	uint32_t i;

	put(b, strlen(name) + 1, 4);
	put(b, content, 4);
	put(b, type, 4);
	put_text(b, name);
	for (i = 0; i < content; i++)
		put(b, i + 1, 1);
	put(b, 0, (4 - b->len % 4) % 4);
}

/* Ids of no bytes, or of too many, are none; the next one is. */
static void test_build_id(void **state)
{
	struct image m = { .wide = true };
	struct elf_build_id id;
	struct image_section *s;
	struct elf_file f;

	(void)state;
	s = image_add(&m, ".note", SHT_NOTE);
	put_note(&s->bytes, "GNU", NT_GNU_BUILD_ID, 0);
	put_note(&s->bytes, "GNU", NT_GNU_BUILD_ID, ELF_BUILD_ID_MAX + 1);
	put_note(&s->bytes, "gnu", NT_GNU_BUILD_ID, 5);
	put_note(&s->bytes, "GNU", NT_GNU_ABI_TAG, 6);
	image_open(&m, &f);
	elf_identity_get_build_id(&f, &id);
	assert_int_equal(id.len, 0);
	elf_file_close(&f);
	put_note(&s->bytes, "GNU", NT_GNU_BUILD_ID, ELF_BUILD_ID_MAX);
	image_open(&m, &f);
	elf_identity_get_build_id(&f, &id);
	assert_int_equal(id.len, ELF_BUILD_ID_MAX);
	assert_int_equal(id.bytes[0], 1);
	elf_file_close(&f);
	image_done(&m);
}

/* The name that a link gives, with this much behind it. */
static void expect_link(const char *name, size_t behind, const char *wanted)
{
	struct image m = { .wide = true };
	struct elf_debug_link link;
	struct image_section *s;
	struct elf_file f;

	s = image_add(&m, ".gnu_debuglink", SHT_PROGBITS);
	put_text(&s->bytes, name);
	put(&s->bytes, 0, (4 - s->bytes.len % 4) % 4);
	put(&s->bytes, 0x12345678, (unsigned)behind);
	image_open(&m, &f);
	elf_identity_get_link(&f, &link);
	assert_string_equal(link.name, wanted);
	assert_int_equal(link.crc, *wanted ? 0x12345678 : 0);
	elf_file_close(&f);
	image_done(&m);
}

static void test_link(void **state)
{
	char name[300] = "";

	(void)state;
	expect_link("program.debug", 4, "program.debug");
	expect_link("program.debug", 3, "");
	expect_link("", 4, "");
	expect_link("../program", 4, "");
	memset(name, 'n', 255);
	expect_link(name, 4, name);
	memset(name, 'n', 256);
	expect_link(name, 4, "");
}

/* Of a file that is read in several steps, the sum is that of all of it. */
static void test_crc(void **state)
{
	struct image m = { .wide = true };
	struct image_section *s;
	struct elf_file f;
	uint32_t crc = 0, i;

	(void)state;
	s = image_add(&m, ".data", SHT_PROGBITS);
	for (i = 0; i < 150000; i++)
		put(&s->bytes, i * 2654435761U, 4);
	image_open(&m, &f);
	assert_int_equal(elf_identity_get_crc(&f, &crc), 0);
	assert_int_equal(crc, crc32(0, m.file.p, (uInt)m.file.len));
	elf_file_close(&f);
	image_done(&m);
}

/* What a file does not have, and what is more than one reads at once, although the file has it. */
static void test_sizes(void **state)
{
	struct image m = { .wide = true };
	struct image_section *s;
	struct elf_file f;
	uint8_t *bytes = NULL;
	size_t len = 0;
	int fd = memfd_create("large", MFD_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	s = image_add(&m, ".bss", SHT_NOBITS);
	s->size = 100;
	s = image_add(&m, ".large", SHT_PROGBITS);
	s->size = (uint64_t)ELF_READ_MAX + 1;
	image_open(&m, &f);
	assert_int_equal(elf_file_dup_section(&f, &f.sections[0], &bytes, &len), -ENODATA);
	assert_int_equal(elf_file_dup_section(&f, &f.sections[1], &bytes, &len), -ENODATA);
	assert_int_equal(elf_file_dup_section(&f, &f.sections[2], &bytes, &len), -EBADMSG);
	elf_file_close(&f);
	assert_int_equal(write(fd, m.file.p, m.file.len), m.file.len);
	assert_int_equal(ftruncate(fd, (off_t)ELF_READ_MAX + 4096), 0); /* all of it a hole */
	assert_int_equal(elf_file_open(&f, fd, NULL), 0);
	assert_int_equal(elf_file_dup_section(&f, &f.sections[2], &bytes, &len), -E2BIG);
	elf_file_close(&f);
	image_done(&m);
}

static const char content[] =
	"the bytes of a section, the bytes of a section, the bytes of a section";

/* A packed section that claims `size` bytes, with `len` bytes of what the method made of them. */
static int unpack(uint32_t method, uint64_t size, const void *packed, size_t len)
{
	struct bytes b = { 0 };
	struct elf_file wide = { .wide = true }, narrow = { .wide = false };
	uint8_t *out = NULL;
	size_t out_len = 0;
	int r, again;

	put(&b, method, 4);
	put(&b, 0, 4);
	put(&b, size, 8);
	put(&b, 1, 8);
	put_bytes(&b, packed, len);
	r = elf_unpack(&wide, b.p, b.len, &out, &out_len);
	if (r == 0) {
		assert_int_equal(out_len, size);
		assert_memory_equal(out, content, size);
	}
	free(out);
	/* 32 bits: the same without what makes the header longer. */
	b.len = 0;
	put(&b, method, 4);
	put(&b, size > UINT32_MAX ? UINT32_MAX : size, 4);
	put(&b, 1, 4);
	put_bytes(&b, packed, len);
	out = NULL;
	again = elf_unpack(&narrow, b.p, b.len, &out, &out_len);
	assert_int_equal(again, r);
	free(out);
	free_bytes(&b);
	return r;
}

static void test_unpack(void **state)
{
	uint8_t zlib[256], zstd[256];
	uLongf zlib_len = sizeof(zlib);
	const size_t zstd_len = ZSTD_compress(zstd, sizeof(zstd), content, sizeof(content), 3);

	(void)state;
	assert_int_equal(compress(zlib, &zlib_len, (const Bytef *)content, sizeof(content)), Z_OK);
	assert_false(ZSTD_isError(zstd_len));
	assert_int_equal(unpack(1, sizeof(content), zlib, zlib_len), 0);
	assert_int_equal(unpack(2, sizeof(content), zstd, zstd_len), 0);
	/* Fewer bytes, or more, than it claims. */
	assert_int_equal(unpack(1, sizeof(content) + 1, zlib, zlib_len), -EBADMSG);
	assert_int_equal(unpack(1, sizeof(content) - 1, zlib, zlib_len), -EBADMSG);
	assert_int_equal(unpack(2, sizeof(content) + 1, zstd, zstd_len), -EBADMSG);
	assert_int_equal(unpack(2, sizeof(content) - 1, zstd, zstd_len), -EBADMSG);
	/* Damaged, cut, unknown. */
	assert_int_equal(unpack(1, sizeof(content), zstd, zstd_len), -EBADMSG);
	assert_int_equal(unpack(2, sizeof(content), zlib, zlib_len), -EBADMSG);
	assert_int_equal(unpack(1, sizeof(content), zlib, zlib_len - 1), -EBADMSG);
	assert_int_equal(unpack(3, sizeof(content), zlib, zlib_len), -EOPNOTSUPP);
	/* More than can be in so few bytes, and than anything may have. */
	assert_int_equal(unpack(1, 1U << 20, zlib, zlib_len), -E2BIG);
	assert_int_equal(unpack(1, (uint64_t)ELF_READ_MAX + 1, zlib, zlib_len), -E2BIG);
	assert_int_equal(unpack(1, (uint64_t)1 << 40, zlib, zlib_len), -E2BIG);
}

/* Zeros, as xz writes them. */
static void pack_zeros(uint64_t size, struct bytes *ret)
{
	static const uint8_t zeros[65536];
	lzma_stream x = LZMA_STREAM_INIT;
	lzma_ret r = LZMA_OK;

	put(ret, 0, 1); /* makes room */
	ret->len = 0;
	assert_int_equal(lzma_easy_encoder(&x, 0, LZMA_CHECK_NONE), LZMA_OK);
	x.next_out = ret->p;
	x.avail_out = BYTES_MAX;
	while (r == LZMA_OK) {
		if (x.avail_in == 0) {
			x.next_in = zeros;
			x.avail_in = size < sizeof(zeros) ? (size_t)size : sizeof(zeros);
			size -= x.avail_in;
		}
		r = lzma_code(&x, size ? LZMA_RUN : LZMA_FINISH);
	}
	assert_int_equal(r, LZMA_STREAM_END);
	ret->len = (size_t)x.total_out;
	lzma_end(&x);
}

static void expect_xz(uint64_t size, size_t cut, int wanted)
{
	struct bytes b = { 0 };
	uint8_t *out = NULL;
	size_t len = 0;

	pack_zeros(size, &b);
	assert_int_equal(elf_unpack_xz(b.p, b.len - cut, &out, &len), wanted);
	if (wanted == 0)
		assert_int_equal(len, size);
	free(out);
	free_bytes(&b);
}

static void test_xz(void **state)
{
	(void)state;
	expect_xz(1000, 0, 0);
	expect_xz(256 << 10, 0, 0); /* what is made room for first, */
	expect_xz((256 << 10) + 1, 0, 0);
	expect_xz(3 << 20, 0, 0);
	expect_xz(1000, 1, -EBADMSG);
	expect_xz(1000, 20, -EBADMSG);
	expect_xz((256 << 20) + 1, 0, -E2BIG); /* and what it is not made for */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_id), cmocka_unit_test(test_link),
		cmocka_unit_test(test_crc),	 cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_unpack),	 cmocka_unit_test(test_xz),
	};

	return cmocka_run_group_tests_name("elf", tests, NULL, NULL);
}
