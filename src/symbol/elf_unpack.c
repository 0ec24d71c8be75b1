/* SPDX-License-Identifier: MIT */
/* elf_unpack: see elf_unpack.h. */
#include "symbol/elf_unpack.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/cleanup.h"

#define ZLIB 1U /* ELFCOMPRESS_ZLIB */
#define ZSTD 2U /* ELFCOMPRESS_ZSTD, which older <elf.h> do not have */

/* No method makes a thousand bytes out of one much above this, so a small file cannot claim
 * gigabytes and get them. zstd can do more, on nothing but zeros. */
#define RATIO_MAX 2048U
#define XZ_ROOM_FIRST (256U << 10)
#define XZ_ROOM_MAX (256U << 20)
#define XZ_MEMORY_MAX (128U << 20) /* dictionary; xz -9 has 64 MiB */

static int unpack_zlib(const uint8_t *packed, size_t len, uint8_t *out, size_t out_len)
{
	uLongf got = (uLongf)out_len;

	if (uncompress(out, &got, packed, (uLong)len) != Z_OK || got != out_len)
		return -EBADMSG;
	return 0;
}

static int unpack_zstd(const uint8_t *packed, size_t len, uint8_t *out, size_t out_len)
{
	return ZSTD_decompress(out, out_len, packed, len) == out_len ? 0 : -EBADMSG;
}

int elf_unpack(const struct elf_file *f, const uint8_t *packed, size_t len, uint8_t **ret,
	       size_t *ret_len)
{
	const size_t header = f->wide ? 24 : 12;
	_cleanup_free_ uint8_t *out = NULL;
	uint32_t method;
	uint64_t size;
	int r;

	if (len < header)
		return -EBADMSG;
	method = elf_get_u32(f, packed);
	size = elf_get_word(f, packed + (f->wide ? 8 : 4));
	if (method != ZLIB && method != ZSTD)
		return -EOPNOTSUPP;
	if (size > ELF_READ_MAX || size / RATIO_MAX > len)
		return -E2BIG;
	out = malloc((size_t)size + 1);
	if (!out)
		return -ENOMEM;
	r = (method == ZLIB ? unpack_zlib : unpack_zstd)(packed + header, len - header, out,
							 (size_t)size);
	if (r < 0)
		return r;
	out[size] = 0;
	*ret = take_ptr(out);
	*ret_len = (size_t)size;
	return 0;
}

/* An xz stream does not say at its start how long it is, so the room grows. */
static int run_xz(lzma_stream *x, uint8_t **out, size_t *ret_len)
{
	size_t room = XZ_ROOM_FIRST;
	uint8_t *moved;
	lzma_ret r;

	for (;;) {
		moved = realloc(*out, room);
		if (!moved)
			return -ENOMEM;
		*out = moved;
		x->next_out = *out + (size_t)x->total_out;
		x->avail_out = room - (size_t)x->total_out;
		r = lzma_code(x, LZMA_FINISH);
		if (r != LZMA_OK || x->avail_out > 0)
			break;
		if (room >= XZ_ROOM_MAX)
			return -E2BIG;
		room *= 2;
	}
	*ret_len = (size_t)x->total_out;
	return r == LZMA_STREAM_END ? 0 : r == LZMA_MEM_ERROR ? -ENOMEM : -EBADMSG;
}

int elf_unpack_xz(const uint8_t *packed, size_t len, uint8_t **ret, size_t *ret_len)
{
	_cleanup_free_ uint8_t *out = NULL;
	lzma_stream x = LZMA_STREAM_INIT;
	int r;

	if (lzma_stream_decoder(&x, XZ_MEMORY_MAX, 0) != LZMA_OK)
		return -ENOMEM;
	x.next_in = packed;
	x.avail_in = len;
	r = run_xz(&x, &out, ret_len);
	lzma_end(&x);
	if (r < 0)
		return r;
	*ret = take_ptr(out);
	return 0;
}
