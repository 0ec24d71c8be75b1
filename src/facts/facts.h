/* SPDX-License-Identifier: MIT */
/*
 * facts: where fact sets rest, and what can be asked of many at once, whatever keeps them.
 *
 * An engine keeps sets by their key, sums minutes up into hours, and answers over any range of time and any devices.
 * `local` is one (facts_local.h), an SQLite file in the folder of a store; `clickhouse` (clickhouse/facts_clickhouse.h) the tables of a
 * server, which any number of processes share. What always holds, in every engine:
 *
 * - a set that was put is durable when the call returns, and has replaced one of the same key unless that had a higher version;
 * - the carry of a run is never there without the sets of its batch. In `local` all of them appear together or not at all; in
 *   `clickhouse` sets may be there whose writer died before he could remember them, and puts the same ones again;
 * - an answer is made of one state of what is kept, and has no piece of time of a run twice: an hour where there is one that has all
 *   of its minutes, else these minutes. Putting a minute makes its hour old at once; until it is rolled again, its minutes count;
 * - a minute that comes when those of its hour are gone is too late: it is left out and counted.
 *
 * All calls may be made by several threads at once.
 */
#ifndef KISEKI_FACTS_FACTS_H
#define KISEKI_FACTS_FACTS_H

#include "base/error.h"
#include "facts/fact_set.h"

#define FACTS_DEVICES_MAX (1U << 20) /* of a query */
#define FACTS_CARRY_MAX (16U << 20)  /* bytes that are remembered of one run */
#define FACTS_NAMES_MAX (1U << 22)   /* further ones are [others] of nothing */
#define FACTS_LABEL_KEY_MAX 63U
#define FACTS_LABEL_VALUE_MAX 255U
#define FACTS_LABELS_MAX 64U	 /* of one device */
#define FACTS_POINTS_MAX 100000U /* of a trend */

struct facts;

/* --- writing --- */

struct facts_batch {
	const struct fact_set *const *sets;
	size_t n_sets;
	/* What the writer remembers of a run, from then on; NULL: as it was. */
	const struct message_id *run;
	const uint8_t *carry;
	size_t carry_len;
	size_t n_late; /* out: sets that came too late, and were left out */
};

int facts_put(struct facts *f, const struct fact_set *s, struct error *e); /* -ESTALE: too late */
int facts_put_batch(struct facts *f, struct facts_batch *b, struct error *e);
/* Several at once, which costs hardly more than one. */
int facts_put_batches(struct facts *f, struct facts_batch *list, size_t n, struct error *e);

/* To be freed; -ENOENT. */
int facts_get_carry(struct facts *f, const struct message_id *run, uint8_t **ret, size_t *ret_len,
		    struct error *e);
int facts_put_carry(struct facts *f, const struct message_id *run, const uint8_t *carry, size_t len,
		    struct error *e);
int facts_drop_carry(struct facts *f, const struct message_id *run, struct error *e);

/* Makes hours of minutes: all that end at or before that moment and have a minute that came since they were made. */
int facts_roll(struct facts *f, uint64_t to_s, struct error *e);

/* Removes minutes and hours that end at or before these moments; 0 keeps all. Minutes stay until their hour is made. */
struct facts_ages {
	uint64_t minutes_to_s, hours_to_s;
};
int facts_retain(struct facts *f, const struct facts_ages *a, struct error *e);

/* --- asking --- */

struct facts_query {
	const struct message_id *devices; /* by rising bytes (facts_sort_devices()); */
	size_t n_devices;
	bool all_devices; /* then there is no list */
	uint8_t kind;	  /* enum fact_kind */
	bool minutes_only;
	bool no_sums; /* of what is kept of each device; an engine that has no others need not look */
	uint64_t from_s,
		to_s; /* sets that start in it. An hour whose minutes are gone is in it if its start is. */
};
void facts_sort_devices(struct message_id *devices, size_t n);

