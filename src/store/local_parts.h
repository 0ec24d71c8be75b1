/* SPDX-License-Identifier: MIT */
/*
 * local_parts: the engine `local`, a store in a folder: what its files share; for nobody else.
 *
 * There are two sides, each with its own lock.
 *
 * - The put side: the runs that devices send, with their state behind the last block that was put,
 *   and the batch that is being filled. A record gets its place, file and offset, when it is put.
 * - The shown side: log files, runs, and the view of the file that is being written, as of the last
 *   commit. Only the thread that commits changes the view, so it reads it without the lock.
 *
 * A thread that needs both locks takes the put side's first. Neither is held during input or
 * output. What a commit has written becomes visible by applying the same bytes to the view that
 * recovery would read from the disk: so both see the same.
 */
#ifndef KISEKI_STORE_LOCAL_PARTS_H
#define KISEKI_STORE_LOCAL_PARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "store/catalog.h"
#include "store/shown_runs.h"
#include "store/store_engine.h"

#define STORE_DEVICES_MAX (1U << 20)
#define STORE_FILE_BYTES (64ULL << 20)
/* The collector knows of each block of the file that it is writing where it is: devices with tiny
 * blocks must not make that large. */
#define STORE_FILE_BLOCKS (1ULL << 18)
/* Indexes of full files that nobody reads, but somebody may again: of several. */
#define STORE_IDLE_INDEX_BYTES (4ULL << 20)
#define STORE_FILE_BYTES_MOST (1ULL << 31) /* places in an index have 32 bits */
#define STORE_BATCH_BYTES (64ULL << 20)
#define STORE_LOG_NAME 24

/* A part of a batch that goes to one file. */
struct span {
	uint32_t file;
	uint32_t next_run; /* for the head of a file that begins with it */
	uint64_t offset;   /* in the file */
	size_t at;	   /* in the batch */
};

struct batch {
	uint8_t *data;
	size_t len, room;
	struct span *spans;
	size_t n_spans, room_spans;
	size_t spans_done; /* durable and shown */
	size_t shown;	   /* bytes that readers see already */
	uint64_t puts;	   /* the number of the last put in it */
};

struct put_run {
	uint32_t number;
	struct store_run_ids ids;
	struct run_state state;
	uint32_t file; /* the last in which it was declared */
	bool logged;   /* it has a record in the log */
};

struct put_device {
	struct store_device device;
	bool known;	/* else only its id is */
	uint32_t file;	/* the last in which it was told */
	uint32_t *open; /* its runs that have not ended */
	size_t n_open, room_open;
	struct message_id closed_for; /* the boot beside whose runs none are open, */
	bool is_closed_for;	      /* if this is set */
	uint32_t runs;		      /* how many the store holds of it, as of when they were */
	uint64_t counted;	      /* … counted: shown_runs.removals */
};

struct put_side {
	pthread_mutex_t lock;
	struct hashtable by_number, by_id; /* struct put_run */
	struct hashtable devices;	   /* struct put_device */
	struct batch *filling;
	uint32_t file; /* where the next record goes */
	uint64_t offset;
	uint64_t blocks; /* in that file already */
	uint32_t next_run;
	bool wants_sweep; /* a file is full since the last */
	/* Changed under the lock; asked for with every block, and then without it. */
	atomic_uint_fast64_t puts;
	atomic_uint_fast64_t waiting; /* bytes in both batches */
};

struct log_file {
	uint32_t number;
	uint64_t size; /* that readers may see */
	uint64_t last_ns;
	unsigned int refs; /* of readers */
	bool doomed;	   /* it goes with the last of them */
	bool catalogued;
	struct log_index *index; /* while somebody asks, and some time after; the file being written
				  * has none */
	uint64_t asked;		 /* when: a number of index_asks */
	bool sound;		 /* the file that has it: its checksum is right */
	bool told;		 /* that descriptions lack what cannot be read of it */
};

/* Whether the real clock may decide what is too old: not for a while after a step forward. */
struct age_clock {
	uint64_t real_ns, mono_ns;   /* when it was last looked at; 0: never */
	uint64_t distrusted_till_ns; /* of the monotonic clock */
};

struct local_store {
	struct store store;
	char *dir;
	struct store_options options;
	int dir_fd, log_fd, lock_fd;
	struct catalog *catalog;

