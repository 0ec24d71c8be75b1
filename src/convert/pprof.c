/* SPDX-License-Identifier: MIT */
/* pprof: see pprof.h. */
#include "convert/pprof.h"

#include <errno.h>
#include <string.h>

#define SCRATCH 64U

int pprof_init(struct pprof *p, struct outfile *out)
{
	memset(p, 0, sizeof(*p));
	p->out = out;
	/* 15 + 16: the largest window, in the frame of gzip. */
	return deflateInit2(&p->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) ==
			       Z_OK
		       ? 0
		       : -ENOMEM;
}

void pprof_done(struct pprof *p)
{
	deflateEnd(&p->z);
}

static int deflate_some(struct pprof *p, const void *bytes, size_t len, int flush)
{
	uint8_t packed[4096];
	int r;

	p->z.next_in = (Bytef *)(uintptr_t)bytes;
	p->z.avail_in = (uInt)len;
	do {
		p->z.next_out = packed;
		p->z.avail_out = sizeof(packed);
		r = deflate(&p->z, flush);
		if (r == Z_STREAM_ERROR)
			return -EINVAL;
		outfile_write(p->out, packed, sizeof(packed) - p->z.avail_out);
	} while (!p->z.avail_out);
	return 0;
}

int pprof_put(struct pprof *p, const struct proto *m)
{
	return m->full ? -EOVERFLOW : deflate_some(p, m->data, m->len, Z_NO_FLUSH);
}

int pprof_put_text(struct pprof *p, uint32_t field, const char *text)
{
	uint8_t head[SCRATCH];
	struct proto m = { .data = head, .room = sizeof(head) };
	size_t len = strlen(text);
	uint64_t rest = len;
	int r;

	m.data[m.len++] = (uint8_t)(field << 3 | 2);
	for (; rest >= 0x80; rest >>= 7)
		m.data[m.len++] = (uint8_t)(rest | 0x80);
	m.data[m.len++] = (uint8_t)rest;
	r = pprof_put(p, &m);
	return r < 0 ? r : deflate_some(p, text, len, Z_NO_FLUSH);
}

int pprof_put_type(struct pprof *p, uint32_t field, uint64_t type, uint64_t unit)
{
	uint8_t bytes[SCRATCH];
	struct proto m = { .data = bytes, .room = sizeof(bytes) };
	size_t mark = proto_begin(&m, field, 1);

	proto_uint(&m, 1, type);
	proto_uint(&m, 2, unit);
	proto_end(&m, mark, 1);
	return pprof_put(p, &m);
}

int pprof_finish(struct pprof *p)
{
	return deflate_some(p, "", 0, Z_FINISH);
}
