/* SPDX-License-Identifier: MIT */
/* flame_chart: see flame_chart.h. Here what page and SVG have in common. */
#include "chart/flame_chart.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/memfile.h"
#include "base/outfile.h"

bool flame_chart_takes(const char *path)
{
	return !strcmp(path, "-") || ending_fits(path, ".html") || ending_fits(path, ".svg");
}

uint32_t flame_chart_next(const struct flame_chart *c, uint32_t node)
{
	uint64_t all = profile_tree_total(c->tree, 0)[c->value], part;
	bool skip = false;

	do {
		node = profile_tree_next(c->tree, node, skip);
		if (node == PROFILE_NODE_NONE)
			break;
		part = profile_tree_total(c->tree, node)[c->value];
		skip = !part || (double)part < (double)all * FLAME_CHART_LEAST;
	} while (skip);
	return node;
}

int flame_chart_write(const struct flame_chart *c, const char *path, struct error *e)
{
	CLEANUP(outfile) struct outfile *out = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len = 0;
	FILE *f;
	int r;

	if (!flame_chart_takes(path))
		return error_set(e, EINVAL, "cannot write %s: a flame graph is .html or .svg",
				 path);
	r = outfile_open(&out, path, e);
	if (r < 0)
		return r;
	f = memfile_open(&text, &len);
	if (!f)
		return error_set(e, ENOMEM, "cannot draw: out of memory");
	r = ending_fits(path, ".svg") ? flame_chart_svg(f, c, e) : flame_chart_html(f, c, e);
	if (fclose(f) != 0 && r >= 0)
		r = error_set(e, ENOMEM, "cannot draw: out of memory");
	if (r < 0)
		return r;
	outfile_write(out, text, len);
	r = outfile_check(out, e);
	return r < 0 ? r : outfile_commit(out, e);
}