/* Called with each, in no order, until it returns non-zero, which is then returned. By one thread. */
typedef int (*facts_set_fn)(void *context, const struct fact_set *s);
int facts_scan(struct facts *f, const struct facts_query *q, facts_set_fn fn, void *context,
	       struct error *e);

/* Which there are: the sets that a scan would give, by time, without what is in them. */
struct facts_head {
	struct fact_key key;
	uint64_t version, covered_ns, events, lost, lost_places;
	uint64_t values[FACT_VALUES]; /* of the whole tree */
};
typedef int (*facts_head_fn)(void *context, const struct facts_head *h);
int facts_keys(struct facts *f, const struct facts_query *q, facts_head_fn fn, void *context,
	       struct error *e);

/* What an answer was made of. */
struct facts_basis {
	uint64_t sets, minutes, hours, devices, damaged;
	uint64_t covered_ns, events, lost, lost_places;
	uint64_t values[FACT_VALUES]; /* of all trees */
};
void facts_basis_add(struct facts_basis *b, const struct facts_head *h);
void facts_basis_join(struct facts_basis *to, const struct facts_basis *from);

/* What rows of a list are. */
enum facts_by {
	FACTS_BY_FUNCTION = 0,
	FACTS_BY_PROCESS,
	FACTS_BY_OBJECT,
	FACTS_BY_CLASS,	  /* of FACT_VM: guest, vmm-kernel, steal, halt … */
	FACTS_BY_MACHINE, /* of FACT_VM */
	FACTS_BYS,
	FACTS_BY_DEVICE =
		FACTS_BYS, /* of no set's lists: see facts_by_device.h. No trend has it. */
};
extern const char *const facts_by_words[FACTS_BYS + 2]; /* ends with NULL */

struct facts_row {
	char *name, *object; /* object "" of all but functions */
	uint64_t self[FACT_VALUES], total[FACT_VALUES];
};

struct facts_rows {
	struct facts_row *rows;
	size_t n;
	struct facts_basis basis;
};
void facts_rows_done(struct facts_rows *r);
#define CLEANUP_FACTS_ROWS __attribute__((cleanup(facts_rows_done)))

/* The sum over all that the query selects; `most` rows at the most (0: all), those that come first by that value. */
struct facts_order {
	uint8_t by; /* enum facts_by */
	uint8_t value;
	bool total; /* else by their own part */
	size_t most;
};
int facts_top(struct facts *f, const struct facts_query *q, const struct facts_order *o,
	      struct facts_rows *ret, struct error *e);

/* The trees of all that the query selects, as one set. */
int facts_tree(struct facts *f, const struct facts_query *q, struct fact_set *ret,
	       struct facts_basis *ret_basis, struct error *e);

/* One row of such a list, piece of time by piece of time. */
struct facts_point {
	uint64_t start_s, length_s;
	uint64_t self[FACT_VALUES], total[FACT_VALUES];
	uint64_t values[FACT_VALUES]; /* of everything in that time */
	uint64_t sets, covered_ns;
};
struct facts_points {
	struct facts_point *points; /* by time; where there are no sets, there is no point */
	size_t n;
	struct facts_basis basis;
};
void facts_points_done(struct facts_points *p);
#define CLEANUP_FACTS_POINTS __attribute__((cleanup(facts_points_done)))

struct facts_trend {
	uint8_t by;
	const char *name, *object; /* object NULL: all of that name */
	uint32_t step_s; /* a multiple of FACT_MINUTE_S; below an hour only minutes are read */
};
int facts_trend(struct facts *f, const struct facts_query *q, const struct facts_trend *t,
		struct facts_points *ret, struct error *e); /* -E2BIG: too many points */

/* --- labels of devices --- */

/* value NULL: without it. */
int facts_label(struct facts *f, const struct message_id *device, const char *key,
		const char *value, struct error *e);
