/* SPDX-License-Identifier: MIT */
/*
 * flame_chart: a tree of stacks as a flame graph: a page that can be zoomed and searched, or an SVG.
 *
 * What is narrower than FLAME_CHART_LEAST of all is left out: it could not be seen, and a profile of a day would be a page
 * that no browser opens. It stays part of the width of what called it.
 */
#ifndef KISEKI_CHART_FLAME_CHART_H
#define KISEKI_CHART_FLAME_CHART_H

#include <stdio.h>

#include "analysis/functions.h"
#include "analysis/profile_tree.h"
#include "base/error.h"

#define FLAME_CHART_LEAST (1.0 / 50000)

struct flame_chart {
	const struct profile_tree *tree; /* sorted */
	const struct functions *functions;
	size_t value;  /* of the tree, which the widths are of */
	size_t before; /* if it is a comparison: the one that is compared with */
	bool is_diff;
	const char *unit;     /* "ns", "cycles", "samples" */
	const char *title;    /* of what it is */
	const char *subtitle; /* what else is to be said; of a comparison what it is compared with */
};

/* The ending of the path says which: .html or .svg; "-" is a page on standard output. -EINVAL: another ending. */
int flame_chart_write(const struct flame_chart *c, const char *path, struct error *e);

/* Whether the ending of a path says how it is to be written. */
bool flame_chart_takes(const char *path);

int flame_chart_html(FILE *f, const struct flame_chart *c, struct error *e);
int flame_chart_svg(FILE *f, const struct flame_chart *c, struct error *e);

/* The node behind this one that is wide enough, or PROFILE_NODE_NONE; 0 before the first. */
uint32_t flame_chart_next(const struct flame_chart *c, uint32_t node);

#endif
