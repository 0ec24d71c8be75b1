/* SPDX-License-Identifier: MIT */
/*
 * summary_db: summaries in an SQLite file of their own (docs/format/summary.md).
 *
 * The file is derived: whoever writes it may throw it away and start again, and does so when it is
 * damaged or of another version. One writer, and any number of readers, each with a connection of
 * its own: a reader sees one state of the file, however long it takes.
 */
#ifndef KISEKI_COLLECTOR_SUMMARY_DB_H
#define KISEKI_COLLECTOR_SUMMARY_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "trace/clock.h"
#include "wire/message.h"

struct summary_db;

/* The writer's: makes the file if it is not there, or not usable. */
int summary_db_open(struct summary_db **ret, const char *path, struct error *e);
/* A reader's: -ENOENT if there is no usable file. The state that it sees is fixed here. */
int summary_db_open_reader(struct summary_db **ret, const char *path, struct error *e);
void summary_db_free(struct summary_db *d);
DEFINE_CLEANUP(summary_db, summary_db_free)
void summary_db_remove(const char *path); /* readers keep what they have open */

/* What is written is there after the commit, or if anything failed, not at all. */
int summary_db_begin(struct summary_db *d, struct error *e);
int summary_db_commit(struct summary_db *d, struct error *e);
void summary_db_undo(struct summary_db *d);

/* What a run's summaries are of. */
struct summary_run {
	struct message_id id;
	uint32_t mult, shift;
	uint64_t base_ns;
};

int summary_db_get_run(struct summary_db *d, uint32_t run, struct summary_run *ret,
		       struct error *e); /* -ENOENT */
int summary_db_put_run(struct summary_db *d, uint32_t run, const struct summary_run *r,
		       struct error *e);
int summary_db_drop_run(struct summary_db *d, uint32_t run, struct error *e);
/* The smallest number of a run above `after`; -ENOENT if there is none. */
int summary_db_next_run(struct summary_db *d, int64_t after, uint32_t *ret, struct error *e);

/* Bytes are borrowed until the next call; -ENOENT. */
int summary_db_get_carry(struct summary_db *d, uint32_t run, uint32_t cpu, const uint8_t **ret,
			 size_t *ret_len);
int summary_db_put_carry(struct summary_db *d, uint32_t run, uint32_t cpu, const uint8_t *data,
			 size_t len);

struct summary_key {
	uint32_t run, cpu, level;
	uint64_t chunk;
};

int summary_db_put_chunk(struct summary_db *d, const struct summary_key *k, const uint8_t *data,
			 size_t len);
/* The first chunk of this run, CPU and level at or behind k->chunk, which is then set to it.
 * 1, 0 if there is none, < 0. Bytes are borrowed until the next call. */
int summary_db_next_chunk(struct summary_db *d, struct summary_key *k, const uint8_t **ret,
			  size_t *ret_len);
/* Drops the chunks before k->chunk. */
int summary_db_drop_chunks(struct summary_db *d, const struct summary_key *k);

/* Why the last call failed, for those that have no struct error. */
int summary_db_error(struct summary_db *d, struct error *e, const char *what);

#endif