	struct put_side put;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t committed;
	uint64_t version;
	struct shown_runs runs;
	struct hashtable devices; /* struct store_device */
	struct log_file **files;  /* by rising number; the last is being written */
	size_t n_files, room_files;
	struct log_view *view; /* of that one */
	uint64_t index_asks;   /* by readers, until now */
	uint64_t removed_at;   /* the place that must be durable before files may go, */
	uint32_t removed_to;   /* and the first that stays; 0: none is to go */

	pthread_mutex_t retain_lock; /* one removal, or one settling, at a time */
	struct age_clock ages;	     /* whoever has that lock */

	/* the committing thread's own */
	int mark_fd;		 /* of its mark (log_mark.h), < 0: there is none */
	uint64_t mark_end;	 /* its length */
	uint32_t mark_run;	 /* the lowest number that no run had, as it says */
	int fd;			 /* of the file being written, */
	struct log_file *active; /* which is the last of the list */
	struct batch *pending, *spare;
	uint64_t durable; /* puts; written under the lock */

	struct store_damages found; /* when it was opened */
	uint32_t damaged;	    /* the file that is looked through then */
};

static inline struct local_store *local_get(struct store *s)
{
	return (struct local_store *)s;
}

static inline const struct local_store *local_get_const(const struct store *s)
{
	return (const struct local_store *)s;
}

/* The operations (store_engine.h), by the file that has them. */
/* local.c */
void local_free(struct store *store);
/* local_put.c */
int local_device(struct store *store, const struct store_device *device, struct error *e);
int local_take_run(struct store *store, const struct store_run_ids *ids, uint32_t *ret_number,
		   struct error *e);
int local_find_run(struct store *store, const struct store_run_ids *ids, uint32_t *ret_number,
		   struct error *e);
int local_put(struct store *store, uint32_t number, const struct block *b, const uint8_t *bytes,
	      struct error *e);
int local_end(struct store *store, uint32_t number, const struct message_end *m, struct error *e);
int local_note(struct store *store, const struct store_clock *c, struct error *e);
uint64_t local_puts(const struct store *store);
uint64_t local_waiting(const struct store *store);
/* local_commit.c, local_files.c, local_retain.c */
int local_commit(struct store *store, uint64_t *ret_durable, struct error *e);
int local_settle(struct store *store, struct error *e);
int local_retain(struct store *store, struct error *e);
/* The time against which ages count, or 0 while nothing is old. */
uint64_t local_age_ns(struct age_clock *a, uint64_t real_ns, uint64_t mono_ns);
/* local_query.c */
size_t local_next_sequences(struct store *store, uint32_t run, struct message_resume *rows,
			    size_t n);
int local_devices(struct store *store, store_device_fn fn, void *context, struct error *e);
int local_runs(struct store *store, const struct message_id *device, store_run_fn fn, void *context,
	       struct error *e);
int local_get_run(struct store *store, uint32_t number, struct store_run *ret, struct error *e);
int local_ledger(struct store *store, uint32_t run, store_loss_fn fn, void *context,
		 struct error *e);
int local_get_clock(struct store *store, uint32_t number, struct store_clock *ret);
void local_wait(struct store *store, uint64_t *version, unsigned int timeout_ms);
void local_space(struct store *store, uint64_t *ret_used, uint64_t *ret_free);
/* store_check.c */
int local_check(struct store *store, store_damage_fn fn, void *context, struct store_counts *ret,
		struct error *e);
/* local_reader.c */
int local_open_reader(struct block_reader **ret, struct store *store, uint32_t run,
		      const struct store_range *range, struct error *e);

const char *local_log_name(uint32_t number, char out[STORE_LOG_NAME]);
const char *local_index_name(uint32_t number, char out[STORE_LOG_NAME]);
const char *local_mark_name(uint32_t number, char out[STORE_LOG_NAME]);

/* --- marks: local_mark.c --- */

/* What a log file must have, borrowed from the mapping; NULL if nobody knows. Whoever wants both maps
 * the mark before the log: one that is being written is never shorter than its mark says. */
