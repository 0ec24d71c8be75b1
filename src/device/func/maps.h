/* SPDX-License-Identifier: MIT */
/*
 * maps: which object an address belongs to, and the text of it for whoever reads the record
 * (docs/format/func-buffer.md, section 6).
 *
 * All of it comes from /proc/self/maps and from the objects' own headers in memory, without a lock
 * of the dynamic linker: a hook may run anywhere, also in a child that was forked while another
 * thread held one.
 */
#ifndef KISEKI_DEVICE_FUNC_MAPS_H
#define KISEKI_DEVICE_FUNC_MAPS_H

#include "wire/types.h"

#define MAPS_RANGES_MAX 2048U
#define MAPS_TEXT_MAX (256U << 10)
#define MAPS_FILE_MAX (16U << 20) /* of the file, all generations */
#define MAPS_LINE_MAX 4352U
#define MAPS_BUILD_ID_MAX 20U

struct maps_range {
	uint64_t from, to, offset;
	uint32_t path; /* in the text */
};

struct maps_table {
	uint32_t n;
	uint32_t text_len;
	struct maps_range range[MAPS_RANGES_MAX];
	char text[MAPS_TEXT_MAX];
};

/* The last generation and the one being read; mapped, so that it costs what it holds. */
struct maps {
	uint32_t now; /* which of the two counts */
	uint64_t written;
	struct maps_table table[2];
	char line[MAPS_LINE_MAX];
	char block[4096];
};

enum maps_change {
	MAPS_SAME = 0,
	MAPS_MORE = 1,	  /* all that was there is there */
	MAPS_GONE = 2,	  /* something is not */
	MAPS_UNKNOWN = 3, /* they could not be read */
};

enum maps_change maps_parse(struct maps *m);

/* The object at an address; NULL: none that is known. */
const struct maps_range *maps_find(const struct maps *m, uint64_t address);

static inline const char *maps_path(const struct maps *m, const struct maps_range *r)
{
	return m->table[m->now].text + r->path;
}

/* Appends the table as a generation to the file; false: it could not be written. */
bool maps_write(struct maps *m, int fd, uint32_t generation);

#endif
