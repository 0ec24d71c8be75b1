/* SPDX-License-Identifier: MIT */
/*
 * func_source: anything that yields the calls of one or more threads in order of time.
 *
 * The file of a process (func_buffer), the function streams of a .ksk file or of a store, and the
 * kernel's function_graph read from text or trace.dat are all function sources; reports, trees and
 * exports take any of them. Items of all threads come merged by tick, and of one tick by thread;
 * within a thread the order is that of the stream. Ticks are of the source's one clock.
 *
 * Processes and threads are numbered by the source, from 0. Kernel functions belong to the process
 * with `kernel` set; where the source has names and no addresses (text), an address is the number
 * of a name in that process's `names`.
 */
#ifndef KISEKI_TRACE_FUNC_SOURCE_H
#define KISEKI_TRACE_FUNC_SOURCE_H

#include <stdbool.h>

#include "base/error.h"
#include "trace/clock.h"
#include "trace/source.h"
#include "wire/func_event.h"

#define FUNC_PROCESSES_MAX (1U << 16)
#define FUNC_THREADS_MAX (1U << 20)
#define FUNC_MAPPINGS_MAX (1U << 16) /* of one process, all generations */
#define FUNC_NAMES_MAX (1U << 22)
#define FUNC_BUILD_ID_MAX 20U
#define FUNC_SYNCS_MAX (1U << 16)

/* One line of a process's maps that can hold code. */
struct func_mapping {
	uint64_t from, to; /* addresses */
	uint64_t offset;   /* in the file */
	uint32_t since;	   /* generation of the maps that has it first */
	uint32_t until;	   /* generation that has it no longer, UINT32_MAX: it stayed */
	uint8_t build_id[FUNC_BUILD_ID_MAX];
	uint8_t build_id_len; /* 0: not known */
	char *path;
};

struct func_process {
	int32_t pid, parent;
	bool kernel;
	char *command;		       /* as the file is named: comm */
	char *exe;		       /* "" if not known */
	struct func_mapping *mappings; /* by generation, then by address */
	size_t n_mappings;
	char **names; /* instead of mappings: the name of address n is names[n] */
	size_t n_names;
};

struct func_thread {
	uint32_t process;
	int32_t tid;
	int32_t cpu; /* -1: it is a thread; else the stream is a CPU's, of threads not known */
	char comm[SCHED_COMM_LEN];
};

/* One moment, by the source's ticks and by CLOCK_MONOTONIC (func_clock.h). */
struct func_sync {
	uint64_t tick;
	uint64_t mono_ns;
};

enum func_item_type {
	FUNC_ITEM_EVENT = 0,
	FUNC_ITEM_LOSS = 1,
};

struct func_item {
	enum func_item_type type;
	uint32_t thread;
	struct func_event event; /* FUNC_ITEM_EVENT */
	struct trace_loss loss;	 /* FUNC_ITEM_LOSS: of this thread */
	bool os_only;		 /* FUNC_ITEM_LOSS: OS records are missing, no call is */
};

struct func_source;

struct func_source_ops {
	/* 1: *ret is the next item; 0: the end; < 0: failed, e says why. */
	int (*next)(struct func_source *s, struct func_item *ret, struct error *e);
	int (*rewind)(struct func_source *s, struct error *e);
	void (*progress)(const struct func_source *s, uint64_t *ret_done, uint64_t *ret_total);
	void (*free)(struct func_source *s); /* frees s itself, too */
};

/* Embedded as the first member of every function source. Processes and threads are complete after
 * opening. */
struct func_source {
	const struct func_source_ops *ops;
	struct trace_clock clock;
	struct func_process *processes;
	size_t n_processes;
	struct func_thread *threads;
	size_t n_threads;
	char *origin; /* "function record", "ksk", "function_graph text", … */
	/* What ties `clock`, which is a straight line, to CLOCK_MONOTONIC; by rising tick. None: the
	 * line is all that is known. */
	struct func_sync *syncs;
	size_t n_syncs;
	/* Of the item that was given last: all threads are watched. One that makes its first call runs, and
	 * OS records tell whatever happens to it from here on. */
	bool watched;
};

static inline void func_source_free(struct func_source *s)
{
	if (s)
		s->ops->free(s);
}

/* When an item is due: a loss right after the last event before it. */
static inline uint64_t func_item_tick(const struct func_item *i)
{
	return i->type == FUNC_ITEM_EVENT ? i->event.tick : i->loss.from_tick;
}

/*
 * The tables, for those who make a source. They own what they hold; func_source_done() frees them
 * and not the source, and takes half-built ones. All return 0, -ENOMEM, or -E2BIG at a ceiling.
 */
void func_source_done(struct func_source *s);

/* The tables, the clock and its pairs of `from`, into one that is all zero. */
int func_source_dup(struct func_source *to, const struct func_source *from);

/* Moves the process in, also when it fails; the thread is copied. */
int func_source_add_process(struct func_source *s, struct func_process *p, uint32_t *ret);
int func_source_add_thread(struct func_source *s, const struct func_thread *t, uint32_t *ret);
int func_source_add_sync(struct func_source *s, uint64_t tick, uint64_t mono_ns);
int func_source_set_origin(struct func_source *s, const char *text);

/* A process of empty texts; control characters that came from outside become '?'. */
int func_process_init(struct func_process *p, const char *command, const char *exe);
void func_process_done(struct func_process *p);
int func_process_dup(struct func_process *to, const struct func_process *from);
int func_process_add_mapping(struct func_process *p, const struct func_mapping *m); /* a copy */
int func_process_add_name(struct func_process *p, const char *name, size_t len);

#endif
