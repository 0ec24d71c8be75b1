/* SPDX-License-Identifier: MIT */
/*
 * unpack: see unpack.h. The three libraries have the same loop: bytes in, bytes out, until the input is
 * used up; files may be several of one kind, one behind the other, as their tools make them.
 */
#include "convert/unpack.h"

#include <errno.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE 65536U
#define LZMA_MEMORY_MAX (256ULL << 20) /* a dictionary of xz -9 has 64 MiB */
#define ZSTD_WINDOW_LOG_MAX 27	       /* what the tool takes without --long */

struct job {
	struct import_bytes in;
	unpack_put put;
	void *context;
	struct error *e;
	uint8_t out[PIECE];
};

static int damaged(const struct job *j, const char *what)
{
	return error_set(j->e, EBADMSG, "it does not unpack: %s", what);
}

static int no_memory(const struct job *j)
{
	return error_set(j->e, ENOMEM, "it cannot be unpacked: out of memory");
}

static int put_piece(struct job *j, size_t len)
{
	return len ? j->put(j->context, j->out, len) : 0;
}

/* --- gzip, and zlib --- */

static int zlib_step(struct job *j, z_stream *z, bool *ret_done)
{
	int status, r;

	z->next_out = j->out;
	z->avail_out = PIECE;
	status = inflate(z, Z_NO_FLUSH);
	r = put_piece(j, PIECE - z->avail_out);
	if (r < 0)
		return r;
	if (status == Z_MEM_ERROR)
		return no_memory(j);
	if (status == Z_STREAM_END) {
		/* Zeros behind the last member are padding. */
		*ret_done = !z->avail_in || *z->next_in != 0x1f;
		return *ret_done || inflateReset(z) == Z_OK ? 0 : damaged(j, "a wrong header");
	}
	if (status != Z_OK && status != Z_BUF_ERROR)
		return damaged(j, z->msg ? z->msg : "wrong data");
	if (!z->avail_in && z->avail_out)
		return damaged(j, "it is cut short");
	return 0;
}

static int unpack_zlib(struct job *j)
{
	z_stream z = { .next_in = (Bytef *)j->in.data };
	size_t left = j->in.len, part;
	bool done = false;
	int r = 0;

	if (inflateInit2(&z, 15 + 32) != Z_OK) /* either header */
		return no_memory(j);
	while (!done && r == 0) {
		part = left < (1U << 30) ? left : 1U << 30;
		if (!z.avail_in) {
			z.avail_in = (uInt)part;
			left -= part;
		}
		r = zlib_step(j, &z, &done);
	}
	inflateEnd(&z);
	return r;
}

/* --- xz --- */

static int lzma_step(struct job *j, lzma_stream *z, bool *ret_done)
{
	lzma_ret status;
	int r;

	z->next_out = j->out;
	z->avail_out = PIECE;
	status = lzma_code(z, LZMA_FINISH);
	r = put_piece(j, PIECE - z->avail_out);
	if (r < 0)
		return r;
	*ret_done = status == LZMA_STREAM_END;
	if (status == LZMA_OK || *ret_done)
		return 0;
	if (status == LZMA_MEM_ERROR)
		return no_memory(j);
	return damaged(j, status == LZMA_MEMLIMIT_ERROR ? "it needs more than 256 MiB to unpack"
			  : status == LZMA_BUF_ERROR	? "it is cut short"
							: "wrong data");
}

static int unpack_xz(struct job *j)
{
	lzma_stream z = LZMA_STREAM_INIT;
	bool done = false;
	int r = 0;

	if (lzma_stream_decoder(&z, LZMA_MEMORY_MAX, LZMA_CONCATENATED) != LZMA_OK)
		return no_memory(j);
	z.next_in = j->in.data;
	z.avail_in = j->in.len;
	while (!done && r == 0)
		r = lzma_step(j, &z, &done);
	lzma_end(&z);
	return r;
}

/* --- zstd --- */

static int unpack_zstd(struct job *j)
{
	ZSTD_DCtx *z = ZSTD_createDCtx();
	ZSTD_inBuffer in = { j->in.data, j->in.len, 0 };
	ZSTD_outBuffer out = { j->out, PIECE, PIECE };
	size_t status = 1;
	int r = 0;

	if (!z)
		return no_memory(j);
	ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG_MAX);
	/* A full piece may have more behind it. */
	while (r == 0 && (in.pos < in.size || out.pos == PIECE)) {
		out.pos = 0;
		status = ZSTD_decompressStream(z, &out, &in);
		r = put_piece(j, out.pos);
		if (r == 0 && ZSTD_isError(status))
			r = damaged(j, ZSTD_getErrorName(status));
	}
	ZSTD_freeDCtx(z);
	return r == 0 && status ? damaged(j, "it is cut short") : r;
}

/* --- */

bool unpack_can(enum recognised format)
{
	return format == RECOGNISED_GZIP || format == RECOGNISED_XZ || format == RECOGNISED_ZSTD ||
	       format == RECOGNISED_ATRACE;
}

int unpack_bytes(enum recognised format, struct import_bytes in, unpack_put put, void *context,
		 struct error *e)
{
	struct job j = { .in = in, .put = put, .context = context, .e = e };
	size_t at = format == RECOGNISED_ATRACE ? recognise_atrace(in.data, in.len) : 0;

	j.in.data += at;
	j.in.len -= at;
	if (format == RECOGNISED_XZ)
		return unpack_xz(&j);
	return format == RECOGNISED_ZSTD ? unpack_zstd(&j) : unpack_zlib(&j);
}
