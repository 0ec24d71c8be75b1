/* SPDX-License-Identifier: MIT */
/*
 * kiseki/event: what a trace is made of, for programs that use libkiseki.
 *
 * Every struct here has a fixed layout, with room for what may come; it changes only with the library's number. What is
 * reserved is 0. Functions answer 0 or more, or a negative errno; the reason, in words, is then in the caller's
 * struct ks_error, which may be NULL.
 */
#ifndef KISEKI_EVENT_H
#define KISEKI_EVENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define KS_COMM_LEN 16
#define KS_ERROR_MAX 512
#define KS_COUNT_UNKNOWN UINT64_MAX /* of a loss: some, nobody knows how many */

struct ks_error {
	char text[KS_ERROR_MAX];
};

enum ks_kind {
	KS_SWITCH = 0,
	KS_WAKING = 1,
	KS_WAKEUP = 2,
	KS_WAKEUP_NEW = 3,
	KS_FORK = 4,
	KS_EXEC = 5,
	KS_EXIT = 6,
	KS_RENAME = 7,
	KS_SETPRIO = 8,
};

enum ks_cause {
	KS_LOSS_RING = 0,   /* the kernel's ring was overwritten before it was read */
	KS_LOSS_BUFFER = 1, /* the device's memory for blocks was full */
	KS_LOSS_SPOOL = 2,  /* dropped while there was no way to the collector */
	KS_LOSS_DAMAGE = 3, /* bytes are torn or flipped */
	KS_LOSS_STORE = 4,  /* the collector could not keep it */
};

enum ks_item_type {
	KS_ITEM_EVENT = 0,
	KS_ITEM_LOSS = 1,
};

struct ks_task {
	int32_t pid;
	int32_t prio;
	char comm[KS_COMM_LEN]; /* padded with NULs; without one if it has 16 bytes */
};

/*
 * What a kind uses; the rest is 0:
 *
 *   kind            task                  other                  state        value           extra
 *   SWITCH          prev: pid prio comm   next: pid prio comm    prev_state
 *   WAKING … NEW    woken: pid prio comm                                      target CPU      success
 *   FORK            parent: pid comm      child: pid comm
 *   EXEC            pid                                                       the old pid     (filename)
 *   EXIT            pid prio comm                                                             group_dead
 *   RENAME          pid, old comm         new comm                            oom_score_adj
 *   SETPRIO         pid comm, old prio    new prio
 */
struct ks_event {
	uint64_t tick; /* of the device's counter; ks_trace_get_ns() says what that is */
	uint64_t state;
	const char *filename; /* of an exec, not terminated; borrowed until the next call */
	uint32_t filename_len;
	int32_t tick_off_ns; /* what the tick's ns lack to the recorded stamp; mostly 0 */
	int32_t pid;	     /* who ran when it happened */
	int32_t value;
	uint8_t kind;	       /* enum ks_kind */
	uint8_t flags;	       /* the kernel's common_flags */
	uint8_t preempt_count; /* … and common_preempt_count */
	uint8_t extra;
	uint32_t reserved;
	struct ks_task task;
	struct ks_task other;
};

/* Events missing on one CPU between two ticks. */
struct ks_loss {
	uint64_t from_tick; /* of the last event before it, or 0 */
	uint64_t to_tick;   /* of the first one after it, or from_tick if none followed */
	uint64_t count;	    /* or KS_COUNT_UNKNOWN */
	uint32_t cause;	    /* enum ks_cause */
	uint32_t reserved;
};

struct ks_item {
	uint32_t type; /* enum ks_item_type */
	uint32_t cpu;
	uint64_t ns;	       /* when, on the trace's own clock */
	struct ks_event event; /* KS_ITEM_EVENT */
	struct ks_loss loss;   /* KS_ITEM_LOSS */
	uint64_t reserved[4];
};

/* "switch", "waking", …; "ring", "buffer", …; NULL for a number that is none. */
const char *ks_kind_get_word(uint32_t kind);
const char *ks_cause_get_word(uint32_t cause);

/* The library's version, "0.1.0". */
const char *ks_version(void);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
