/* SPDX-License-Identifier: MIT */
/*
 * log_index: the index of a log file that is full (docs/format/store.md, section 5): for each run
 * its state before and after the file, for each of its streams where its records are and where
 * segments start; the rows of the ledger; the devices.
 *
 * It is made from the file's view in one piece, carries one checksum over all of it, and is mapped
 * for reading. All of it follows from the log: one that is missing, torn or of another log is made
 * again. Every place in it is checked before it is used, checksum or not.
 *
 * The checksum is looked at once for each file. Who opens one again touches only what it needs, so
 * that a reader of many files does not have all of their indexes in memory. So the disk can still fail then:
 * log_index_check() says whether it did.
 */
#ifndef KISEKI_STORE_LOG_INDEX_H
#define KISEKI_STORE_LOG_INDEX_H

#include "base/mapping.h"
#include "store/log_view.h"

#define INDEX_MAGIC "KISKIDX\n"
#define INDEX_VERSION 2
#define INDEX_VERSION_FIRST 1 /* is read, too: most losses of such an index end where they begin */
#define INDEX_HEAD_LEN 80U

struct log_index {
	const uint8_t *data;
	size_t len;
	uint8_t *owned;	      /* by malloc(), */
	size_t map_len;	      /* or the kernel's memory of so many bytes, */
	struct mapping *file; /* or a file */
	bool lacks;	      /* what the disk did not give of the log */
	unsigned int refs;    /* of those who have it from a store, whose lock they are under */
	uint32_t number;
	uint64_t log_size;
	uint64_t first_ns, last_ns;
	uint32_t next_run;
	uint32_t n_runs, n_streams, n_rows, n_keys, n_losses, n_devices;
	const uint8_t *runs, *streams, *rows, *keys, *losses, *devices;
};

struct index_run {
	uint32_t number;
	struct store_run_ids ids;
	bool has_tick;
	uint64_t from_tick, to_tick;
	const uint8_t *in, *out; /* encoded states */
	size_t in_len, out_len;
	uint32_t first_stream, n_streams;
	uint32_t first_loss, n_losses;
};

struct index_stream {
	uint32_t stream;
	uint32_t n, n_keys;
	const uint8_t *rows; /* le32 each */
	const uint8_t *keys; /* 12 bytes each */
};

/* The index of a view, in memory that is the kernel's again when it is freed: it can be megabytes,
 * once for each file. 0, -ENOMEM, -EFBIG. */
int log_index_new(struct log_index **ret, const struct log_view *v);

/* Takes the bytes, also when it fails. -EBADMSG if they are no index. */
int log_index_open_memory(struct log_index **ret, uint8_t *bytes, size_t len);
/* Maps the file; `sound` if its checksum is known to be right. -ENOENT, -EBADMSG, -EIO if the disk does not give it, … */
int log_index_open(struct log_index **ret, int dir_fd, const char *name, bool sound);
void log_index_free(struct log_index *x);
DEFINE_CLEANUP(log_index, log_index_free)
/* 0, or -EIO: what was found in it since it was opened need not be so, because its file could not be read. */
int log_index_check(const struct log_index *x, struct error *e);

void log_index_run_at(const struct log_index *x, uint32_t i, struct index_run *ret);
bool log_index_run(const struct log_index *x, uint32_t number, struct index_run *ret);
/* The i-th stream of a run. */
void log_index_stream_at(const struct log_index *x, const struct index_run *r, uint32_t i,
			 struct index_stream *ret);
bool log_index_stream(const struct log_index *x, const struct index_run *r, uint32_t stream,
		      struct index_stream *ret);
void log_index_loss_at(const struct log_index *x, uint32_t i, struct store_loss *ret);
int log_index_device_at(const struct log_index *x, uint32_t i, struct store_device *ret);

static inline uint32_t index_row(const struct index_stream *s, uint32_t i)
{
	return get_le32(s->rows + 4 * (size_t)i);
}

static inline struct view_key index_key(const struct index_stream *s, uint32_t i)
{
	const uint8_t *p = s->keys + 12 * (size_t)i;

	return (struct view_key){ .tick = get_le64(p), .row = get_le32(p + 8) };
}

#endif
