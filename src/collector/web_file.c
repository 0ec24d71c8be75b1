/* SPDX-License-Identifier: MIT */
/* web_file: see web_file.h. */
#include "collector/web_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cleanup.h"

#define GZIP_WINDOW (15 + 16) /* zlib's way to ask for gzip's head and tail */

static int compare(const void *path, const void *file)
{
	return strcmp(path, ((const struct web_file *)file)->path);
}

const struct web_file *web_file_find(const struct web_file *table, size_t n, const char *path)
{
	return bsearch(path, table, n, sizeof(*table), compare);
}

/* All of it at once: the lengths are known, and are those of files that a program carries. */
static bool unpack(const struct web_file *f, char *out)
{
	z_stream z = { .next_in = (Bytef *)f->data,
		       .avail_in = (uInt)f->data_len,
		       .next_out = (Bytef *)out,
		       .avail_out = (uInt)f->len };
	bool ok;

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return false;
	ok = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_out;
	inflateEnd(&z);
	return ok;
}

int web_file_dup(const struct web_file *f, char **ret, struct error *e)
{
	_cleanup_free_ char *out = malloc(f->len + 1);

	if (!out)
		return error_set(e, ENOMEM, "cannot answer: out of memory");
	if (!f->gzip)
		memcpy(out, f->data, f->len);
	else if (!unpack(f, out))
		return error_set(e, EIO, "cannot unpack %s: it is not what was put in", f->path);
	out[f->len] = 0;
	*ret = take_ptr(out);
	return 0;
}
