/* SPDX-License-Identifier: MIT */
/*
 * boot_chart: a boot as a picture: a plain SVG, or one HTML file that needs nothing else.
 *
 * Both show the same: rows of the machine (CPU, disk, memory, pressure), marks, then a row for each process in
 * tree order from its start to its end, in the colours of the first bootchart, and a legend that explains every
 * mark. The HTML carries the boot as JSON (boot_json.h) and draws it in the browser: zoom, hover, search, fold,
 * critical path to any point. A chart of two boots has them one above the other on one axis.
 */
#ifndef KISEKI_CHART_BOOT_CHART_H
#define KISEKI_CHART_BOOT_CHART_H

#include <stdio.h>

#include "analysis/boot.h"

struct boot_chart_options {
	uint64_t from_ns, to_ns; /* 0: all */
	uint64_t
		min_ns; /* processes that lived shorter are folded into their parent; 0: all are shown */
	bool kernel;		  /* kernel threads, too */
	uint32_t width;		  /* of the SVG in pixels; 0: as wide as the time wants */
	bool path;		  /* show the critical path to the target, or to path_ns */
	uint64_t path_ns;	  /* 0: the target, else the end */
	uint32_t path_of;	  /* index of the process + 1; 0: whoever the moment is about */
	const struct boot *other; /* a second boot, drawn below and compared with; NULL: none */
};

int boot_chart_svg(FILE *f, const struct boot *b, const struct boot_chart_options *o,
		   struct error *e);
int boot_chart_html(FILE *f, const struct boot *b, const struct boot_chart_options *o,
		    struct error *e);

/* What the page's script draws, as JSON: for a page that has the script already. */
int boot_chart_data(FILE *f, const struct boot *b, const struct boot_chart_options *o,
		    struct error *e);

#endif
