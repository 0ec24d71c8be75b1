/* SPDX-License-Identifier: MIT */
/* bootchart_tar: see bootchart_tar.h. */
#include "convert/bootchart_tar.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

#define BLOCK 512U
#define RECORD 10240U /* tar pads to so many */
#define PIECE 32768U
#define GZIP_WINDOW (15 + 16)

struct bootchart_tar {
	FILE *f;
	z_stream z;
	uint64_t time, total;
	uint8_t in[PIECE], out[PIECE];
};

struct bootchart_tar *bootchart_tar_new(FILE *f, uint64_t time)
{
	struct bootchart_tar *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->f = f;
	t->time = time;
	if (deflateInit2(&t->z, 9, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(t);
		return NULL;
	}
	return t;
}

void bootchart_tar_free(struct bootchart_tar *t)
{
	if (!t)
		return;
	deflateEnd(&t->z);
	free(t);
}

static int push(struct bootchart_tar *t, const uint8_t *data, size_t len, int flush)
{
	size_t n;

	t->z.next_in = (Bytef *)(uintptr_t)data;
	t->z.avail_in = (uInt)len;
	t->total += len;
	do {
		t->z.next_out = t->out;
		t->z.avail_out = PIECE;
		deflate(&t->z, flush);
		n = PIECE - t->z.avail_out;
		if (fwrite(t->out, 1, n, t->f) != n)
			return errno ? -errno : -EIO;
	} while (!t->z.avail_out);
	return 0;
}

static int pad(struct bootchart_tar *t, size_t to)
{
	size_t n = (size_t)((to - t->total % to) % to);

	memset(t->in, 0, n);
	return push(t, t->in, n, Z_NO_FLUSH);
}

static void put_octal(char *p, size_t digits, uint64_t v)
{
	for (; digits; digits--, v >>= 3)
		p[digits - 1] = (char)('0' + (v & 7));
}

static int put_head(struct bootchart_tar *t, const char *name, uint64_t size)
{
	char head[BLOCK] = "";
	unsigned int sum = 0;
	size_t i;

	snprintf(head, 100, "%s", name);
	memcpy(head + 100, "0000644", 8);
	memcpy(head + 108, "0000000", 8);
	memcpy(head + 116, "0000000", 8);
	put_octal(head + 124, 11, size);
	put_octal(head + 136, 11, t->time);
	memset(head + 148, ' ', 8);
	head[156] = '0';
	memcpy(head + 257, "ustar\00000", 8);
	for (i = 0; i < BLOCK; i++)
		sum += (unsigned char)head[i];
	put_octal(head + 148, 6, sum);
	head[154] = 0;
	head[155] = ' ';
	return push(t, (const uint8_t *)head, BLOCK, Z_NO_FLUSH);
}

int bootchart_tar_put(struct bootchart_tar *t, const char *name, FILE *content)
{
	size_t n;
	off_t size;
	int r;

	if (fseeko(content, 0, SEEK_END) < 0 || (size = ftello(content)) < 0 ||
	    fseeko(content, 0, SEEK_SET) < 0)
		return -errno;
	if ((uint64_t)size > 077777777777ULL) /* what a head can say */
		return -EFBIG;
	r = put_head(t, name, (uint64_t)size);
	while (r >= 0 && (n = fread(t->in, 1, PIECE, content)) > 0)
		r = push(t, t->in, n, Z_NO_FLUSH);
	if (r >= 0 && ferror(content))
		r = -EIO;
	return r < 0 ? r : pad(t, BLOCK);
}

int bootchart_tar_finish(struct bootchart_tar *t)
{
	int r;

	memset(t->in, 0, 2 * BLOCK);
	r = push(t, t->in, 2 * BLOCK, Z_NO_FLUSH);
	if (r >= 0)
		r = pad(t, RECORD);
	return r < 0 ? r : push(t, t->in, 0, Z_FINISH);
}
