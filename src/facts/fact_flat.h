/* SPDX-License-Identifier: MIT */
/*
 * fact_flat: the tree of a set as lists: its functions, processes, objects, classes and machines (docs/format/facts.md, section 2).
 *
 * Who asks which functions take the most time of a thousand devices reads these and no trees. A row's own part are the samples that
 * end in it, its total those in which it is anywhere, and recursion counts once. A process, a class and a machine have all that is below
 * them as their own.
 */
#ifndef KISEKI_FACTS_FACT_FLAT_H
#define KISEKI_FACTS_FACT_FLAT_H

#include "facts/facts.h"
#include "wire/varint.h"

struct fact_flat_row {
	uint32_t number; /* of the name, in the engine that keeps it */
	uint64_t self[FACT_VALUES], total[FACT_VALUES];
};

struct fact_flat {
	struct fact_flat_row *rows[FACTS_BYS]; /* by rising number */
	size_t n[FACTS_BYS];
};

/* The numbers that the functions of a set have, and those of their objects; by the set's keys. */
struct fact_numbers {
	uint32_t *functions, *objects;
};

/* -ENOMEM. */
int fact_flat_init(struct fact_flat *f, const struct fact_set *s, const struct fact_numbers *n);
void fact_flat_done(struct fact_flat *f);
#define CLEANUP_FACT_FLAT __attribute__((cleanup(fact_flat_done)))

/* Bytes to be freed. -ENOMEM. */
int fact_flat_encode(const struct fact_flat *f, uint8_t **ret, size_t *ret_len);

/* Reads one of the lists, without any memory of its own. */
struct fact_flat_reader {
	struct byte_reader r;
	uint64_t left, period;
	uint64_t number;
};
int fact_flat_read(struct fact_flat_reader *f, const uint8_t *data, size_t len,
		   enum facts_by by); /* -EBADMSG */
/* False at the end, and where it is damaged: then f->r.bad. */
bool fact_flat_next(struct fact_flat_reader *f, struct fact_flat_row *ret);

#endif
