/* SPDX-License-Identifier: MIT */
/*
 * tracefs: the kernel's tracing files: where they are, and the few ways they are used.
 */
#ifndef KISEKI_DEVICE_AGENT_TRACEFS_H
#define KISEKI_DEVICE_AGENT_TRACEFS_H

#include <stdint.h>

#include "base/error.h"
#include "ftrace/page.h"

#define TRACEFS_PATH_MAX 320U
#define TRACEFS_TEXT_MAX 16384U /* the longest format of the scheduler's has a quarter of it */

/* What per_cpu/cpuN/stats says about one CPU's ring. */
struct tracefs_stats {
	uint64_t entries;	 /* written, not overwritten, not read */
	uint64_t overrun;	 /* overwritten */
	uint64_t commit_overrun; /* not written: the ring was full of unfinished ones */
	uint64_t dropped;	 /* not written: overwriting was off */
	uint64_t read;
};

/* Where it is mounted; else what to do. */
int tracefs_find(const char **ret, struct error *e);

/* Removes the instances PREFIX…-PID of processes that are no more: killed, they cannot have done it themselves, and the
 * kernel would record for nobody until it is started again. What somebody has open stays. Returns how many went. */
int tracefs_sweep(const char *root, const char *prefix);

/* Whole small files, by folder and name below it. The text is terminated; its length is returned. */
int tracefs_read(const char *folder, const char *name, char *out, uint32_t room, struct error *e);
int tracefs_write(const char *folder, const char *name, const char *text, struct error *e);

/* The next page of a ring (trace_pipe_raw): its length, 0 if there is none, -errno. What is left of a page that came in parts is waited for. */
int tracefs_read_page(int fd, uint8_t *page, uint32_t bytes);

/* How the pages of an instance's rings are laid out, and how long they are. */
int tracefs_get_pages(const char *folder, struct page_layout *ret, uint32_t *ret_bytes,
		      struct error *e);

/* Lines that are not known are passed over; -EBADMSG if one that is needed is missing. */
int tracefs_parse_stats(struct tracefs_stats *ret, const char *text);

/* A count of the kernel that goes on from one that is known. On 32 bits it has words of 32, which start again at 0; nothing else
 * lets it fall. A new ring that begins at 0 has a count below the known one, too: then there is nothing new. */
uint64_t tracefs_widen(uint64_t known, uint64_t count);

#endif
