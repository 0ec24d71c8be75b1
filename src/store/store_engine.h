/* SPDX-License-Identifier: MIT */
/*
 * store_engine: what stands behind store.h and store_reader.h; for engines, and for nobody else.
 *
 * An engine embeds a struct store as its first member and fills the operations, each of which does
 * what the function of that name in store.h says. `local` keeps everything in a folder
 * (local_parts.h), `clickhouse` in the tables of a server (clickhouse/clickhouse.h).
 */
#ifndef KISEKI_STORE_STORE_ENGINE_H
#define KISEKI_STORE_STORE_ENGINE_H

#include "store/run_state.h"
#include "store/store_check.h"
#include "store/store_reader.h"

struct store_ops {
	void (*free)(struct store *s);

	int (*device)(struct store *s, const struct store_device *d, struct error *e);
	int (*take_run)(struct store *s, const struct store_run_ids *ids, uint32_t *ret_number,
			struct error *e);
	int (*find_run)(struct store *s, const struct store_run_ids *ids, uint32_t *ret_number,
			struct error *e);
	size_t (*next_sequences)(struct store *s, uint32_t run, struct message_resume *rows,
				 size_t n);
	int (*put)(struct store *s, uint32_t run, const struct block *b, const uint8_t *bytes,
		   struct error *e);
	int (*end)(struct store *s, uint32_t run, const struct message_end *m, struct error *e);
	int (*note)(struct store *s, const struct store_clock *c, struct error *e);
	int (*commit)(struct store *s, uint64_t *ret_durable, struct error *e);
	uint64_t (*puts)(const struct store *s);
	uint64_t (*waiting)(const struct store *s);
	int (*settle)(struct store *s, struct error *e);
	int (*retain)(struct store *s, struct error *e);

	int (*devices)(struct store *s, store_device_fn fn, void *context, struct error *e);
	int (*runs)(struct store *s, const struct message_id *device, store_run_fn fn,
		    void *context, struct error *e);
	int (*get_run)(struct store *s, uint32_t number, struct store_run *ret, struct error *e);
	int (*ledger)(struct store *s, uint32_t run, store_loss_fn fn, void *context,
		      struct error *e);
	int (*get_clock)(struct store *s, uint32_t run, struct store_clock *ret);
	void (*wait)(struct store *s, uint64_t *version, unsigned int timeout_ms);
	void (*damage)(struct store *s,
		       struct store_damages *ret); /* NULL: a server's own affair */
	void (*space)(struct store *s, uint64_t *ret_used, uint64_t *ret_free);

	int (*check)(struct store *s, store_damage_fn fn, void *context, struct store_counts *ret,
		     struct error *e);
	int (*open_reader)(struct block_reader **ret, struct store *s, uint32_t run,
			   const struct store_range *range, struct error *e);
};

/* Embedded as the first member of every engine's store. */
struct store {
	const struct store_ops *ops;
};

struct store_reader_ops {
	int (*refresh)(struct block_reader *r, struct error *e);
	uint64_t (*count)(const struct block_reader *r);
};

/* Embedded as the first member of every engine's reader. */
struct store_reader {
	struct block_reader reader;
	const struct store_reader_ops *ops;
	struct store_range range;
	struct run_state in, out; /* of the run: before what is left of it, and behind it */
	uint64_t *torn;		  /* places */
	size_t n_torn, room_torn;
};

/* Operations of a block_reader that follow from the states, or from the operations beside them. */
void store_reader_start(struct block_reader *r, uint32_t stream, struct block_start *ret);
bool store_reader_stream(struct block_reader *r, uint32_t stream, struct block_stream *ret);
uint32_t store_reader_streams(struct block_reader *r);
bool store_reader_find(struct block_reader *r, uint32_t from, uint32_t *ret);
bool store_reader_torn(struct block_reader *r, uint64_t from, uint64_t to);
void store_reader_note(struct block_reader *r, uint64_t place, uint64_t len, const char *what);
void store_reader_note_torn(struct store_reader *r, uint64_t place);
void store_reader_done(struct store_reader *r);

/* The order in which store_runs() tells struct store_run. */
int store_latest_first(const void *a, const void *b);

/* The engines. */
int local_open(struct store **ret, const char *dir, const struct store_options *o, struct error *e);

#endif
