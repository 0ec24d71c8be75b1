/* SPDX-License-Identifier: MIT */
/*
 * boot_layout: what of a boot goes where, before anything is drawn.
 *
 * Which processes have a row and who stands for those that have none; which pixel shows what; where the axis has
 * its lines. The page has the same rules in JavaScript (page/layout.js), and a test holds the two together.
 *
 * A process has a row if it was there in the time shown, unless it is a kernel thread and those are not
 * wanted, or it lived shorter than wanted: then it is folded into the nearest ancestor that has one, and is a
 * mark there. What has no such ancestor keeps its row, so nobody disappears.
 *
 * A pixel may cover several states. What a process did to get on (running, runnable, waiting for a disk, stopped)
 * covers what it did not (sleeping, zombie, not known); among equals the longest wins. Its level of running is
 * its CPU time in all of the time that the pixel has of it. A span that was seen asleep and has used a CPU for a
 * twentieth of its time or more counts for that part as running.
 */
#ifndef KISEKI_CHART_BOOT_LAYOUT_H
#define KISEKI_CHART_BOOT_LAYOUT_H

#include "chart/boot_chart.h"

#define BOOT_LAYOUT_WIDTH_MAX 20000U /* pixels */

/* A stretch of time on so many pixels. */
struct boot_scale {
	uint64_t from_ns, to_ns;
	uint32_t width;
};

double boot_scale_x(const struct boot_scale *s, uint64_t ns);

/* The pixels of a stretch of time: at least one, in [0, width). False: it is not in sight. */
bool boot_scale_pixels(const struct boot_scale *s, uint64_t from_ns, uint64_t to_ns,
		       uint32_t ret[2]);

/* The distance of the axis' lines: 1, 2 or 5 times a power of ten, at least `least_px` apart. */
uint64_t boot_scale_step(const struct boot_scale *s, uint32_t least_px);

struct boot_row {
	uint32_t process;
	uint32_t parent; /* row, or BOOT_NONE */
	uint32_t depth;	 /* among rows */
	uint32_t folded; /* processes that it stands for, beside its own */
};

struct boot_layout {
	uint64_t from_ns, to_ns; /* of the time shown */
	uint64_t base_ns;	 /* where the axis has its 0 */
	struct boot_row *rows;	 /* in tree order */
	size_t n_rows;
	uint32_t *
		row_of; /* of each process: its row, or the one it is folded into; else BOOT_NONE */
	size_t n_hidden; /* that were there and have no row and no ancestor's: kernel threads */
};

int boot_layout_new(struct boot_layout **ret, const struct boot *b,
		    const struct boot_chart_options *o, struct error *e);
void boot_layout_free(struct boot_layout *l);
DEFINE_CLEANUP(boot_layout, boot_layout_free)

/* Neighbouring pixels that look the same. */
struct boot_stretch {
	uint32_t from_px, to_px; /* without the last */
	uint8_t state;
	uint8_t level; /* of running: boot_sign.h */
};

/* The runs of a process, at most as many as the scale has pixels; `out` has room for these. */
size_t boot_layout_runs(const struct boot_scale *s, const struct boot_process *p,
			struct boot_stretch *out);

/* What a series of points says for each pixel: `value` of the stretch that ends at point i, which counts for as much
 * of the pixel as it covers. NAN where there is none. `out` and `scratch` have room for the scale's pixels. */
struct boot_series {
	const void *data;
	size_t n;
	uint64_t (*ns)(const void *data, size_t i);
	double (*value)(const void *data, size_t i);
};
void boot_layout_series(const struct boot_scale *s, const struct boot_series *series, double *out,
			double *scratch);

#endif
