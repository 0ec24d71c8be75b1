/* SPDX-License-Identifier: MIT */
/*
 * alert_view: what is watched of a minute: its facts as a list of things, each with how much of the time it had.
 *
 * Of a profile these are processes and functions in them; of virtual machines their steal, the work of the VMM for them, and
 * functions of their guests; of the scheduler tasks and how long they waited. Shares are of the time that was recorded, of a machine's
 * things of its virtual CPUs' time, of a profile by cycles of all cycles.
 */
#ifndef KISEKI_ALERT_ALERT_VIEW_H
#define KISEKI_ALERT_ALERT_VIEW_H

#include "facts/fact_set.h"
#include "store/hashtable.h"

#define ALERT_THINGS_MAX 65536U /* of one minute; then only those that are there already */

enum alert_kind {
	ALERT_PROCESS = 0,  /* a process as a whole */
	ALERT_FUNCTION = 1, /* a function in a process */
	ALERT_STEAL = 2,    /* what was stolen from a virtual machine */
	ALERT_VMM = 3,	    /* what the VMM took from it */
	ALERT_GUEST = 4,    /* a function in a guest */
	ALERT_TASK = 5,	    /* CPU time of a task */
	ALERT_WAIT = 6,	    /* how long it waits for a CPU: its 99th percentile, in seconds */
	ALERT_KINDS,
};
extern const char *const alert_kind_words[ALERT_KINDS + 1];

struct alert_thing {
	uint8_t kind;
	const char *scope; /* process or machine that it is in; "" */
	const char *name, *object;
	double value;	   /* share; of ALERT_WAIT seconds */
	double noise;	   /* standard deviation of it by counting */
	double of_scope;   /* functions: their share of the scope's time; else 1 */
	const char *cause; /* ALERT_STEAL: who took most of it, ALERT_VMM: which exit; else NULL */

	uint64_t ns, samples, cause_ns; /* while it is made */
	uint32_t keys[2];
};

struct alert_view {
	struct alert_thing **things;
	size_t n, room;
	struct hashtable table;
};

/* Texts are the set's, which must stay. -ENOMEM. */
int alert_view_init(struct alert_view *v, const struct fact_set *s);
void alert_view_done(struct alert_view *v);
#define CLEANUP_ALERT_VIEW __attribute__((cleanup(alert_view_done)))

#endif
