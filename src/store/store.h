/* SPDX-License-Identifier: MIT */
/*
 * store: where the blocks of many devices rest.
 *
 * A run is one recording of one device, from its start to its stop; agents and collectors may die
 * and come back within it.
 *
 * It has engines. In a folder, blocks of all runs are appended to one log, in the order in which they
 * came, so that one sync makes those of a thousand devices durable. What the log holds is found
 * through an index per log file and a catalog (SQLite); both are made from the log and can be made
 * again from it: only the log is the truth. docs/format/store.md has the files. In a ClickHouse server
 * they are rows of its tables, for any number of collectors: docs/format/clickhouse.md.
 *
 * Threads: store_run(), store_put(), store_end() and store_note() belong to one thread, the
 * ingest's. store_commit() belongs to one other, which may run at the same time. Everything else
 * may be called from any thread. What was put is seen by readers after its commit.
 */
#ifndef KISEKI_STORE_STORE_H
#define KISEKI_STORE_STORE_H

#include <stddef.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/block.h"
#include "wire/message.h"

#define STORE_NAME_MAX 64U

struct store;

struct store_options {
	uint64_t file_bytes;   /* a log file ends at this size; 0: 64 MiB */
	uint64_t file_blocks;  /* or with so many blocks; 0: 262,144 */
	uint64_t retain_bytes; /* the oldest files go when all have more than this; 0: never */
	uint64_t retain_ns;    /* … when their last block came this long ago; 0: never */
	uint64_t batch_bytes;  /* ceiling of what waits for a commit; 0: 64 MiB */
	bool read_only;	       /* for `kiseki check` and offline reports; the log is not changed */
	/* What was found wrong when it was opened, a line each; NULL: nobody wants to know. */
	void (*say)(void *context, const char *line);
	void *say_context;
};

/* What is known of a device, by its last HELLO. */
struct store_device {
	struct message_id id;
	char name[STORE_NAME_MAX];
	char kernel[STORE_NAME_MAX], machine[STORE_NAME_MAX], agent[STORE_NAME_MAX];
	uint32_t cpus;
	uint64_t seen_ns; /* CLOCK_REALTIME */
};

/* What is known of a run. Times of arrival are CLOCK_REALTIME of the collector. */
struct store_run {
	uint32_t number;
	struct message_id device, id, boot;
	uint64_t first_ns, last_ns; /* of arrival */
	uint64_t first_tick,
		last_tick; /* of the scheduler or the boot; 0, 0 while there is no event */
	uint64_t blocks, events, bytes; /* stored */
	uint64_t lost[LOSS_CAUSES];	/* in the ledger, as far as counted */
	bool lost_unknown;		/* … and more that nobody counted */
	bool damaged;			/* the store's own disk took of it */
	bool ended;			/* its END came, or it can never come */
	uint32_t streams;
	uint32_t cpus;	   /* that have a stream of scheduler events */
	uint32_t threads;  /* that have a stream of calls, or of what the machine did to them */
	bool split;	   /* there are streams of the latter */
	bool has_boot;	   /* it has the records of a boot chart */
	uint32_t samplers; /* CPUs that have a stream of samples: it has a profile */
	bool has_guests;   /* … and looked for virtual machines */
};

/* Whether it is of programs' calls, and has nothing of the scheduler. */
static inline bool store_run_is_func(const struct store_run *r)
{
	return r->threads && !r->cpus;
}

/* Whether it is a boot chart, and has nothing else. */
static inline bool store_run_is_boot(const struct store_run *r)
{
	return r->has_boot && !r->threads && !r->cpus;
}

/* Whether it is a profile, and has nothing else. */
static inline bool store_run_is_profile(const struct store_run *r)
{
	return r->samplers && !r->threads && !r->cpus && !r->has_boot;
}

/* What it is above all. */
static inline const char *store_run_kind(const struct store_run *r)
{
	return store_run_is_func(r)	 ? "func"
	       : store_run_is_boot(r)	 ? "boot"
	       : store_run_is_profile(r) ? (r->has_guests ? "vm" : "profile")
					 : "sched";
}

/* A row of the ledger. */
struct store_loss {
	uint32_t run;
	uint32_t stream;
	uint8_t cause; /* enum loss_cause */
	uint64_t from_tick, to_tick;
	uint64_t count; /* LOSS_UNKNOWN */
};

/* The clock of a run against the collector's, by a ping: for several devices on one timeline. */
struct store_clock {
	uint32_t run;
	uint64_t device_ns;
	int64_t off_ns; /* collector's CLOCK_REALTIME - the device's trace clock */
	uint64_t err_ns;
};

