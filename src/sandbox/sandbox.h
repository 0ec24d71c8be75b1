/* SPDX-License-Identifier: MIT */
/*
 * sandbox: a process that reads other people's bytes, and can do nothing else.
 *
 * A parser that goes wrong does what its input says. So parsers of foreign files run in a child process
 * that has, before it looks at the first byte, given up everything but its memory and the descriptors it
 * was left: no files by name (landlock), no sockets, no processes, no code that is new (seccomp), bounded
 * memory, time and output, no core file. What it finds it sends through a pipe to its parent, which
 * checks every length and number of it. A parser that crashes or goes too far is one error, with the
 * name of the file.
 *
 * Every part is taken where the kernel has it; sandbox_probe() tells which are missing here. In
 * programs with a sanitizer only time is limited: those need more than a parser does.
 */
#ifndef KISEKI_SANDBOX_SANDBOX_H
#define KISEKI_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define SANDBOX_KEEP_MAX 4U
#define SANDBOX_REASON_MAX 96U

/* Sanitizers reserve terabytes, open files and start threads when they find something. */
#ifdef __has_feature
#define SANDBOX_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANDBOX_SANITIZED 1
#else
#define SANDBOX_SANITIZED 0
#endif

struct sandbox_rules {
	uint64_t memory_bytes; /* at most; 0: as much as there is */
	uint64_t output_bytes; /* the largest file that it may write into; pipes have no limit */
	uint32_t cpu_s;	       /* in all; 0: the caller has a watchdog */
	const char *folder;    /* the only one that it may read; NULL: no files */
	const char *const *
		more; /* with it, also these folders and files, as far as they are there; NULL-terminated, or NULL */
	int keep[SANDBOX_KEEP_MAX]; /* descriptors that stay, beside 0 to 2 */
	size_t n_keep;
};

/* For good, in a process with one thread. */
int sandbox_enter(const struct sandbox_rules *r, struct error *e);

/* Why a process in a sandbox ended, by what wait() says of it: "it took too much time", … */
const char *sandbox_explain(int status, char out[SANDBOX_REASON_MAX]);

struct sandbox_abilities {
	bool has_filter;   /* seccomp */
	bool has_landlock; /* Linux 5.13 */
};

void sandbox_probe(struct sandbox_abilities *ret);

/* Whether it holds here: another process goes into one, and does what it may not. 0: that ended it; -ENOSYS: this kernel
 * has no filters; else e says why not. */
int sandbox_try(struct error *e);

#endif
