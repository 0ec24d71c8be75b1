/* SPDX-License-Identifier: MIT */
/*
 * fact_pack: trees, tasks and objects of sets as bytes (docs/format/facts.md, sections 3 to 5).
 *
 * Functions are in them as numbers that the engine gives to names; who decodes says which number has which texts. Every count and every
 * number is bounded before it is believed: bytes that are damaged give -EBADMSG, never more memory than their length allows.
 */
#ifndef KISEKI_FACTS_FACT_PACK_H
#define KISEKI_FACTS_FACT_PACK_H

#include "facts/fact_set.h"
#include "wire/varint.h"

/* Bytes to be freed. -ENOMEM. */
int fact_tree_encode(const struct fact_set *s, const uint32_t *numbers, uint8_t **ret,
		     size_t *ret_len);
int fact_tasks_encode(const struct fact_set *s, uint8_t **ret, size_t *ret_len);
int fact_objects_encode(const struct fact_set *s, uint8_t **ret, size_t *ret_len);

/* Into a set that has none yet. -EBADMSG, -ENOMEM, -E2BIG. */
int fact_tasks_decode(struct fact_set *s, const uint8_t *data, size_t len);
int fact_objects_decode(struct fact_set *s, const uint8_t *data, size_t len);

/* A tree, node by node: parents before their children, `up` levels above the node before it. */
struct fact_tree_reader {
	struct byte_reader r;
	uint32_t *numbers; /* of the functions; nodes have places in this */
	size_t n_numbers;
	uint64_t left, period;
	uint64_t root[FACT_VALUES];
	uint64_t depth;
};
struct fact_tree_node {
	uint64_t up; /* 0: a child of the node before it */
	uint32_t number_at;
	uint64_t self[FACT_VALUES];
};
int fact_tree_open(struct fact_tree_reader *t, const uint8_t *data,
		   size_t len); /* -EBADMSG, -ENOMEM */
bool fact_tree_next(struct fact_tree_reader *t,
		    struct fact_tree_node *ret); /* false: end, or t->r.bad */
void fact_tree_done(struct fact_tree_reader *t);
#define CLEANUP_FACT_TREE __attribute__((cleanup(fact_tree_done)))

/* Adds what is left of it to a tree; keys[] is by the places in `numbers`. -EBADMSG, -ENOMEM. */
int fact_tree_add(struct fact_tree_reader *t, struct profile_tree *to, const uint32_t *keys);

#endif
