/* SPDX-License-Identifier: MIT */
/*
 * local_rows: the log files of a run, and where the blocks of its streams are in them; for local_reader alone.
 *
 * Of a full file its index says so, which is opened when it is needed; of the file that is being written there is a copy of the rows,
 * to which those that are new are added. What an index said is believed after a look whether it is torn.
 */
#ifndef KISEKI_STORE_LOCAL_ROWS_H
#define KISEKI_STORE_LOCAL_ROWS_H

#include <errno.h>

#include "store/local_parts.h"

#define LOCAL_ROWS_INDEXES                                                                         \
	4U /* that are open; the streams that somebody reads are mostly in the same file */

/* The rows of a stream in the file that is being written, and how far we have copied them. */
struct live_stream {
	uint32_t stream;
	uint32_t *rows;
	size_t n, room;
	struct view_key *keys;
	size_t n_keys, room_keys;
	struct rows_walk at_row;
	struct keys_walk at_key;
};

struct reader_file {
	struct log_file *file; /* referenced */
	uint32_t number;
	uint64_t base, size;
	bool has_tick;
	uint64_t from_tick;
	bool live;		     /* being written when we looked: `streams` has its rows */
	struct live_stream *streams; /* by rising number */
	size_t n_streams, room_streams;
	const struct log_index *index; /* of a full file, while we look at it */
	bool known;		       /* `run` is set, as long */
	struct index_run run;
};

/* The rows of a stream in a file, wherever they are. */
struct rows {
	const struct live_stream *live;
	struct index_stream index;
	size_t n, n_keys;
};

struct local_rows {
	struct local_store *store;
	uint32_t run;
	struct reader_file *files;
	size_t n_files, room_files;
	size_t indexed[LOCAL_ROWS_INDEXES]; /* the files whose indexes are open, by turns */
	unsigned int n_indexed;
};

/* Brings the list of files up to what the store shows; its lock is held. */
int local_rows_gather(struct local_rows *r);
void local_rows_done(struct local_rows *r);

/* The rows of a stream in a file: how many, or < 0 if nobody can tell now. A file that is gone has none. */
int local_rows_get(struct local_rows *r, size_t file, uint32_t stream, struct rows *ret);
/* Whether what the rows of the file said was so: 0 or -EIO. */
int local_rows_check(struct local_rows *r, size_t file);

static inline uint32_t rows_at(const struct rows *rows, size_t i)
{
	return rows->live ? rows->live->rows[i] : index_row(&rows->index, (uint32_t)i);
}

static inline struct view_key rows_key_at(const struct rows *rows, size_t i)
{
	return rows->live ? rows->live->keys[i] : index_key(&rows->index, (uint32_t)i);
}

/* A file that is there, but that the machine cannot read now. */
static inline bool local_is_trouble(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

#endif
