/* SPDX-License-Identifier: MIT */
/*
 * func_maps: which file lay where in a traced process, from the maps file beside its record
 * (docs/format/func-buffer.md, section 6) into the run's metadata.
 *
 * The file has generations, each a whole map. What is passed on are the changes: a mapping when it
 * comes, and once more, with its end, when a generation does not have it any more. The file itself is
 * the memory of what was there before; kept of a mapping is a hash of its line and the generation
 * that had it first. A process with more mappings than there is room for has the rest said again with
 * every generation.
 *
 * The text is the process's own and may be anything. What is no line of a map is passed over, and a
 * generation counts when its end is there.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_MAPS_H
#define KISEKI_DEVICE_FEED_FUNC_MAPS_H

#include "base/error.h"
#include "wire/func_meta_encode.h"

#define FUNC_MAPS_KNOWN 192U
#define FUNC_MAPS_LINE (4096U + 256U)
#define FUNC_MAPS_FILE_MAX (16U << 20)
#define FUNC_MAPS_BUILD_ID 20U

struct func_maps_known {
	uint64_t hash;
	uint32_t since;
};

/* Of one process: where its text was read to. */
struct func_maps {
	uint64_t read_to;    /* behind the last generation that was passed on */
	uint64_t last_at;    /* where its lines start */
	uint32_t generation; /* its number, 0: none yet */
	uint32_t n;	     /* known */
	struct func_maps_known known[FUNC_MAPS_KNOWN];
};

/* Where mappings go: 0, or what ends the reading, as -ENOSPC. */
struct func_maps_sink {
	void *context;
	int (*put)(void *context, const struct func_meta_mapping *m);
};

void func_maps_init(struct func_maps *m);

/* Passes on the generations that are complete by now. When it fails, it begins with the same
 * generation again the next time. */
int func_maps_turn(struct func_maps *m, int fd, const struct func_maps_sink *sink);

/* A line of code in a map, without its end; the path is borrowed and `\012` in it becomes a line feed
 * in place. False: it is none, or cannot be executed, or has no file. */
bool func_maps_parse_line(char *line, size_t len, struct func_meta_mapping *ret);

#endif
