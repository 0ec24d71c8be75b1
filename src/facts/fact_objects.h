/* SPDX-License-Identifier: MIT */
/*
 * fact_objects: in how many samples of a minute which builds of objects are.
 *
 * An object counts once for a sample, however many of its frames are in it. What a place belongs to is found out when it first comes.
 */
#ifndef KISEKI_FACTS_FACT_OBJECTS_H
#define KISEKI_FACTS_FACT_OBJECTS_H

#include "analysis/profile_walk.h"
#include "facts/fact_set.h"

struct fact_objects {
	struct fact_seen_object *list;
	size_t n, room;
	uint32_t *of_place; /* index in the list, and one; 0: not looked at yet */
	size_t n_places;
	uint64_t turns; /* so far */
};

/* A zeroed struct is an empty one. */
void fact_objects_done(struct fact_objects *o);
/* The object of a place, which has a number from 0 as it first comes. -ENOMEM, -E2BIG. */
int fact_objects_find(struct fact_objects *o, const struct profile_names *names, uint32_t place,
		      uint32_t *ret);

/* Samples that are alike; then their objects: each counts once, however often it is added. */
void fact_objects_begin(struct fact_objects *o);
void fact_objects_add(struct fact_objects *o, uint32_t object, uint64_t samples);

/* To the rows of a set. -ENOMEM, -E2BIG. */
int fact_objects_give(const struct fact_objects *o, struct fact_set *set);

#endif