struct marked {
	struct mapping *map;
	struct log_mark mark;
};
const struct log_mark *local_map_mark(struct local_store *s, uint32_t number, struct marked *ret);
void local_unmap_mark(struct marked *m);
/* For a new log file; and for one that is gone on with, whose bytes these are. */
void local_new_mark(struct local_store *s, const struct log_head *h);
void local_open_mark(struct local_store *s, const struct log_scan *log);
/* These bytes are durable, from this place of the log file on. */
void local_move_mark(struct local_store *s, const uint8_t *bytes, size_t len, uint64_t offset);
/* Makes an empty file for a mark without its log file. */
int local_replace_log(struct local_store *s, uint32_t number, struct error *e);
void local_damage(struct store *store, struct store_damages *ret);

/* --- the put side; its lock is held --- */

int put_side_init(struct put_side *p);
void put_side_done(struct put_side *p);
struct batch *batch_new(void);
void batch_free(struct batch *b);
/* A device of which the log knows, and a run of it: when the store is opened. */
int put_side_add_device(struct local_store *s, const struct store_device *d);
int put_side_add_run(struct local_store *s, const struct message_id *device, uint32_t run,
		     bool is_open);
/* The run's state, from the shown side if it is not here; NULL in *ret if there is no such run. */
int put_side_get_run(struct local_store *s, uint32_t number, struct put_run **ret, struct error *e);
int put_side_declare(struct local_store *s, struct put_run *run, struct error *e);
int put_side_keep(struct local_store *s, struct put_run *run, const uint8_t *bytes, uint32_t len,
		  struct error *e);

/* --- the shown side --- */

/* Goes on with a new file; the one before it gets its index, in memory. By the committing thread. */
int local_rotate(struct local_store *s, uint32_t number, uint32_t next_run, struct error *e);
/* Applies one record that is durable. The lock is held. */
int local_show(struct local_store *s, const struct log_record *r, uint32_t offset);
int local_add_log_file(struct local_store *s, uint32_t number, uint64_t size,
		       struct log_file **ret);
struct log_file *local_find_file(struct local_store *s, uint32_t number); /* the lock is held */
int local_show_device(struct local_store *s, const struct store_device *d);
/* A run of a full file, as its index or the catalog has it. */
int local_show_run(struct local_store *s, uint32_t file, const struct index_run *r);

/* The state of a run behind the last commit. */
int local_copy_state(struct local_store *s, uint32_t number, struct run_state *ret,
		     struct error *e);

/* The index of a full file, made again from the log if it is missing. Stays valid until it is given
 * back; the file must stay as long. */
int local_file_index(struct local_store *s, struct log_file *f, const struct log_index **ret,
		     struct error *e);
/* Gives it back. The result of what was done with it, or -EIO: the disk did not give all of it meanwhile, so what was found need
 * not be so; who asks now gets a new one. */
int local_unref_index(struct local_store *s, struct log_file *f, const struct log_index *x,
		      int result, struct error *e);
void local_unref_file(struct local_store *s, struct log_file *f);

/* What a run loses with its files before `first`: c->cuts, to be freed. The file that is being
 * written is not looked at; it is c->live. By the one who removes files. */
struct cut_search {
	uint32_t run, first;
	const uint8_t *in; /* the run's state before that file */
	size_t in_len;
	struct cuts cuts;
	uint32_t live;
};
int local_find_cuts(struct local_store *s, struct cut_search *c);
/* An index from the log itself. */
int local_make_index(struct local_store *s, uint32_t number, struct log_index **ret,
		     struct error *e);
/* Writes it beside the log; failing is no harm: false. */
bool local_save_index(struct local_store *s, const struct log_index *x);
/* Keeps what is cut off the last file, as NNNNNNNN.rest. */
const char *local_rest_name(uint32_t number, char out[STORE_LOG_NAME]);
int local_save_rest(struct local_store *s, uint32_t number, const uint8_t *data, size_t len);
/* Unlinks log and index. */
void local_unlink_file(struct local_store *s, uint32_t number);

/* Maps a whole log file, or what there is of it. */
int local_map_log(struct local_store *s, uint32_t number, struct mapping **ret, struct error *e);
/* -EIO if what was read of it need not be so. */
int local_check_log(const struct mapping *log, uint32_t number, struct error *e);

/* Tells whoever opened the store. */
void local_say(const struct local_store *s, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
