/* SPDX-License-Identifier: MIT */
/*
 * boot_svg: what the files that draw the SVG of a boot chart share. Only boot_svg_*.c and boot_chart_svg.c
 * include this.
 *
 * Everything that is drawn has the key of its sign as its class and sets that sign as seen: the legend, which is
 * drawn last and stands first, has those.
 */
#ifndef KISEKI_CHART_BOOT_SVG_H
#define KISEKI_CHART_BOOT_SVG_H

#include "analysis/boot_diff.h"
#include "analysis/boot_path.h"
#include "chart/boot_heading.h"
#include "chart/boot_layout.h"
#include "chart/boot_sign.h"

#define SVG_SCRATCH 4U
#define SVG_MARGIN 16U
#define SVG_LABEL 320U /* width of the names' column */
#define SVG_PLOT (SVG_MARGIN + SVG_LABEL)
#define SVG_RIGHT 56U /* right of the plot, for scales */
#define SVG_ROW 18U
#define SVG_BAR 12U
#define SVG_COLUMN_PX 6.1 /* width of a character, on average */

struct boot_svg {
	FILE *f;
	const struct boot_chart_options *o;
	bool seen[SIGNS];
	uint32_t width; /* of the plot */
	double y;	/* where the next thing goes */

	/* Of the boot that is being drawn. */
	const struct boot *b;
	struct boot_layout *layout;
	struct boot_scale scale;
	const struct boot_diff *diff; /* NULL: there is one boot only */
	uint32_t *pair_of;	      /* pair of each process, or BOOT_NONE */
	bool is_second;
	struct boot_stretch *runs;   /* as many as pixels */
	double *pixels[SVG_SCRATCH]; /* of the machine's rows; the last for boot_layout_series() */
};

static inline void boot_svg_see(struct boot_svg *s, enum boot_sign sign)
{
	s->seen[sign] = true;
}

/* CPU, disks, memory, pressure; then the marks. */
void boot_svg_put_machine(struct boot_svg *s);
void boot_svg_put_marks(struct boot_svg *s);

/* Lines and columns that go through all rows between two heights. */
void boot_svg_put_grid(struct boot_svg *s, double from_y, double to_y);
void boot_svg_put_axis(struct boot_svg *s);

int boot_svg_put_processes(struct boot_svg *s, struct error *e);

#endif
