/* SPDX-License-Identifier: MIT */
/*
 * log_view: what one log file holds: its runs with their state before and after, where the blocks
 * of each of their streams are, the rows of the ledger, and the devices.
 *
 * It is built by applying the records in order: as they are committed for the file that is being
 * written, or by reading a file whose index is missing. When a file is full, its view becomes its
 * index (log_index.h). A collector has one in memory all the time, so what grows with every block
 * is packed (view_rows.h).
 */
#ifndef KISEKI_STORE_LOG_VIEW_H
#define KISEKI_STORE_LOG_VIEW_H

#include "store/hashtable.h"
#include "store/log.h"
#include "store/log_mark.h"
#include "store/run_state.h"
#include "store/view_rows.h"

struct view_stream {
	uint32_t stream;
	struct view_rows rows; /* offsets of the records, rising */
	struct view_keys keys;
	uint64_t head_events; /* stored before the first of them: of a segment of an earlier file */
};

struct view_run {
	uint32_t number;
	struct store_run_ids ids;
	uint8_t *in; /* its state before this file, encoded */
	size_t in_len;
	struct run_state state;	     /* after it */
	struct view_stream *streams; /* by rising number */
	size_t n, room;
	bool has_tick;
	uint64_t from_tick, to_tick; /* of the events in this file */
	struct view_losses losses;
};

struct log_view {
	struct log_head head;
	uint64_t size;	  /* bytes that were applied, the head included */
	uint64_t last_ns; /* of arrival */
	struct hashtable by_number;
	struct view_run **runs; /* in the order of their first record */
	size_t n_runs, room_runs;
	uint64_t n_losses, n_blocks;
	struct store_device *devices;
	size_t n_devices, room_devices;
};

struct log_view *log_view_new(const struct log_head *head);
void log_view_free(struct log_view *v);
DEFINE_CLEANUP(log_view, log_view_free)

/* 0, -ENOMEM, or -EBADMSG: a record that no store wrote here; nothing was changed. *ret_run, if not
 * NULL, is the run it was about, or NULL. */
int log_view_apply(struct log_view *v, const struct log_record *r, uint32_t offset,
		   struct view_run **ret_run);

struct view_run *log_view_run(const struct log_view *v, uint32_t number);
const struct view_stream *view_run_stream(const struct view_run *r, uint32_t stream);

/* Bytes that once were records are damaged: runs that were declared there are known by `mark`, if it
 * is not NULL, and what the runs that had not ended had there is not known. 0 or -ENOMEM. */
int log_view_damage(struct log_view *v, uint64_t from, uint64_t to, const struct log_mark *mark);

/* Places that are no record. */
typedef void (*log_damage_fn)(void *context, uint64_t offset, uint64_t len, const char *what);

struct log_scan {
	const uint8_t *data;
	size_t len;
	bool to_the_end;	     /* go on behind damage; else it ends the file */
	uint32_t number;	     /* with that: the file's, if its head cannot be read */
	const struct log_mark *mark; /* what the file must have; NULL: nobody knows */
	log_damage_fn on_damage;     /* or NULL */
	void *context;
};

/* Applies all records of a file's bytes; v->size is then where the last sound one ended. A new view
 * in *ret; -EBADMSG if the head is not sound and ends it. */
int log_view_scan(struct log_view **ret, const struct log_scan *scan, struct error *e);
/* Whether a whole record starts at `at` or behind it. */
bool log_scan_finds(const struct log_scan *scan, uint64_t at);

/* A device as the body of its record, and back. */
#define LOG_DEVICE_ROOM (16U + 3 * VARINT_MAX + 4 * (STORE_NAME_MAX + VARINT_MAX))
size_t log_device_encode(uint8_t out[LOG_DEVICE_ROOM], const struct store_device *d);
int log_device_decode(struct store_device *ret, const uint8_t *in, size_t len);

size_t log_clock_encode(uint8_t out[3 * VARINT_MAX], const struct store_clock *c);
int log_clock_decode(struct store_clock *ret, const uint8_t *in, size_t len);

/* An END again as bytes, to be freed: the message has only a reader over its rows. 0 or -ENOMEM. */
int log_end_encode(const struct message_end *m, uint8_t **ret, size_t *ret_len);

#endif
