/* SPDX-License-Identifier: MIT */
/*
 * sample_spaces_parts: the tables behind sample_spaces.h; for sample_spaces*.c, and for nobody else.
 */
#ifndef KISEKI_TRACE_SAMPLE_SPACES_PARTS_H
#define KISEKI_TRACE_SAMPLE_SPACES_PARTS_H

#include "store/hashtable.h"
#include "trace/sample_spaces.h"

#define SPACES_PARENTS_MAX 64U /* forks without an exec between them that are followed */
#define SPACES_TEXTS_MAX (SAMPLE_MAPPINGS_MAX + SAMPLE_LIVES_MAX + SAMPLE_KERNEL_NAMES_MAX)

struct mapping {
	struct sample_mapping row;
	uint32_t order; /* in which it was said */
};

struct life {
	struct sample_life_row row;
	uint32_t order;
	uint32_t number; /* of the life that this row is part of */
	bool is_base;	 /* rows before it are forgotten: its number stays */
};

/* As it was said. */
struct kernel_name {
	struct sample_kernel_name row;
	uint32_t order;
};

/* Of each table the first rows are in order: those that were there when it was settled last. */
struct sample_spaces {
	struct mapping *mappings; /* after settling by process, tick and order */
	size_t n_mappings, room_mappings, sorted_mappings;
	struct life *lives; /* likewise */
	size_t n_lives, room_lives, sorted_lives;
	struct kernel_name *names; /* by address, each range once */
	size_t n_names, room_names, sorted_names;
	struct sample_kernel_name *kernel; /* the same, none over another */
	size_t n_kernel;
	struct hashtable texts; /* paths and names, each once */
	size_t text_bytes;
	uint32_t next_order;
	uint64_t latest;    /* tick of a life's row */
	uint64_t forgotten; /* what no moment from here on needs is not there */
	bool is_torn;
};

void sample_spaces_free_texts(struct hashtable *texts);

/* The one copy of a text that is as it should be. -ENOMEM, -E2BIG. */
int sample_spaces_keep_text(struct sample_spaces *s, const char *text, size_t len,
			    const char **ret);

/* The first mapping of the process at or after the tick; n: there is none. */
size_t sample_spaces_first_mapping(const struct sample_spaces *s, int32_t pid, uint64_t tick);

#endif
