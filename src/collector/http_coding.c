/* SPDX-License-Identifier: MIT */
/*
 * http_coding: a body in gzip or zstd, encoded as it is pulled.
 *
 * What the inner body gives goes through one buffer into the compressor; nothing is kept but that
 * buffer and the compressor's window. A failure of the inner body stays a failure: a cut stream has
 * no valid end, so no client takes a part for the whole.
 */
#include <errno.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "collector/http_body.h"

#define IN_BYTES (64U * 1024)
#define GZIP_WINDOW (15 + 16) /* zlib's way to ask for gzip's head and tail */
#define LEVEL_GZIP 5
#define LEVEL_ZSTD 3

struct coded_body {
	struct http_body body;
	struct http_body *inner;
	enum http_coding coding;
	z_stream gzip;
	bool has_gzip;
	ZSTD_CCtx *zstd;
	bool drained;  /* the inner body has ended */
	bool finished; /* and so has the stream */
	size_t in_at, in_len;
	char in[IN_BYTES];
};

static int refill(struct coded_body *c)
{
	ssize_t n;

	if (c->in_at < c->in_len || c->drained)
		return 0;
	n = c->inner->ops->read(c->inner, c->in, sizeof(c->in));
	if (n < 0)
		return (int)n;
	c->in_at = 0;
	c->in_len = (size_t)n;
	c->drained = !n;
	return 0;
}

static ssize_t step_gzip(struct coded_body *c, char *out, size_t room)
{
	unsigned int most = room < 1U << 30 ? (unsigned int)room : 1U << 30;
	int r;

	c->gzip.next_in = (Bytef *)c->in + c->in_at;
	c->gzip.avail_in = (unsigned int)(c->in_len - c->in_at);
	c->gzip.next_out = (Bytef *)out;
	c->gzip.avail_out = most;
	r = deflate(&c->gzip, c->drained ? Z_FINISH : Z_NO_FLUSH);
	if (r == Z_STREAM_ERROR)
		return -EIO;
	c->in_at = c->in_len - c->gzip.avail_in;
	c->finished = r == Z_STREAM_END;
	return (ssize_t)(most - c->gzip.avail_out);
}

static ssize_t step_zstd(struct coded_body *c, char *out, size_t room)
{
	ZSTD_inBuffer in = { c->in, c->in_len, c->in_at };
	ZSTD_outBuffer to = { out, room, 0 };
	size_t r =
		ZSTD_compressStream2(c->zstd, &to, &in, c->drained ? ZSTD_e_end : ZSTD_e_continue);

	if (ZSTD_isError(r))
		return -EIO;
	c->in_at = in.pos;
	c->finished = c->drained && !r;
	return (ssize_t)to.pos;
}

static ssize_t coded_read(struct http_body *b, char *out, size_t room)
{
	struct coded_body *c = (struct coded_body *)b;
	ssize_t n = 0;
	int r;

	while (!n && !c->finished) {
		r = refill(c);
		if (r < 0)
			return r;
		n = c->coding == CODING_GZIP ? step_gzip(c, out, room) : step_zstd(c, out, room);
	}
	return n;
}

static void coded_free(struct http_body *b)
{
	struct coded_body *c = (struct coded_body *)b;

	http_body_free(c->inner);
	if (c->has_gzip)
		deflateEnd(&c->gzip);
	ZSTD_freeCCtx(c->zstd);
	free(c);
}

static const struct http_body_ops coded_ops = {
	.read = coded_read,
	.free = coded_free,
};

static bool start(struct coded_body *c)
{
	if (c->coding == CODING_GZIP) {
		c->has_gzip = deflateInit2(&c->gzip, LEVEL_GZIP, Z_DEFLATED, GZIP_WINDOW, 8,
					   Z_DEFAULT_STRATEGY) == Z_OK;
		return c->has_gzip;
	}
	c->zstd = ZSTD_createCCtx();
	return c->zstd &&
	       !ZSTD_isError(ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, LEVEL_ZSTD));
}

int http_body_new_coded(struct http_body **ret, struct http_body *inner, enum http_coding coding,
			struct error *e)
{
	struct coded_body *c = calloc(1, sizeof(*c));

	if (!c)
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	c->body.ops = &coded_ops;
	c->coding = coding;
	if (!start(c)) {
		coded_free(&c->body);
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	}
	c->inner = inner;
	*ret = &c->body;
	return 0;
}
