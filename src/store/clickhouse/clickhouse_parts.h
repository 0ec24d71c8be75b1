/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_parts: the engine `clickhouse`: what its files share; for nobody else.
 *
 * The tables are the truth: blocks, each by device, run, stream and sequence, and notes, each by
 * device, run and kind. What a run has come to (run_state.h) follows from its blocks in the order of
 * their sequences and from its notes, and is made from them when it is needed. So a block that was
 * inserted twice, by one collector or by two, counts once, and there is nothing that two collectors
 * could write differently.
 *
 * In memory each run has two states: `shown`, that of the tables as far as this process has looked or
 * has inserted itself, and `put`, which also has what waits for its commit. One lock guards both; it
 * is never held while the server is asked. Runs stay in memory until the store is closed.
 */
#ifndef KISEKI_STORE_CLICKHOUSE_PARTS_H
#define KISEKI_STORE_CLICKHOUSE_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/clickhouse/clickhouse_link.h"
#include "store/clickhouse/clickhouse_row.h"
#include "store/cuts.h"
#include "store/hashtable.h"
#include "store/store_engine.h"

#define CLICKHOUSE_RUNS_MAX (1U << 20)
#define CLICKHOUSE_DEVICES_MAX (1U << 20)
#define CLICKHOUSE_BATCH_BYTES (64ULL << 20)
#define CLICKHOUSE_LOOK_MS 1000U /* what others inserted is seen this late at most */
/* How far the clocks of collectors may differ, and how late an insert may be: what came so long ago is
 * in the tables. */
#define CLICKHOUSE_LATE_NS (600ULL * 1000000000)

enum clickhouse_kind {
	NOTE_END = 1,	/* the body of an END message */
	NOTE_CLOSE = 2, /* no END will come */
	NOTE_CLOCK = 3,
	NOTE_STATE = 4, /* the run's state with some of its blocks: saves reading their rows */
	NOTE_CUT = 5,	/* its state before the days that are left */
	NOTE_GONE = 6,	/* nothing of it is left */
};

struct clickhouse_run {
	uint32_t number; /* the lowest that it was given */
	struct store_run_ids ids;
	bool known;  /* it is in the tables */
	bool loaded; /* `in` and `shown` have been read */
	bool gone;
	bool saved;	     /* there is a NOTE_STATE of it */
	bool behind;	     /* the tables have more */
	uint64_t cut_ns;     /* when its NOTE_CUT came; 0: it has none */
	struct run_state in; /* before the first day that is left */
	struct cuts cuts;
	struct run_state shown;
	bool has_put;
	struct run_state put;
	bool declared; /* its row waits or is inserted */
	bool touched;  /* in the list of those that may be saved */
	bool checked;  /* … against the tables, since its device arrived the `arrival`th time */
	uint32_t arrival;
	uint64_t looked_ms;    /* when the tables were asked last */
	uint64_t saved_blocks; /* of the last NOTE_STATE */
};

/* A number by which a run is found; it has one, unless two collectors met it at the same time. */
struct clickhouse_alias {
	uint32_t number;
	struct clickhouse_run *run;
};

struct clickhouse_arrival {
	struct message_id device;
	uint32_t count;
};

/* What was put, for `shown` when it is durable. */
struct clickhouse_record {
	struct clickhouse_run *run;
	uint64_t came_ns;
	uint8_t kind; /* enum clickhouse_kind; 0: a block */
	size_t at;    /* in the batch's blocks or notes */
	uint32_t len;
};

enum { PART_RUNS, PART_DEVICES, PART_BLOCKS, PART_NOTES, PARTS };

struct clickhouse_batch {
	struct clickhouse_rows parts[PARTS];
	bool done[PARTS]; /* inserted */
	struct clickhouse_record *records;
	size_t n, room;
	uint64_t puts;
};

struct clickhouse_store {
	struct store store;
	struct store_options options;
	struct clickhouse_url url;
	struct clickhouse_link *link;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t committed;
	uint64_t version;
	struct hashtable by_id;	    /* struct clickhouse_run */
	struct hashtable by_number; /* struct clickhouse_alias */
	struct hashtable arrivals;  /* struct clickhouse_arrival */
	struct clickhouse_run **touched;
	size_t n_touched, room_touched;
	struct clickhouse_batch *filling;
	bool wants_commit;	   /* somebody was sent away until the server answers */
	atomic_bool without_disks; /* the server has no table of its disks */
	atomic_uint_fast64_t puts;
	atomic_uint_fast64_t waiting;

	pthread_mutex_t look_lock;     /* one looks at all runs at a time */
	uint64_t looked_ms, looked_ns; /* when, by both clocks */
	pthread_mutex_t keep_lock;     /* one saves or removes at a time */

	/* the committing thread's own */
	struct clickhouse_batch *pending, *spare;
	uint64_t durable;
};

static inline struct clickhouse_store *clickhouse_get(struct store *s)
{
	return (struct clickhouse_store *)s;
}

/* --- clickhouse_load.c: what the tables have --- */

/* Loads rows of `runs` that fit the condition into memory. */
int clickhouse_load_runs(struct clickhouse_store *s, const char *where, struct error *e);
/* In memory, or found in the tables; -ENOENT and no text if there is none. */
int clickhouse_load_number(struct clickhouse_store *s, uint32_t number, struct clickhouse_run **ret,
			   struct error *e);
