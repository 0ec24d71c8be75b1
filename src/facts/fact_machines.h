/* SPDX-License-Identifier: MIT */
/*
 * fact_machines: the time of virtual machines by what it went to, machine by machine: how much ran, how much was taken and by whom, how
 * much their VMM took and for which exit. Made of the tree of a set of kind FACT_VM, which has each nanosecond once.
 */
#ifndef KISEKI_FACTS_FACT_MACHINES_H
#define KISEKI_FACTS_FACT_MACHINES_H

#include "analysis/vm_time.h"
#include "facts/fact_set.h"

/* Who took time, or what the VMM did with it. */
struct fact_cause {
	uint32_t machine; /* its row */
	uint32_t key;	  /* of the set's functions */
	uint8_t kind;	  /* enum vm_class */
	uint64_t ns;
};

struct fact_machine {
	const char *name; /* the set's */
	uint64_t ns;	  /* of all its virtual CPUs */
	uint64_t classes[VM_CLASSES];
	const struct fact_cause *causes; /* the largest first */
	size_t n_causes;
};

struct fact_machines {
	struct fact_machine *rows; /* by time, the most first */
	size_t n;
	struct fact_cause *causes;
	size_t n_causes, room_causes;
};

/* The set outlives it. -ENOMEM. */
int fact_machines_init(struct fact_machines *m, const struct fact_set *s);
void fact_machines_done(struct fact_machines *m);
#define CLEANUP_FACT_MACHINES __attribute__((cleanup(fact_machines_done)))

#endif
