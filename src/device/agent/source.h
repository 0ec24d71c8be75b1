/* SPDX-License-Identifier: MIT */
/*
 * source: where a device's events come from, one source_<name>.c each.
 *
 * A source makes the kernel record into memory of its own (a tracefs instance, pinned BPF maps) that
 * outlives the agent: open() finds it again, and resume() says from which position on its events
 * are still wanted. Positions are the source's own numbers; they only rise. The agent calls drain()
 * for each CPU ten times a second, and sooner when a ring is filling.
 *
 * Stamps are CLOCK_MONOTONIC; the source turns them into ticks of 2^resolution_shift ns.
 */
#ifndef KISEKI_DEVICE_AGENT_SOURCE_H
#define KISEKI_DEVICE_AGENT_SOURCE_H

#include "base/error.h"
#include "wire/dialect.h"
#include "wire/message.h"

struct device_source;
struct memory;
struct recorder;
struct event_filter;

struct source_options {
	const struct message_config *config;
	struct event_filter *filter; /* NULL: all */
	struct memory *memory;	     /* what outlives the agent */
	uint32_t cpus;		     /* possible ones: highest number + 1 */
	uint32_t resolution_shift;
	const char *instance; /* name of what it makes in the kernel */
	bool resume;	      /* go on with what is there; else begin afresh */
};

struct device_source_ops {
	const char *name;
	/* 0: this machine can do it; else why not and what would help. For `doctor` and `auto`. */
	int (*probe)(struct error *e);
	int (*open)(struct device_source **ret, const struct source_options *o, struct error *e);
	/* Before the first drain of a CPU, when resuming. */
	int (*resume)(struct device_source *s, uint32_t cpu, uint64_t position, struct error *e);
	int (*start)(struct device_source *s, struct error *e);
	/* No more events are made; those that are there can still be drained. */
	int (*stop)(struct device_source *s, struct error *e);
	/* Whether the kernel still records; somebody else may have switched it off. 1: it did not and does again, `mended`
	 * says what was wrong, and the recorder was told that it is not known what is missing. NULL: nobody can. */
	int (*check)(struct device_source *s, struct recorder *r, struct error *e);
	/* Gives what there is to the recorder. 1: the ring was more than half full, come soon. */
	int (*drain)(struct device_source *s, uint32_t cpu, struct recorder *r, struct error *e);
	/* What is before this position is safe. */
	void (*release)(struct device_source *s, uint32_t cpu, uint64_t position);
	/* A descriptor that becomes readable when a ring fills up, or -1. */
	int (*wake_fd)(struct device_source *s);
	/* keep: the kernel goes on recording for the next agent; else all of it is removed. */
	void (*free)(struct device_source *s, bool keep);
};

/* Embedded as the first member of every source. */
struct device_source {
	const struct device_source_ops *ops;
	struct sched_dialect dialect; /* of its events, after open() */
	uint64_t passed_over;	      /* events that the filter kept out */
	uint64_t not_understood;      /* records that could not be read */
	uint64_t fixed_bytes;	      /* memory it holds, the kernel's included */
	struct error mended;	      /* what the last check found and put right */
};

extern const struct device_source_ops source_tracefs;
extern const struct device_source_ops source_bpf; /* where it was built in (HAVE_BPF) */

#endif
