/* SPDX-License-Identifier: MIT */
/*
 * facts_local: the engine `local`: facts.sqlite in the folder of a store; for its own files only.
 *
 * Who writes takes the lock, and the connection of the writer. Who asks opens connections for the time of the question (facts_view.h).
 */
#ifndef KISEKI_FACTS_FACTS_LOCAL_H
#define KISEKI_FACTS_FACTS_LOCAL_H

#include <pthread.h>

#include "facts/facts.h"
#include "facts/facts_db.h"

struct facts_local {
	struct facts facts;
	char *path;
	pthread_mutex_t
		lock; /* of the writer; views are opened under it, so that they see the same */
	struct facts_db *writer; /* NULL: only to ask */
	uint64_t summed_to_s;	 /* sums of older hours are made from here back; 0: not begun */
};

int facts_local_open(struct facts **ret, const char *dir, bool is_reader, struct error *e);

/* Takes the lock and begins; on failure the lock is free. */
int facts_local_begin(struct facts_local *l, struct facts_db **ret, struct error *e);
/* Commits if r is 0, else undoes; frees the lock. */
int facts_local_end(struct facts_local *l, int r, struct error *e);

/* --- within a transaction --- */

/* Writes a set over the one of its key. An hour is closed if its minutes are not here. */
int facts_local_write(struct facts_db *d, const struct fact_set *s, bool is_closed,
		      struct error *e);
/* Writes the sum of an hour of all devices (facts_sums.h), over the one before. */
int facts_local_write_sum(struct facts_db *d, const struct fact_set *s, struct error *e);
/* The row of a key; false if there is none. */
struct facts_found {
	bool is_there, is_closed;
	int64_t id;
	uint64_t version;
};
int facts_local_find(struct facts_db *d, const struct fact_key *k, struct facts_found *ret,
		     struct error *e);
int facts_local_drop(struct facts_db *d, int64_t id, struct error *e);

/* Reads a row whole. -ENOENT, -EBADMSG. */
int facts_local_read(struct facts_db *d, int64_t id, struct fact_set *ret, struct error *e);
#define FACTS_SEAL_COLUMN 13
/* Of FACTS_ST_GET, whose first column is the flat list and whose last the seal. False: it is damaged. */
bool facts_local_get_head(sqlite3_stmt *s, struct facts_head *ret);

/* --- the operations, file by file --- */

int facts_local_roll(struct facts *f, uint64_t to_s, struct error *e);
int facts_local_retain(struct facts *f, const struct facts_ages *a, struct error *e);
int facts_local_scan(struct facts *f, const struct facts_query *q, facts_set_fn fn, void *context,
		     struct error *e);
int facts_local_keys(struct facts *f, const struct facts_query *q, facts_head_fn fn, void *context,
		     struct error *e);
int facts_local_top(struct facts *f, const struct facts_query *q, const struct facts_order *o,
		    struct facts_rows *ret, struct error *e);
int facts_local_tree(struct facts *f, const struct facts_query *q, struct fact_set *ret,
		     struct facts_basis *ret_basis, struct error *e);
int facts_local_trend(struct facts *f, const struct facts_query *q, const struct facts_trend *t,
		      struct facts_points *ret, struct error *e);
int facts_local_label(struct facts *f, const struct facts_label_row *r, struct error *e);
int facts_local_labels(struct facts *f, facts_label_fn fn, void *context, struct error *e);

#endif
