/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * sched_event: one scheduler event with every field the kernel recorded for it.
 *
 * This is the record that all sources make, all codecs carry and all exports print. One flat
 * struct serves all kinds; the table says what each kind uses. Fields that a kind does not use are
 * zero, so that two events are equal exactly when sched_event_equal() says so, and a codec may rely
 * on the zeros.
 *
 *   kind        task                  other             state      value          extra
 *   SWITCH      prev: pid prio comm   next: pid prio comm  prev_state
 *   WAKING…NEW  woken: pid prio comm                               target_cpu     success
 *   FORK        parent: pid comm      child: pid comm
 *   EXEC        pid                                                old_pid        filename
 *   EXIT        pid prio comm                                                     group_dead
 *   RENAME      pid, old comm         new comm                     oom_score_adj
 *   SETPRIO     pid comm, old prio    new prio
 *
 * `extra` is the byte field of that name except for EXEC, whose filename is a borrowed pointer:
 * it stays valid until the source is asked for its next event.
 */
#ifndef KISEKI_WIRE_SCHED_EVENT_H
#define KISEKI_WIRE_SCHED_EVENT_H

#include "wire/sched_kind.h"
#include "wire/types.h"

#define SCHED_COMM_LEN 16	 /* bytes; shorter names are padded with NULs */
#define SCHED_FILENAME_MAX 4095U /* a path of the kernel is at most this long */

struct sched_task {
	int32_t pid;
	int32_t prio;
	char comm[SCHED_COMM_LEN];
};

struct sched_event {
	uint64_t tick;	      /* the device's counter; what a tick is, the trace's clock says */
	uint64_t state;	      /* prev_state, all bits as recorded */
	const char *filename; /* not terminated */
	int32_t tick_off_ns;  /* what ns(tick) lacks to the recorded stamp; 0 but for odd stamps */
	int32_t pid;	      /* common_pid: who ran when it happened */
	int32_t value;
	uint16_t filename_len;
	uint8_t kind;	       /* enum sched_kind */
	uint8_t flags;	       /* common_flags */
	uint8_t preempt_count; /* common_preempt_count */
	uint8_t extra;	       /* success, group_dead */
	struct sched_task task;
	struct sched_task other;
};

/* What people write for a kind, "switch", and what the kernel does, "sched_switch"; NULL for a number
 * that is none. */
const char *sched_kind_word(uint32_t kind);
const char *sched_kind_event(uint32_t kind);

bool sched_event_equal(const struct sched_event *a, const struct sched_event *b);

/* A name of up to 16 bytes, cut at its first NUL and padded with NULs. */
void sched_comm_set(char comm[SCHED_COMM_LEN], const char *name, size_t len);

#endif
