/* SPDX-License-Identifier: MIT */
/*
 * maps: which file lay where in a process, from the text that the runtime keeps beside its record.
 *
 * The text is that of docs/format/func-buffer.md, section 6: the lines of /proc/PID/maps that can
 * hold code, as the kernel prints them, in generations, each of which is the whole map as it was then.
 * Before a line "# build-id HEX" may stand, or behind its path, after a tab, "build-id=HEX". A text
 * without the head "# kiseki maps 1" is read, too, as a copy of /proc/PID/maps; its lines are of
 * generation 0 up to the first "# generation N", and its generations need no "# end N".
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
	struct func_mapping *mappings; /* by generation, then by address. In a text with generations
					* the last ones have `until` too: of a generation that is not
					* in the text nothing is known */
	size_t n;
	size_t bad_lines; /* not understood, and left out; a generation without end is one */
	uint32_t newest_generation; /* that is complete */
};

/* 0, -ENOMEM, -E2BIG: the text or what it says is larger than a process can have; -EPROTONOSUPPORT: a
 * version that came later. */
int maps_parse(const char *text, size_t len, struct maps *ret, struct error *e);
void maps_done(struct maps *m);

/* The mapping that had this address in this generation; NULL: none. */
const struct func_mapping *maps_get(const struct func_mapping *mappings, size_t n,
				    uint32_t generation, uint64_t address);

#endif
