/* SPDX-License-Identifier: MIT */
/* boot_picture: see boot_picture.h. */
#include "cli/boot_picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/outfile.h"

static bool ends_with(const char *path, const char *end)
{
	size_t n = strlen(path), len = strlen(end);

	return n > len && !strcmp(path + n - len, end);
}

/* All of it in memory: a file appears whole, or not at all. */
static int draw(const struct boot *b, const struct boot_chart_options *o, bool is_svg, char **ret,
		size_t *ret_len)
{
	struct error e = ERROR_INIT;
	FILE *f = open_memstream(ret, ret_len);
	int r;

	if (!f)
		return -ENOMEM;
	r = is_svg ? boot_chart_svg(f, b, o, &e) : boot_chart_html(f, b, o, &e);
	return fclose(f) && r >= 0 ? -ENOMEM : r;
}

int boot_picture_write(const char *path, const struct boot *b, const struct boot_chart_options *o,
		       struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	bool is_svg = ends_with(path, ".svg");
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	int r;

	if (!is_svg && !ends_with(path, ".html") && strcmp(path, "-") != 0)
		return error_set(e, EINVAL,
				 "cannot draw into %s: it ends neither in .svg nor in .html", path);
	r = draw(b, o, is_svg, &text, &len);
	if (r < 0)
		return error_set(e, -r, "cannot draw into %s: %s", path, strerror(-r));
	r = outfile_open(&out, path, e);
	if (r < 0)
		return r;
	outfile_write(out, text, len);
	return outfile_commit(out, e);
}
