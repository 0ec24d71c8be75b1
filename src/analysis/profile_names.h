/* SPDX-License-Identifier: MIT */
/*
 * profile_names: what the addresses of samples are: a place in an object, of a function with a name.
 *
 * An address of a program means what lay there at that moment (trace/sample_spaces.h); one of the kernel what the
 * device said about it, else what a file of the kernel's symbols says. A place is numbered from 0 when it first comes,
 * and is the same in all processes that have the object. Functions are numbered likewise (functions.h).
 *
 * What has no name is object+0xoffset. Memory that is no file's ([vdso], what was compiled at run time) is one
 * function for all of it, and so is all that lay in no mapping: [unknown].
 */
#ifndef KISEKI_ANALYSIS_PROFILE_NAMES_H
#define KISEKI_ANALYSIS_PROFILE_NAMES_H

#include "analysis/functions.h"
#include "base/cleanup.h"
#include "trace/sample_source.h"

#define PROFILE_ADDRESSES_MAX (1U << 23) /* of all processes */
#define PROFILE_PLACES_MAX (1U << 23)

struct profile_place {
	uint32_t function;
	bool kernel;
	uint64_t at;			      /* in the object's file; an address of the kernel */
	const struct sample_mapping *mapping; /* one that has it; NULL: the kernel, or not known */
};

struct profile_names;

/* Source and symbols (NULL: no names but the source's) stay the caller's. */
int profile_names_new(struct profile_names **ret, const struct sample_source *source,
		      struct symbols *symbols, struct error *e);
void profile_names_free(struct profile_names *n);
DEFINE_CLEANUP(profile_names, profile_names_free)

/* An address as a sample has it. */
struct profile_address {
	int32_t pid;
	uint64_t tick;
	uint64_t address;
	bool kernel;
};

/* -E2BIG, -ENOMEM. */
int profile_names_find(struct profile_names *n, const struct profile_address *a,
		       uint32_t *ret_place);

/* The address number `i` of a sample's call chain. */
int profile_names_find_chain(struct profile_names *n, const struct sample_event *ev, uint32_t i,
			     uint32_t *ret_place);

/* The same; each cuts the span to the ticks for which its answer holds. */
int profile_names_find_span(struct profile_names *n, const struct profile_address *a,
			    uint32_t *ret_place, struct sample_span *span);
int profile_names_find_frame(struct profile_names *n, const struct sample_event *ev, uint32_t i,
			     uint32_t *ret_place, struct sample_span *span);

/* What is no function and stands in the place of one. */
int profile_names_label(struct profile_names *n, const char *name, const char *object,
			uint32_t *ret_place);

size_t profile_names_places(const struct profile_names *n);
const struct profile_place *profile_names_get(const struct profile_names *n, uint32_t place);
struct functions *profile_names_functions(struct profile_names *n);

/* Where a place is in the source: 1 known, 0 not. */
int profile_names_line(struct profile_names *n, uint32_t place, const char **ret_file,
		       uint32_t *ret_line);

#endif