struct facts_label_row {
	struct message_id device;
	const char *key, *value;
};
typedef int (*facts_label_fn)(void *context, const struct facts_label_row *r);
int facts_labels(struct facts *f, facts_label_fn fn, void *context, struct error *e);

/* Those that have all of "env=prod,board=a9"; sorted, to be freed. -EINVAL: it is not of that form. */
int facts_devices(struct facts *f, const char *selector, struct message_id **ret, size_t *ret_n,
		  struct error *e);
/* Whether a text can be a key, or a value. */
bool facts_is_label_key(const char *text, size_t len);
bool facts_is_label_value(const char *text, size_t len);

/* --- who works --- */

/* A process that works on the facts, or could watch them; `local` has no others than the one that asks. */
#define FACTS_MEMBER_NAME_MAX 64U
#define FACTS_MEMBERS_MAX 4096U
struct facts_member {
	uint64_t token;			  /* random */
	uint64_t since_s;		  /* when it came; 0 until it was heard of */
	char name[FACTS_MEMBER_NAME_MAX]; /* for people */
	bool works, watches;		  /* neither: it goes */
	uint32_t threads;
	uint64_t minutes, waiting, behind_s; /* as in fact_workers_counters */
};
typedef int (*facts_member_fn)(void *context, const struct facts_member *m);
/* Says that it is there, and gives all that are, in no order; itself comes with the moment since when. Who was not heard of for
 * FACTS_MEMBER_GONE_S is gone. */
#define FACTS_MEMBER_GONE_S 10U
int facts_beat(struct facts *f, const struct facts_member *me, facts_member_fn fn, void *context,
	       struct error *e);

/* --- engines --- */

struct facts_ops {
	int (*put)(struct facts *f, struct facts_batch *list, size_t n, struct error *e);
	int (*get_carry)(struct facts *f, const struct message_id *run, uint8_t **ret,
			 size_t *ret_len, struct error *e);
	int (*drop_carry)(struct facts *f, const struct message_id *run, struct error *e);
	int (*roll)(struct facts *f, uint64_t to_s, struct error *e);
	int (*retain)(struct facts *f, const struct facts_ages *a, struct error *e);
	int (*scan)(struct facts *f, const struct facts_query *q, facts_set_fn fn, void *context,
		    struct error *e);
	int (*keys)(struct facts *f, const struct facts_query *q, facts_head_fn fn, void *context,
		    struct error *e);
	int (*top)(struct facts *f, const struct facts_query *q, const struct facts_order *o,
		   struct facts_rows *ret, struct error *e);
	int (*tree)(struct facts *f, const struct facts_query *q, struct fact_set *ret,
		    struct facts_basis *ret_basis, struct error *e);
	int (*trend)(struct facts *f, const struct facts_query *q, const struct facts_trend *t,
		     struct facts_points *ret, struct error *e);
	int (*label)(struct facts *f, const struct facts_label_row *r, struct error *e);
	int (*labels)(struct facts *f, facts_label_fn fn, void *context, struct error *e);
	int (*beat)(struct facts *f, const struct facts_member *me, facts_member_fn fn,
		    void *context, struct error *e); /* NULL: there is only one */
	void (*free)(struct facts *f);
};

/* Embedded as the first member of every engine. */
struct facts {
	const struct facts_ops *ops;
};

/* Of a store's place. clickhouse://… is the engine `clickhouse`. A folder is `local`, whose file is made if it is not there; -EBADMSG: it
 * is damaged, or of a version that is not known here; then facts_set_aside() gives it another name, and the next to open starts anew. */
int facts_open(struct facts **ret, const char *place, struct error *e);
/* As facts_open(), but only to ask: -ENOENT if there are none. */
int facts_open_reader(struct facts **ret, const char *place, struct error *e);
int facts_set_aside(const char *dir, struct error *e);
void facts_free(struct facts *f);
DEFINE_CLEANUP(facts, facts_free)

#endif
