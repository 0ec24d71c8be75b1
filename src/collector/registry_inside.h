/* SPDX-License-Identifier: MIT */
/*
 * registry_inside: the registry from within, for the files registry*.c alone.
 */
#ifndef KISEKI_COLLECTOR_REGISTRY_INSIDE_H
#define KISEKI_COLLECTOR_REGISTRY_INSIDE_H

#include <pthread.h>

#include "collector/registry.h"
#include "collector/told.h"
#include "store/hashtable.h"

#define REGISTRY_NEVER UINT32_MAX /* a place that is free */

struct registry_waiter {
	struct registry_waiter *next;
	uint32_t slot;
	bool sent, done;
	bool is_absent; /* the recorder that it is for is not there */
	struct message_instruction instruction;
	struct registry_result result;
};

/* A row and what is only for us. */
struct registry_entry {
	struct registry_row row;
	uint64_t last_events, last_bytes; /* at the last tick */
	uint64_t last_cpu_us, cpu_at_ns;  /* by the last status that counted; 0: none */
	uint32_t last_number; /* behind its name, of others that say the same; 0: none */
	struct told told;
};

struct registry {
	pthread_mutex_t lock;
	pthread_mutex_t save_lock; /* taken before `lock` */
	pthread_cond_t changed;
	struct registry_entry *entries;
	uint32_t n, room;
	uint32_t *places; /* by hash of the id; NEVER: free */
	uint32_t n_places;
	struct hashtable names; /* registry_names.c */
	struct registry_waiter *waiters;
	uint64_t instructions; /* the last id */
	uint64_t tick_ns;
	void (*wake)(void *context);
	void *wake_context;
	char *dir;
	struct fleet *fleet;
};

/* Where the device is, or would be: a slot, or REGISTRY_NEVER. With the lock held. */
uint32_t *registry_find_place(struct registry *r, const struct message_id *id);

/* With the lock held. The slot of a device with this name, or REGISTRY_NEVER; none has the empty one. */
uint32_t registry_names_get(const struct registry *r, const char *name);
/* The device has a name already, and can be found by it if no other has it. 0, or < 0. */
int registry_names_add(struct registry *r, uint32_t slot);
/* Gives it the name that it says, with a number behind it where another has that. 0 or -ENOMEM. */
int registry_names_set(struct registry *r, uint32_t slot, const char *said);

/* Without the lock. If `over`, its instructions that wait are settled by what it answered. */
void registry_settle(struct registry *r, uint32_t slot, bool over);

#endif
