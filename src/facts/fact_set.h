/* SPDX-License-Identifier: MIT */
/*
 * fact_set: what one device did in one piece of time, a minute or an hour, as far as one kind of its recordings tells.
 *
 * Whoever asks about weeks and about a thousand devices cannot decode their blocks again. So each minute is worked out once, when all
 * of it has come (fact_build.h), and what is kept of it are sums: the stacks merged into one tree, and what became of each task. A set
 * is replaced as a whole by another of the same key, never added to; so whoever works a minute out twice, or two who do it at the same
 * time, do no harm. Sets are added up by who asks, and by the keeper that makes an hour of sixty minutes.
 */
#ifndef KISEKI_FACTS_FACT_SET_H
#define KISEKI_FACTS_FACT_SET_H

#include "analysis/functions.h"
#include "analysis/histogram.h"
#include "analysis/profile_tree.h"
#include "base/cleanup.h"
#include "trace/comm.h"
#include "wire/message.h"

#define FACT_MINUTE_S 60U
#define FACT_HOUR_S 3600U
#define FACT_VALUES                                                                                \
	2U /* of a node: enum profile_value, samples and nanoseconds; of FACT_CYCLES cycles */
#define FACT_TASKS_MAX 65536U
#define FACT_OBJECTS_MAX 65536U
#define FACT_BUILD_ID_MAX 20U
#define FACT_OBJECT_NAME_MAX 4095U

enum fact_kind {
	FACT_PROFILE = 0, /* tree: process ; functions, the outermost first */
	FACT_VM = 1,	  /* tree: as vm_tree.h has it, each nanosecond of each virtual CPU once */
	FACT_SCHED = 2,	  /* tasks */
	FACT_CYCLES =
		3, /* as FACT_PROFILE, by cycles of the CPUs: these are no time, and never added to it */
	FACT_KINDS,
};

static inline bool fact_kind_is_profile(uint8_t kind)
{
	return kind == FACT_PROFILE || kind == FACT_CYCLES;
}

/* What makes a set one. */
struct fact_key {
	struct message_id device, run;
	uint8_t kind;	   /* enum fact_kind */
	uint32_t length_s; /* FACT_MINUTE_S or FACT_HOUR_S */
	uint64_t start_s;  /* of CLOCK_REALTIME; a multiple of the length */
};

/* All tasks of one name: a number means nothing on the next device. */
struct fact_task {
	char name[COMM_TEXT_LEN];
	uint64_t cpu_ns;
	uint64_t switches, preemptions, wakeups;
	struct histogram waits;	    /* from wakeup to run, ns */
	struct histogram preempted; /* from preemption to run, ns */
};

/* Which build of an object ran: two minutes with the same functions and another build are before and after a release. */
struct fact_object {
	const char *name; /* of the file, without folders; the set's own */
	uint8_t build_id[FACT_BUILD_ID_MAX];
	uint8_t build_id_len;
	uint64_t samples; /* with a frame in it, innermost or not */
};

struct fact_set {
	struct fact_key key;
	uint64_t version;     /* of two with the same key the higher holds */
	uint64_t covered_ns;  /* of all CPUs that were recorded: how long each was, added up */
	uint64_t events;      /* records that it was made of */
	uint64_t lost;	      /* that are missing, as far as counted */
	uint64_t lost_places; /* where records are missing whose number nobody knows */

	/* All but FACT_SCHED: keys of the tree are functions; labels say by their object what they are ("process", "class"). */
	struct functions functions;
	struct profile_tree *tree; /* with FACT_VALUES values; NULL: there is none */

	struct fact_task *tasks; /* FACT_SCHED; in the order in which they came */
	size_t n_tasks;
	struct fact_object *objects; /* in the order in which they came */
	size_t n_objects;

	/* Numbers of rows, the tasks by name, the objects by name and build-id. */
	uint32_t *task_order, *object_order;
	size_t room_tasks, room_objects, room_task_order, room_object_order;
};

/* An empty one. -ENOMEM. */
int fact_set_init(struct fact_set *s, const struct fact_key *key);
void fact_set_done(struct fact_set *s);
#define CLEANUP_FACT_SET __attribute__((cleanup(fact_set_done)))

/* The row of that name, made if it is new: pointers to rows end with the next call. -ENOMEM, -E2BIG. */
int fact_set_find_task(struct fact_set *s, const char *name, struct fact_task **ret);
int fact_set_find_object(struct fact_set *s, const struct fact_object *like,
			 struct fact_object **ret);

/* Of the whole tree; zeros if there is none. */
void fact_set_totals(const struct fact_set *s, uint64_t ret[FACT_VALUES]);

/* Adds one to another of the same kind: sums, histograms, trees by the names of functions. -ENOMEM, -E2BIG. */
int fact_set_add(struct fact_set *to, const struct fact_set *from);

#endif