int clickhouse_load_id(struct clickhouse_store *s, const struct message_id *id,
		       struct clickhouse_run **ret, struct error *e);
/* Brings one run, or all that have more, up to what the tables have. */
int clickhouse_load_run(struct clickhouse_store *s, struct clickhouse_run *run, struct error *e);
int clickhouse_load_all(struct clickhouse_store *s, struct error *e);

/* All of a run, or its days up to one, from its beginning into a state of the caller's. */
struct clickhouse_replay {
	const struct clickhouse_run *run;
	struct run_state *state; /* where it begins: `in`, which the caller has copied */
	struct cuts *cuts;	 /* or NULL */
	const struct run_losses *losses;
	const char *where; /* "" or a condition beside the run */
	uint64_t *came_ns; /* or NULL: is set to that of the block or note that is being taken */
};
int clickhouse_load_replay(struct clickhouse_store *s, struct clickhouse_replay *p,
			   struct error *e);

/* "device = … AND run = …" */
#define CLICKHOUSE_WHERE_MAX 128U
const char *clickhouse_where(const struct store_run_ids *ids, char out[CLICKHOUSE_WHERE_MAX]);

/* --- clickhouse_runs.c: those in memory; the lock is held --- */

struct clickhouse_run *clickhouse_runs_find(struct clickhouse_store *s,
					    const struct message_id *id);
struct clickhouse_run *clickhouse_runs_get(struct clickhouse_store *s, uint32_t number);
/* The run with these ids, which also has this number; a new one if it is not there. */
int clickhouse_runs_add(struct clickhouse_store *s, const struct store_run_ids *ids,
			uint32_t number, struct clickhouse_run **ret);
void clickhouse_runs_facts(const struct clickhouse_run *run, struct store_run *ret);
void clickhouse_runs_done(struct clickhouse_store *s);
/* A block of the tables or of a batch. */
int clickhouse_run_take(struct clickhouse_run *run, const struct clickhouse_header *h);
/* The same, to any state: cuts and losses may be NULL. */
int clickhouse_state_take(struct run_state *state, struct cuts *cuts,
			  const struct run_losses *losses, const struct clickhouse_header *h);
void clickhouse_state_note(struct run_state *state, const struct run_losses *losses,
			   const struct clickhouse_record *n, const uint8_t *body);

/* --- clickhouse_put.c --- */

struct clickhouse_batch *clickhouse_batch_new(void);
void clickhouse_batch_free(struct clickhouse_batch *b);
size_t clickhouse_batch_len(const struct clickhouse_batch *b);
/* A row of `notes`; the lock is held. */
int clickhouse_put_note(struct clickhouse_store *s, struct clickhouse_run *run,
			enum clickhouse_kind kind, const struct message_text *body,
			struct error *e);

/* --- the operations (store_engine.h), by the file that has them --- */

int clickhouse_device(struct store *store, const struct store_device *d, struct error *e);
int clickhouse_take_run(struct store *store, const struct store_run_ids *ids, uint32_t *ret_number,
			struct error *e);
int clickhouse_find_run(struct store *store, const struct store_run_ids *ids, uint32_t *ret_number,
			struct error *e);
int clickhouse_put(struct store *store, uint32_t number, const struct block *b,
		   const uint8_t *bytes, struct error *e);
int clickhouse_end(struct store *store, uint32_t number, const struct message_end *m,
		   struct error *e);
int clickhouse_note(struct store *store, const struct store_clock *c, struct error *e);
uint64_t clickhouse_puts(const struct store *store);
uint64_t clickhouse_waiting(const struct store *store);
/* clickhouse_commit.c */
int clickhouse_commit(struct store *store, uint64_t *ret_durable, struct error *e);
int clickhouse_settle(struct store *store, struct error *e);
/* Saves the states of runs that have so many blocks more than when that was done last. */
int clickhouse_commit_states(struct clickhouse_store *s, uint32_t least, struct error *e);
/* clickhouse_retain.c */
int clickhouse_retain(struct store *store, struct error *e);
/* clickhouse_query.c */
size_t clickhouse_next_sequences(struct store *store, uint32_t run, struct message_resume *rows,
				 size_t n);
int clickhouse_devices(struct store *store, store_device_fn fn, void *context, struct error *e);
int clickhouse_runs(struct store *store, const struct message_id *device, store_run_fn fn,
		    void *context, struct error *e);
int clickhouse_get_run(struct store *store, uint32_t number, struct store_run *ret,
		       struct error *e);
int clickhouse_ledger(struct store *store, uint32_t number, store_loss_fn fn, void *context,
		      struct error *e);
int clickhouse_get_clock(struct store *store, uint32_t number, struct store_clock *ret);
void clickhouse_wait(struct store *store, uint64_t *version, unsigned int timeout_ms);
void clickhouse_space(struct store *store, uint64_t *ret_used, uint64_t *ret_free);
/* clickhouse_check.c */
int clickhouse_check(struct store *store, store_damage_fn fn, void *context,
		     struct store_counts *ret, struct error *e);
/* clickhouse_reader.c */
int clickhouse_open_reader(struct block_reader **ret, struct store *store, uint32_t run,
			   const struct store_range *range, struct error *e);

#endif
