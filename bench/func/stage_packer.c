/* SPDX-License-Identifier: MIT */
/* stage_packer: raw records, and what general compressors make of them in one piece. */
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "stage.h"

static size_t raw_encode(const struct thread *t, uint8_t *out, size_t room)
{
	size_t len = t->count * RECORDING_RECORD;

	if (len > room)
		return 0;
	recording_format(t, out);
	return len;
}

/* Whether these are the bytes that the thread's events make. */
static bool raw_decode(const struct thread *t, const uint8_t *in, size_t len)
{
	uint8_t *raw = malloc(len ? len : 1);
	bool same = raw && len == t->count * RECORDING_RECORD;

	if (same) {
		recording_format(t, raw);
		same = !memcmp(raw, in, len);
	}
	free(raw);
	return same;
}

/* The bytes of a thread, made before the clock runs: what is measured is the packer. */
static uint8_t *input;
static size_t input_len;

static void prepare(const struct thread *t)
{
	free(input);
	input_len = t->count * RECORDING_RECORD;
	input = malloc(input_len ? input_len : 1);
	if (input)
		recording_format(t, input);
}

static size_t zstd_encode(const struct thread *t, uint8_t *out, size_t room, int level)
{
	size_t n;

	(void)t;
	n = input ? ZSTD_compress(out, room, input, input_len, level) : 0;
	return ZSTD_isError(n) ? 0 : n;
}

static size_t zstd1_encode(const struct thread *t, uint8_t *out, size_t room)
{
	return zstd_encode(t, out, room, 1);
}

static size_t zstd3_encode(const struct thread *t, uint8_t *out, size_t room)
{
	return zstd_encode(t, out, room, 3);
}

static bool zstd_decode(const struct thread *t, const uint8_t *in, size_t len)
{
	size_t room = t->count * RECORDING_RECORD, n;
	uint8_t *raw = malloc(room ? room : 1);
	bool same = false;

	if (raw) {
		n = ZSTD_decompress(raw, room, in, len);
		same = !ZSTD_isError(n) && raw_decode(t, raw, n);
	}
	free(raw);
	return same;
}

static size_t xz_encode(const struct thread *t, uint8_t *out, size_t room)
{
	size_t n = 0;

	(void)t;
	if (!input || lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, input, input_len, out, &n,
					      room) != LZMA_OK)
		return 0;
	return n;
}

static bool xz_decode(const struct thread *t, const uint8_t *in, size_t len)
{
	size_t room = t->count * RECORDING_RECORD, from = 0, to = 0;
	uint8_t *raw = malloc(room ? room : 1);
	uint64_t limit = UINT64_MAX;
	bool same = raw && lzma_stream_buffer_decode(&limit, 0, NULL, in, &from, len, raw, &to,
						     room) == LZMA_OK;

	same = same && raw_decode(t, raw, to);
	free(raw);
	return same;
}

static const struct stage raw = { "raw", "raw, 16 bytes", false, NULL, raw_encode, raw_decode };
static const struct stage zstd1 = { "raw_zstd_1", "raw + zstd -1", true,
				    prepare,	  zstd1_encode,	   zstd_decode };
static const struct stage zstd3 = { "raw_zstd_3", "raw + zstd -3", true,
				    prepare,	  zstd3_encode,	   zstd_decode };
static const struct stage xz = { "raw_xz_6", "raw + xz -6", true, prepare, xz_encode, xz_decode };

const struct stage *const stage_packer_list[] = { &raw, &zstd1, &zstd3, &xz, NULL };
