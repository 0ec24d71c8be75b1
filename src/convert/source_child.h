/* SPDX-License-Identifier: MIT */
/*
 * source_child: a source of events whose reader is a process of its own, in a sandbox (child_process.h).
 *
 * On machines with a second processor it also makes an import faster.
 */
#ifndef KISEKI_CONVERT_SOURCE_CHILD_H
#define KISEKI_CONVERT_SOURCE_CHILD_H

#include "base/error.h"
#include "convert/child_process.h"
#include "convert/import.h"
#include "trace/source.h"

/* The bytes stay the caller's and outlive the source. */
struct source_child_job {
	struct child_setup
		child; /* of which `run` and `context` are ours, and fd, a pipe to read from, is
				   * taken; without one the source can be rewound */
	/* In the child, in the sandbox. The source is never freed. */
	int (*open)(const struct source_child_job *job, struct trace_source **ret, struct error *e);
	struct import_bytes bytes;
	uint64_t clock_hz; /* of a clock whose ticks have no known length; 0: nobody knows */
};

int source_child_open(struct trace_source **ret, const struct source_child_job *job,
		      struct error *e);

#endif
