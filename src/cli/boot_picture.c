/* SPDX-License-Identifier: MIT */
/* boot_picture: see boot_picture.h. */
#include "cli/boot_picture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/memfile.h"
#include "base/outfile.h"
#include "chart/boot_json.h"

struct text {
	char *text;
	size_t len;
};

/* All of it in memory: a file appears whole, or not at all. */
static int draw(const char *path, const struct boot *b, const struct boot_chart_options *o,
		struct text *ret, struct error *e)
{
	FILE *f = memfile_open(&ret->text, &ret->len);
	int r;

	if (!f)
		return error_set(e, ENOMEM, "out of memory");
	r = ending_fits(path, ".svg")	 ? boot_chart_svg(f, b, o, e)
	    : ending_fits(path, ".json") ? boot_json_write(f, b, e)
					 : boot_chart_html(f, b, o, e);
	return fclose(f) && r >= 0 ? error_set(e, ENOMEM, "out of memory") : r;
}

int boot_picture_write(const char *path, const struct boot *b, const struct boot_chart_options *o,
		       struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	struct text made = { NULL, 0 };
	int r;

	if (!ending_fits(path, ".svg") && !ending_fits(path, ".html") && strcmp(path, "-") != 0 &&
	    (!ending_fits(path, ".json") || o->other))
		return error_set(e, EINVAL,
				 "cannot draw into %s: it ends neither in .svg nor in .html", path);
	r = draw(path, b, o, &made, e);
	if (r < 0)
		error_prefix(e, -r, "cannot draw into %s", path);
	else
		r = outfile_open(&out, path, e);
	if (r >= 0) {
		outfile_write(out, made.text, made.len);
		r = outfile_commit(out, e);
	}
	free(made.text);
	return r;
}
