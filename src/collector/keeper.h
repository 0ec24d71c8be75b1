/* SPDX-License-Identifier: MIT */
/*
 * keeper: the thread that keeps the store's house: indexes and catalog of files that are full, and
 * retention.
 *
 * All of that reads and writes files and takes as long as it takes, so it has a thread of its own: an
 * ACK waits for a commit, and a commit for nothing but its own sync.
 */
#ifndef KISEKI_COLLECTOR_KEEPER_H
#define KISEKI_COLLECTOR_KEEPER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "store/store.h"

struct keeper;

struct keeper_options {
	struct store *store;
	/* Something of files that are to go was put, and waits for a commit; from the thread. */
	void (*put)(void *context);
	void *put_context;
	void (*log)(void *context, const char *line);
	void *log_context;
};

int keeper_start(struct keeper **ret, const struct keeper_options *o, struct error *e);
/* Its thread has ended; those that still call wake and make_room may go on doing so. */
void keeper_stop(struct keeper *k);
void keeper_free(struct keeper *k);
DEFINE_CLEANUP(keeper, keeper_free)

void keeper_wake(struct keeper *k);	 /* there was a commit: perhaps a file is full */
void keeper_make_room(struct keeper *k); /* the disk is full: remove at once what may go */

#endif
