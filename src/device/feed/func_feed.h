/* SPDX-License-Identifier: MIT */
/*
 * func_feed: all traced programs of this machine, from their first request to their last event
 * (docs/design/func.md, "From a program to the collector").
 *
 * A program asks at the socket and gets a record, which is a file in a folder of the agent. Ten times a
 * second the feed goes through the records: what is new becomes blocks of the run of calls, whole
 * chunks go back, threads and maps are described. When a process is gone its last events are taken,
 * what it lost is told, and its files go.
 *
 * The run begins with the first program and ends when there was none for a while; it is also ended,
 * and another begun, when its rows are used up. Nothing of this depends on the agent's life: the
 * records stay where they are, and the next agent goes on with them.
 *
 * All memory is taken when it is made. What no program has made use of is not resident.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_FEED_H
#define KISEKI_DEVICE_FEED_FUNC_FEED_H

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/message.h"

#define FUNC_FEED_PROGRAMS 64U
#define FUNC_FEED_TICK_MS 100U
#define FUNC_FEED_SOON_MS 10U
#define FUNC_FEED_OS_MS 20U	   /* between two looks at the kernel's side */
#define FUNC_FEED_SLOW_MS 1000U	   /* when programs are off */
#define FUNC_FEED_LINGER_MS 10000U /* a run without programs */
#define FUNC_FEED_QUIET_MS 2000U   /* a run whose programs are off and silent */

struct func_feed;
struct spool;
struct told_objects;

struct func_feed_options {
	struct spool *spool;	   /* borrowed, as all of these */
	const char *device;	   /* its name, for the description */
	const char *socket;	   /* where programs ask */
	const char *group;	   /* whose programs may; "": root alone, "*": everybody */
	const char *folder;	   /* of the records */
	uint64_t bytes;		   /* of all records together */
	uint8_t mode;		   /* enum func_mode */
	struct told_objects *told; /* is told of their files; NULL: nobody */
};

/* Takes up what an earlier agent left. */
int func_feed_new(struct func_feed **ret, const struct func_feed_options *o, struct error *e);

/* Everything is left for the next agent, and programs go on recording. */
void func_feed_free(struct func_feed *f);
DEFINE_CLEANUP(func_feed, func_feed_free)

/* Programs are switched off, what they have recorded is told, and the run is ended. They are taken up
 * by the next agent. */
int func_feed_stop(struct func_feed *f, uint64_t now_ms, struct error *e);

/* Whether programs record. It is kept over the agent's death. */
void func_feed_set_mode(struct func_feed *f, uint8_t mode, uint64_t now_ms);
uint8_t func_feed_get_mode(const struct func_feed *f);

int func_feed_fd(const struct func_feed *f); /* readable: somebody asks */
void func_feed_answer(struct func_feed *f, uint64_t now_ms);

/* Takes what the programs recorded. What went wrong is in e, once, and does not end anything. */
void func_feed_turn(struct func_feed *f, uint64_t now_ms, struct error *e);
uint64_t func_feed_next(const struct func_feed *f); /* when it wants one; UINT64_MAX: never */

/* Are there programs that record? */
bool func_feed_is_busy(const struct func_feed *f);

/* Adds to what the scheduler's part has filled in. */
void func_feed_get_status(const struct func_feed *f, struct message_status *m);
uint64_t func_feed_get_fixed_bytes(const struct func_feed *f);

#endif
