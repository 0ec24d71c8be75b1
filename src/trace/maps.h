/* SPDX-License-Identifier: MIT */
/*
 * maps: which file lay where in a process, from the text that the runtime keeps beside its record.
 *
 * The text has the lines of /proc/PID/maps that can hold code, as the kernel prints them. Two things
 * are added: behind the path, after a tab, "build-id=HEX" where it is known; and a line
 * "# generation N" before the lines of each generation, which are the whole map as it was then.
 * Lines before the first such line are of generation 0, so that a plain copy of /proc/PID/maps is
 * read, too. Other lines that start with "#" are remarks.
 *
 * The text comes from a machine that may have lost power while it was written. What is not
 * understood is left out and counted, and a last line without its end is never believed: half a path
 * is another file, half an address another place.
 */
#ifndef KISEKI_TRACE_MAPS_H
#define KISEKI_TRACE_MAPS_H

#include "trace/func_source.h"

#define MAPS_TEXT_MAX (256U << 20)
#define MAPS_PATH_MAX 4096U

struct maps {
	struct func_mapping *mappings; /* by generation, then by address */
	size_t n;
	size_t bad_lines;	    /* not understood, and left out */
	uint32_t newest_generation; /* of the text */
};

/* 0, -ENOMEM, -E2BIG: the text or what it says is larger than a process can have. */
int maps_parse(const char *text, size_t len, struct maps *ret, struct error *e);
void maps_done(struct maps *m);

/* One line of executable code, without its end: 1 it is one, 0 it is none (not executable, a remark,
 * empty), -EBADMSG: no such line. since and until are 0; ret->path is the caller's. -ENOMEM. */
int maps_parse_line(const char *line, size_t len, struct func_mapping *ret);

/* The mapping that had this address in this generation; NULL: none. */
const struct func_mapping *maps_get(const struct func_mapping *mappings, size_t n,
				    uint32_t generation, uint64_t address);

#endif
