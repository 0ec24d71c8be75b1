/* SPDX-License-Identifier: MIT */
/*
 * source_tracedat_unzip: the compressors of trace.dat v7. The file states the size of what comes
 * out, so a stream that gives more or less than that is damaged, and no output can outgrow the
 * buffer that was made for it.
 */
#include <errno.h>
#include <limits.h>
#include <zlib.h>
#include <zstd.h>

#include "convert/tracedat.h"

static int unzip_zlib(struct import_bytes in, uint8_t *out, size_t out_len)
{
	uLongf got = (uLongf)out_len;

	if (in.len > ULONG_MAX || uncompress(out, &got, in.data, (uLong)in.len) != Z_OK)
		return -EBADMSG;
	return got == out_len ? 0 : -EBADMSG;
}

int tracedat_unzip(enum tracedat_codec codec, struct import_bytes in, uint8_t *out, size_t out_len)
{
	size_t got;

	switch (codec) {
	case TRACEDAT_ZSTD:
		got = ZSTD_decompress(out, out_len, in.data, in.len);
		return !ZSTD_isError(got) && got == out_len ? 0 : -EBADMSG;
	case TRACEDAT_ZLIB:
		return unzip_zlib(in, out, out_len);
	case TRACEDAT_PLAIN:
		break;
	}
	return -EBADMSG;
}