/* The place is a folder, or clickhouse://… (clickhouse/clickhouse_url.h). */
int store_open(struct store **ret, const char *place, const struct store_options *o,
	       struct error *e);
/* How long blocks are best gathered for one commit there. */
unsigned int store_commit_ms(const char *place);
void store_free(struct store *s);
DEFINE_CLEANUP(store, store_free)

/* --- the ingest --- */

int store_device(struct store *s, const struct store_device *d, struct error *e);

/* The number of a run, a new one for one that is not known. An open run of the same device with
 * another boot can never end properly: it is closed with an unknown loss. One that is new is there
 * from its first record on: if that is refused, the number is nobody's. */
struct store_run_ids {
	struct message_id device, run, boot;
};
int store_take_run(struct store *s, const struct store_run_ids *ids, uint32_t *ret_number,
		   struct error *e);
/* The same, but 0 for one that is not known. */
int store_find_run(struct store *s, const struct store_run_ids *ids, uint32_t *ret_number,
		   struct error *e);
#define store_run(s, device, run, boot, ret_number, e)                                             \
	store_take_run((s), &(const struct store_run_ids){ *(device), *(run), *(boot) },           \
		       (ret_number), (e))

/* What the store wants next of each stream it has of a run: fills up to n rows, returns how many
 * there are. */
size_t store_next_sequences(struct store *s, uint32_t run, struct message_resume *rows, size_t n);

enum store_verdict {
	STORE_TAKEN = 0,
	STORE_DUPLICATE = 1, /* it is there already */
};

/* Appends a whole, sound block to the batch; bytes are copied. A duplicate may still wait for its
 * commit: it is durable when store_puts() of that moment is. < 0: it contradicts what the run has
 * (-EPROTO, e says how), or the batch is full (-EAGAIN: after the next commit). */
int store_put(struct store *s, uint32_t run, const struct block *b, const uint8_t *bytes,
	      struct error *e);
int store_end(struct store *s, uint32_t run, const struct message_end *m, struct error *e);
int store_note(struct store *s, const struct store_clock *c, struct error *e);

/* Makes durable what was put before the call. Fails with -ENOSPC and the like; what was put stays in
 * the batch and goes with the next commit that succeeds. *ret_batch, if not NULL, is the number of
 * the last put that is durable now (store_puts() when it was put). */
int store_commit(struct store *s, uint64_t *ret_durable, struct error *e);
uint64_t store_puts(const struct store *s);    /* blocks and ends put so far */
uint64_t store_waiting(const struct store *s); /* bytes in the batch */

/* Writes the index of each file that has become full, and its rows of the catalog. Nothing waits for
 * it, but a store that is opened again would have to do it first. */
int store_settle(struct store *s, struct error *e);

/* Removes what is older or more than the options say. Where something of the files must be kept, it
 * is put, and the files go when it is durable: at a call after the next commit. */
int store_retain(struct store *s, struct error *e);

/* --- the readers --- */

/* Called with each row until it returns non-zero; what it returned is returned. */
typedef int (*store_device_fn)(void *context, const struct store_device *d);
typedef int (*store_run_fn)(void *context, const struct store_run *r);
typedef int (*store_loss_fn)(void *context, const struct store_loss *l);

int store_devices(struct store *s, store_device_fn fn, void *context, struct error *e);
/* device NULL: of all; the run that ended last comes first, which need not be the one that began last:
 * a device may end one run while it sends on in an older one. */
int store_runs(struct store *s, const struct message_id *device, store_run_fn fn, void *context,
	       struct error *e);
int store_get_run(struct store *s, uint32_t number, struct store_run *ret, struct error *e);
int store_ledger(struct store *s, uint32_t run, store_loss_fn fn, void *context, struct error *e);
int store_get_clock(struct store *s, uint32_t run, struct store_clock *ret); /* the best; -ENOENT */

/* Waits until a commit later than *version, or until the time is over; *version is then the
 * latest. For those who follow a run as it grows. */
void store_wait(struct store *s, uint64_t *version, unsigned int timeout_ms);

/* What the store lost of what was once durable. */
struct store_damages {
	uint64_t places, bytes, files; /* found when it was opened; files that were gone */
	uint64_t runs;		       /* that lost something, */
	uint64_t events;	       /* and how many, as far as that is known */
};
void store_get_damage(struct store *s, struct store_damages *ret);

/* Disk space: of the log, and free beside it. */
void store_space(struct store *s, uint64_t *ret_used, uint64_t *ret_free);

#endif
