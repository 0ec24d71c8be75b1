/* SPDX-License-Identifier: MIT */
/*
 * source_child: a source whose reader is a process of its own, in a sandbox.
 *
 * Readers of foreign formats meet bytes that somebody else chose. They are written to believe none of them,
 * and they are fuzzed; still they run where a mistake costs nothing (sandbox/sandbox.h), and send what they
 * find through a pipe (child_frame.h). When the child dies, that is one error like any other. On machines with a
 * second processor it also makes an import faster.
 *
 * The child does nothing but read and send; it ends without running the program's exit handlers, and
 * it dies with the thread that opened the source, which therefore must outlive it. No other thread may hold a
 * lock that the reader needs when a source is opened.
 */
#ifndef KISEKI_CONVERT_SOURCE_CHILD_H
#define KISEKI_CONVERT_SOURCE_CHILD_H

#include "base/error.h"
#include "convert/import.h"
#include "trace/source.h"

/* The bytes stay the caller's and outlive the source. */
struct source_child_job {
	/* In the child, before the sandbox: loads what the reader needs; NULL: nothing. */
	void (*prepare)(void);
	/* In the child, in the sandbox. The source is never freed. */
	int (*open)(const struct source_child_job *job, struct trace_source **ret, struct error *e);
	struct import_bytes bytes;
	int fd; /* a pipe to read from, taken; -1: none, and the source can be rewound */
	const char *folder;		    /* that it may read; NULL: none */
	uint64_t memory_bytes, input_bytes; /* that it may take; that it has to read */
	const char *prefix; /* of what is said of it, as "cannot read CTF trace x"; NULL: none */
	/* Why it failed, if its standard error tells; NULL: nobody reads that. */
	bool (*read_log)(int log, char *out, size_t room);
	const char *hangs, *dies; /* said in place of the usual words; NULL: those */
};

int source_child_open(struct trace_source **ret, const struct source_child_job *job,
		      struct error *e);

/* For a reader that works for long before its first item: it is not hanging. */
void source_child_alive(void);

#endif
