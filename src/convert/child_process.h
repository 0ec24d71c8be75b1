/* SPDX-License-Identifier: MIT */
/*
 * child_process: a process of our own, in a sandbox, that reads a foreign file and tells what it finds.
 *
 * Readers of foreign formats meet bytes that somebody else chose. They are written to believe none of them,
 * and they are fuzzed; still they run where a mistake costs nothing (sandbox/sandbox.h), and send what they
 * find through a pipe (child_frame.h). When the child dies, that is one error like any other. What is sent, and what
 * becomes of it here, is the business of source_child.h (events), boot_child.h (boot charts) and func_child.h (calls).
 *
 * The child does nothing but read and send; it ends without running the program's exit handlers, and
 * it dies with the thread that started it, which therefore must outlive it. No other thread may hold a
 * lock that the reader needs when it is started.
 */
#ifndef KISEKI_CONVERT_CHILD_PROCESS_H
#define KISEKI_CONVERT_CHILD_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "convert/child_frame.h"

struct child_process;

struct child_setup {
	/* In the child, before the sandbox: loads what the reader needs; NULL: nothing. */
	void (*prepare)(void);
	/* In the child, in the sandbox: reads, and sends all of it; < 0: nobody listens any more. */
	int (*run)(struct child_process *c);
	void *context;			    /* of run; the child has a copy of what it points to */
	int fd;				    /* that it may read from, the caller's; -1: none */
	const char *folder;		    /* that it may read; NULL: none */
	uint64_t memory_bytes, input_bytes; /* that it may take; that it has to read */
	const char *prefix; /* of what is said of it, as "cannot read CTF trace x"; NULL: none */
	/* Why it failed, if its standard error tells; NULL: nobody reads that. */
	bool (*read_log)(int log, char *out, size_t room);
	const char *hangs, *dies; /* said in place of the usual words; NULL: those */
};

/* How far it is, in memory that both have; the parent believes nothing of it. */
struct child_share {
	uint64_t done, total;
};

struct child_process {
	struct child_setup setup;
	char *folder, *prefix; /* of the setup */
	pid_t pid;	       /* 0: none */
	int log;	       /* its standard error; -1: the program's */
	int failed;	       /* 0, or why nothing more comes */
	struct error error;
	struct child_share *share;
	struct child_pipe pipe; /* of which the child writes the one end */
};

int child_process_init(struct child_process *c, const struct child_setup *setup); /* -ENOMEM */
void child_process_done(struct child_process *c); /* also of one that is all zero */

/* Starts it, or starts it again from the beginning. Failures are in c->error, here and below. */
int child_process_start(struct child_process *c);

/* The next frame: 1. < 0: it said that it failed, or it died. */
int child_process_receive(struct child_process *c, struct child_frame *ret);

/* For progress: not more than all. */
void child_process_progress(const struct child_process *c, uint64_t *ret_done, uint64_t *ret_total);

/* What it sends is wrong, or cannot be kept: sets c->failed, and returns it. */
int child_process_fail(struct child_process *c, int code, const char *reason);
int child_process_disorder(struct child_process *c);

/* For the child: it has done something, it is not hanging; to be called every CHILD_BATCH items,
 * and by who works for long before the first. */
#define CHILD_BATCH 4096U
void child_process_alive(void);

#endif
