/* SPDX-License-Identifier: MIT */
/*
 * packer: see packer.h.
 *
 * Each is set as its command sets it at that level (gzip's wrapper, xz's CRC64), except lz4, which
 * gets the bare block function without frame and checksum: the fastest lz4 that there is. What the
 * lz4 command takes is measured beside it (process.h).
 */
#include "packer.h"

#include <limits.h>
#include <string.h>

#include <lz4.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#define GZIP_WINDOW (15 + 16) /* the wrapper of gzip */
#define GZIP_MEM_LEVEL 8

static size_t gzip_bound(size_t len)
{
	return compressBound(len) + 32;
}

static size_t gzip_pack(uint8_t *out, size_t room, const uint8_t *in, size_t len)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)in,
		       .avail_in = (unsigned)len,
		       .next_out = out,
		       .avail_out = (unsigned)room };
	int r;

	if (len > UINT_MAX || room > UINT_MAX ||
	    deflateInit2(&z, 6, Z_DEFLATED, GZIP_WINDOW, GZIP_MEM_LEVEL, Z_DEFAULT_STRATEGY) !=
		    Z_OK)
		return 0;
	r = deflate(&z, Z_FINISH);
	deflateEnd(&z);
	return r == Z_STREAM_END ? z.total_out : 0;
}

static size_t gzip_unpack(uint8_t *out, size_t room, const uint8_t *in, size_t len)
{
	z_stream z = { .next_in = (uint8_t *)(uintptr_t)in,
		       .avail_in = (unsigned)len,
		       .next_out = out,
		       .avail_out = (unsigned)room };
	int r;

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return 0;
	r = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return r == Z_STREAM_END ? z.total_out : 0;
}

static size_t lz4_bound(size_t len)
{
	return len <= LZ4_MAX_INPUT_SIZE ? (size_t)LZ4_compressBound((int)len) : 0;
}

static size_t lz4_pack(uint8_t *out, size_t room, const uint8_t *in, size_t len)
{
	int n = LZ4_compress_default((const char *)in, (char *)out, (int)len, (int)room);

	return n > 0 ? (size_t)n : 0;
}

static size_t lz4_unpack(uint8_t *out, size_t room, const uint8_t *in, size_t len)
{
	int n = LZ4_decompress_safe((const char *)in, (char *)out, (int)len, (int)room);

	return n > 0 ? (size_t)n : 0;
}

static size_t zstd3_pack(uint8_t *out, size_t room, const uint8_t *in, size_t len)
{
	size_t n = ZSTD_compress(out, room, in, len, 3);

	return ZSTD_isError(n) ? 0 : n;
}

static size_t zstd19_pack(uint8_t *out, size_t room, const uint8_t *in, size_t len)
{
	size_t n = ZSTD_compress(out, room, in, len, 19);

	return ZSTD_isError(n) ? 0 : n;
}

static size_t zstd_unpack(uint8_t *out, size_t room, const uint8_t *in, size_t len)
{
	size_t n = ZSTD_decompress(out, room, in, len);

	return ZSTD_isError(n) ? 0 : n;
}

static size_t xz_bound(size_t len)
{
	return lzma_stream_buffer_bound(len);
}

static size_t xz_pack(uint8_t *out, size_t room, const uint8_t *in, size_t len)
{
	size_t n = 0;

	if (lzma_easy_buffer_encode(9 | LZMA_PRESET_EXTREME, LZMA_CHECK_CRC64, NULL, in, len, out,
				    &n, room) != LZMA_OK)
		return 0;
	return n;
}

static size_t xz_unpack(uint8_t *out, size_t room, const uint8_t *in, size_t len)
{
	uint64_t memory = UINT64_MAX;
	size_t at = 0, n = 0;

	if (lzma_stream_buffer_decode(&memory, 0, NULL, in, &at, len, out, &n, room) != LZMA_OK)
		return 0;
	return n;
}

static const struct packer packers[] = {
	{ "gzip-6", "gzip -6", gzip_bound, gzip_pack, gzip_unpack },
	{ "lz4-1", "lz4 -1", lz4_bound, lz4_pack, lz4_unpack },
	{ "zstd-3", "zstd -3", ZSTD_compressBound, zstd3_pack, zstd_unpack },
	{ "zstd-19", "zstd -19", ZSTD_compressBound, zstd19_pack, zstd_unpack },
	{ "xz-9e", "xz -9e", xz_bound, xz_pack, xz_unpack },
};

const struct packer *packer_get(size_t i)
{
	return i < sizeof(packers) / sizeof(packers[0]) ? &packers[i] : NULL;
}

const struct packer *packer_find(const char *key)
{
	const struct packer *p;
	size_t i;

	for (i = 0; (p = packer_get(i)); i++)
		if (!strcmp(p->key, key))
			return p;
	return NULL;
}
