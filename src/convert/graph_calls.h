/* SPDX-License-Identifier: MIT */
/*
 * graph_calls: what function_graph recorded, thread by thread, made into calls that nest.
 *
 * The readers of text and of trace.dat push records in the order they find them; graph_calls_finish()
 * then completes each thread:
 *
 * - An exit without its entry (tracing_thresh records no entries at all; the ring was overwritten;
 *   recording began inside) gets one, at the moment the exit says that it was called.
 * - An entry whose exit is missing gets one as soon as a record of the same or a lower depth shows
 *   that the call is over: else all that followed would be shown inside of it. Its time is an upper
 *   bound then. Calls that are open at the end stay open.
 * - Entries are moved to the moment of the call where an exit tells it, so that durations are those
 *   that the kernel's own tools print. A record is written a little after the call began, and before
 *   it a whole interrupt may have been recorded: that is below the call then.
 * - Exits that have the time of the return stand where that was, in front of interrupts and switches that
 *   were recorded between the return and its record.
 *
 * Everything is held in memory, because an exit can speak of any moment before it.
 */
#ifndef KISEKI_CONVERT_GRAPH_CALLS_H
#define KISEKI_CONVERT_GRAPH_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ftrace/graph.h"
#include "store/hashtable.h"
#include "trace/func_source.h"

#define GRAPH_RECORDS_MAX (1U << 28) /* of one thread; about as many fit into 8 GiB */
#define GRAPH_NO_TICK UINT64_MAX
#define GRAPH_NO_PID (-1) /* the stream is a CPU's */

/* Beside enum func_kind: `value` records are missing here. */
#define GRAPH_LOSS 255U

struct graph_record {
	uint64_t tick;
	uint64_t call_tick; /* of an exit: when it was called; GRAPH_NO_TICK if that is not told */
	uint64_t value;	    /* number of the function, or as struct func_event has it, or a count */
	uint16_t depth;	    /* below GRAPH_DEPTH_MAX */
	uint8_t kind;	    /* enum func_kind, or GRAPH_LOSS */
	uint8_t os;	    /* enum func_os_type */
	bool timed;   /* of an exit: the tick is that of the return itself, not of its record */
	bool matched; /* private: the other end of the call is there */
	bool moved;   /* private: the tick was worked out, not read */
};

struct graph_thread {
	int32_t pid; /* GRAPH_NO_PID: not known */
	int32_t cpu; /* -1, but for idle tasks and where the pid is not known */
	char comm[SCHED_COMM_LEN];
	struct graph_record *records;
	size_t n, room;
	uint64_t calls; /* entries and exits among them */
};

struct graph_calls {
	struct graph_thread *threads;
	size_t n, room;
	struct hashtable by_pid;
	uint64_t slack; /* how much later than its record an entry may have been: text has µs */
};

void graph_calls_init(struct graph_calls *c, uint64_t slack);
void graph_calls_done(struct graph_calls *c);

/* The number of a task's thread; the idle tasks all have pid 0 and are told apart by their CPU, and so
 * are streams of GRAPH_NO_PID. */
int graph_calls_get_thread(struct graph_calls *c, int32_t pid, uint32_t cpu, uint32_t *ret);

/* Only the first name that is told counts. */
void graph_calls_set_comm(struct graph_calls *c, uint32_t thread, const char *text, size_t len);

/* 0, -ENOMEM or -E2BIG. */
int graph_calls_push(struct graph_calls *c, uint32_t thread, const struct graph_record *r);

/* Completes all threads and drops those without calls. */
int graph_calls_finish(struct graph_calls *c);

#endif
