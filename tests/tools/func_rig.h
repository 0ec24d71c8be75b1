/* SPDX-License-Identifier: MIT */
/*
 * func_rig: the agent's feed with programs that are no programs, for tests: the test itself asks at the
 * door and writes records (func_file.h) into the files that it gets. Time is what the test says.
 *
 * What comes out of the spool is decoded and kept by thread: tid, which every thread of a test has for
 * itself; those beyond FUNC_RIG_THREADS share the last place. So what was put in can be held against it, whichever runs and rows it went through.
 */
#ifndef KISEKI_TESTS_TOOLS_FUNC_RIG_H
#define KISEKI_TESTS_TOOLS_FUNC_RIG_H

#include "device/agent/memory.h"
#include "device/feed/func_feed.h"
#include "tools/func_file.h"

#define FUNC_RIG_THREADS 64U
#define FUNC_RIG_PROGRAMS 8U

struct func_rig_events {
	int32_t tid;
	struct func_event *at;
	size_t n, room;
	uint64_t lost[LOSS_CAUSES];
	uint32_t unknown;    /* losses without a count */
	uint32_t as_written; /* blocks of the hook's stage */
};

struct func_rig_program {
	struct func_file *file; /* its data is the mapped record */
	uint8_t *own;		/* what it had before */
	size_t mapped;
	char name[96]; /* of the record */
};

struct func_rig_options {
	uint32_t spool_bytes;
	uint32_t rows;
	uint64_t bytes; /* of records */
};

struct func_rig {
	char folder[64];
	struct func_rig_options o;
	struct memory *memory;
	struct spool *spool;
	struct func_feed *feed;
	uint64_t now_ms;
	uint32_t turns;
	uint32_t runs, ends, mappings, processes; /* that came out */
	uint32_t n_threads;
	struct func_rig_events threads[FUNC_RIG_THREADS];
	int32_t tids[1024]; /* of the rows of a run */
	struct func_rig_program programs[FUNC_RIG_PROGRAMS];
};

void func_rig_init(struct func_rig *r, const struct func_rig_options *o);
void func_rig_done(struct func_rig *r);

/* The agent is killed, and the next one comes. */
void func_rig_restart(struct func_rig *r);

/* A request of this process: 0 or the answer's errno; the descriptors in fds, -1 if there are none. */
int func_rig_ask(struct func_rig *r, const uint8_t *request, size_t len, int fds[2]);
int func_rig_ask_for(struct func_rig *r, uint32_t verb, uint64_t bytes, int fds[2]);

/* A program with a record of this layout. */
struct func_file *func_rig_start(struct func_rig *r, uint32_t number,
				 const struct func_file_layout *l);
/* It is not mapped any more; the feed finds out when it looks. */
void func_rig_end(struct func_rig *r, uint32_t number);

/* So many ms pass, with turns as the feed wants them. */
void func_rig_turn(struct func_rig *r, uint32_t ms);

/* Takes all that is in the spool. */
void func_rig_collect(struct func_rig *r);
void func_rig_forget(struct func_rig *r); /* what came out so far */
const struct func_rig_events *func_rig_get(const struct func_rig *r, int32_t tid); /* or NULL */

#endif
