/* SPDX-License-Identifier: MIT */
/*
 * fact_row: a set as a row of the table `facts`, and back (docs/format/clickhouse.md, section 5).
 *
 * Lists are arrays, so that the server can add them up; trees, tasks and objects are bytes as in every engine (fact_pack.h). Every list
 * begins with a row of the name 0 and one sample: it counts the sets that an answer has.
 */
#ifndef KISEKI_FACTS_CLICKHOUSE_FACT_ROW_H
#define KISEKI_FACTS_CLICKHOUSE_FACT_ROW_H

#include "facts/clickhouse/fact_texts.h"
#include "store/clickhouse/clickhouse_row.h"

/* Of the columns that are not the set's. */
struct fact_row_place {
	uint64_t rank, id, made_of;
	bool is_closed;
	uint8_t kind_more; /* than the set's: FACTS_SUMS_KIND of a sum */
};

#define FACT_ROW_LIST(c) c "_name, " c "_self0, " c "_self1, " c "_total0, " c "_total1, "
#define FACT_ROW_HEAD                                                                              \
	"kind, length, start, device, run, version, covered, events, lost, lost_places, samples, " \
	"ns"
#define FACT_ROW_BODY "names, tree, tasks, objects"
#define FACT_ROW_COLUMNS                                                                           \
	FACT_ROW_HEAD ", day, rank, id, closed, made_of, " FACT_ROW_LIST("function")               \
		FACT_ROW_LIST("process") FACT_ROW_LIST("object") FACT_ROW_LIST("class")            \
			FACT_ROW_LIST("machine") FACT_ROW_BODY

/* Appends it. -ENOMEM. */
int fact_row_encode(struct clickhouse_rows *rows, const struct fact_set *s,
		    const struct fact_hashes *h, const struct fact_row_place *p);

/* FACT_ROW_HEAD; false: it is not whole yet. */
bool fact_row_head(struct byte_reader *in, struct facts_head *ret);

/* FACT_ROW_BODY: borrowed bytes; false: it is not whole yet. */
struct fact_row_body {
	const uint8_t *names; /* of 8 bytes each */
	size_t n_names;
	const uint8_t *tree, *tasks, *objects;
	size_t tree_len, tasks_len, objects_len;
};
bool fact_row_body(struct byte_reader *in, struct fact_row_body *ret);

/* The set of a row. -EBADMSG, -ENOMEM. */
int fact_row_decode(struct fact_set *ret, const struct facts_head *h, const struct fact_row_body *b,
		    struct fact_texts *t, struct error *e);

/* Adds its tree, and nothing else of it, to a set that has one; names are looked up, not copied from set to set. */
int fact_row_add_tree(struct fact_set *to, const struct fact_row_body *b, struct fact_texts *t,
		      struct error *e);

#endif
