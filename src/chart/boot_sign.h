/* SPDX-License-Identifier: MIT */
/*
 * boot_sign: every colour and mark that a boot chart may have, and what it means.
 *
 * One table serves the SVG, the page and both legends, so a picture cannot have a mark that its legend does
 * not explain: whatever draws names the sign it draws, and the legend lists those that were named.
 */
#ifndef KISEKI_CHART_BOOT_SIGN_H
#define KISEKI_CHART_BOOT_SIGN_H

#include <stdint.h>

/* In the order of the legend. The first ones are those of enum boot_state. */
enum boot_sign {
	SIGN_RUNNING,
	SIGN_RUNNABLE,
	SIGN_DISK_WAIT,
	SIGN_SLEEPING,
	SIGN_STOPPED,
	SIGN_ZOMBIE,
	SIGN_UNKNOWN,
	SIGN_FORK,
	SIGN_ERROR,
	SIGN_BEFORE,
	SIGN_ALIVE,
	SIGN_FAILED,
	SIGN_FOLDED,
	SIGN_KERNEL,
	SIGN_SELF,
	SIGN_PATH,
	SIGN_INFERRED,
	SIGN_CPU_USER,
	SIGN_CPU_SYSTEM,
	SIGN_CPU_IRQ,
	SIGN_CPU_STEAL,
	SIGN_CPU_IOWAIT,
	SIGN_DISK_READ,
	SIGN_DISK_WRITE,
	SIGN_DISK_BUSY,
	SIGN_MEMORY_USED,
	SIGN_MEMORY_CACHED,
	SIGN_MEMORY_FREE,
	SIGN_SWAP,
	SIGN_SOME,
	SIGN_FULL,
	SIGN_MESSAGE,
	SIGN_WARNING,
	SIGN_FAILURE,
	SIGN_PHASE,
	SIGN_TARGET,
	SIGN_CLOCK,
	SIGN_MISSING,
	SIGN_STOP,
	SIGN_GAP,
	SIGN_NEW,
	SIGN_GONE,
	SIGN_LATER,
	SIGN_EARLIER,
	SIGN_GHOST,
	SIGNS,
};

/* How it looks in the legend. */
enum boot_shape_of_sign {
	SHAPE_BOX,
	SHAPE_THIN, /* a box of less than the row's height */
	SHAPE_HATCH,
	SHAPE_RAMP,
	SHAPE_LINE,
	SHAPE_DASH,
	SHAPE_TICK,    /* upright */
	SHAPE_WHISKER, /* a line with ends */
	SHAPE_GLYPH,   /* `glyph` */
	SHAPE_FRAME,
	SHAPES,
};

struct boot_sign_look {
	const char *key; /* class in the SVG, key in the page's data */
	const char *group;
	uint8_t shape;
	const char *colour;
	const char *glyph;
	const char *text;
};
extern const struct boot_sign_look boot_signs[SIGNS];
extern const char *const boot_sign_shapes[SHAPES];

/* Running is #ffcb00 at no CPU time and grows darker with it in so many even steps. */
#define BOOT_SIGN_LEVELS 16U
uint32_t boot_sign_running(uint32_t level); /* 0xrrggbb */
uint32_t boot_sign_level(uint32_t permille);

#endif
