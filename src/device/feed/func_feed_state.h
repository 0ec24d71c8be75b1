/* SPDX-License-Identifier: MIT */
/*
 * func_feed_state: what the parts of the feed share: func_feed.c is the table of programs, the door
 * and the switch, func_feed_run.c the run and its rows, func_feed_program.c one program's turn,
 * func_feed_os.c what the kernel does to their threads.
 */
#ifndef KISEKI_DEVICE_FEED_FUNC_FEED_STATE_H
#define KISEKI_DEVICE_FEED_FUNC_FEED_STATE_H

#include "device/feed/func_door.h"
#include "device/feed/func_drain.h"
#include "device/feed/func_feed.h"
#include "device/feed/func_maps.h"
#include "device/feed/func_os.h"
#include "device/feed/func_pairs.h"
#include "device/feed/func_run.h"
#include "device/feed/func_traced.h"

#define FUNC_FEED_NO_SLOT UINT32_MAX /* the stream of calls whose threads had no slot */
#define FUNC_FEED_NO_ROW UINT32_MAX

struct func_feed_program {
	bool is_used;
	bool was_known;	    /* its header was complete before */
	bool is_announced;  /* in this run */
	bool is_adopted;    /* an earlier agent made its record */
	bool is_replaced;   /* the process executes another program */
	bool has_failed;    /* and that was said */
	uint32_t number;    /* in the run */
	uint32_t on;	    /* what it was told last */
	bool was_on;	    /* when the agent began to end */
	uint64_t order;	    /* by which it came */
	uint64_t active_ms; /* when something of it was new */
	uint64_t asked_ms;  /* when its memory map was looked at */
	uint64_t maps_size; /* of the file, when it was read */
	struct func_traced traced;
	struct func_maps maps;
};

struct func_feed {
	struct func_feed_options o;
	uint8_t mode;
	bool is_ending;
	int folder;
	struct func_door *door;
	struct func_run *run;
	struct func_drain *drain;
	struct func_os *os; /* with FUNC_MODE_SPLIT; NULL: there is none */
	bool os_failed;	    /* to open, and that was said */
	struct func_pairs pairs;
	bool has_clock;	   /* clock and shift of `pairs` hold, */
	bool has_pairs;	   /* and all of it */
	uint64_t began_ms; /* the run */
	uint64_t alone_ms; /* since when there is no program */
	uint64_t quiet_ms; /* since when nothing is new */
	uint64_t now_ms, next_ms;
	uint64_t full_ms; /* until when nothing is tried, unless there is room; 0: there was */
	uint64_t os_ms;	  /* the kernel's side is looked at more often */
	uint64_t orders;
	uint32_t first; /* whose turn it is first */
	int given[FUNC_DOOR_FDS];
	uint32_t n_threads, most_threads;
	struct func_drain_thread *threads;
	struct func_traced_chunks chunks;
	struct func_traced_header header;
	struct func_feed_program programs[FUNC_FEED_PROGRAMS];
};

/* --- func_feed.c --- */

/* Forgets the program; its files go. */
void func_feed_drop(struct func_feed *f, struct func_feed_program *p);

/* --- func_feed_run.c --- */

/* The run is open, with the clock of this program. */
int func_feed_start_run(struct func_feed *f, const struct func_feed_program *p, struct error *e);
int func_feed_stop_run(struct func_feed *f, struct error *e);

/* Another run, for rows: 0, or -ENOBUFS: this one has to do for now. */
int func_feed_turn_run(struct func_feed *f);

/* The thread's row, which it gets if it has none. The comm is padded with NULs. */
int func_feed_take_thread(struct func_feed *f, struct func_feed_program *p,
			  const struct func_traced_slot *who, struct func_drain_thread **ret,
			  struct error *e);
struct func_drain_thread *func_feed_find_thread(struct func_feed *f,
						const struct func_feed_program *p, uint32_t stream);
void func_feed_forget_threads(struct func_feed *f, const struct func_feed_program *p);

/* --- func_feed_os.c --- */

/* A process asks: all its threads are watched from here on, if the mode is so. */
void func_feed_watch(struct func_feed *f, int32_t pid);
void func_feed_add_os(struct func_feed *f, const struct func_drain_thread *t);
void func_feed_remove_os(struct func_feed *f, const struct func_drain_thread *t);

/* As the mode has it, and takes what the kernel recorded. enum func_os_drained. */
int func_feed_turn_os(struct func_feed *f, struct error *e);

/* Before the run ends; nobody is left: the kernel's memory is given back, too. */
int func_feed_stop_os(struct func_feed *f, bool is_last, struct error *e);

/* --- func_feed_program.c --- */

/* 0: all was taken; 1: there is more; -ENOSPC: the spool is full; -ENOBUFS: no row is left. */
int func_feed_turn_program(struct func_feed *f, struct func_feed_program *p, struct error *e);

#endif
