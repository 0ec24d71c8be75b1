/* SPDX-License-Identifier: MIT */
/*
 * graph_rings: the kernel's rings, one for each CPU, page by page into files that have no name.
 *
 * Pages are kept as they come: they say themselves how many records were lost before them. They are looked
 * through on the way, to know how many calls there are.
 */
#ifndef KISEKI_DEVICE_GRAPH_GRAPH_RINGS_H
#define KISEKI_DEVICE_GRAPH_GRAPH_RINGS_H

#include <poll.h>

#include "base/error.h"
#include "ftrace/graph.h"
#include "ftrace/page.h"

#define GRAPH_CPUS_MAX 1024U

struct graph_ring {
	uint32_t cpu;
	int ring_fd, file_fd;
	uint64_t bytes;
};

struct graph_rings {
	struct graph_ring *list;
	struct pollfd *polls; /* of each ring, and one more that is the caller's */
	uint32_t n;
	uint32_t page_bytes;
	uint8_t *page;
	struct page_layout layout;
	struct graph_map map;
	bool only_exits;
	uint64_t calls;	    /* read so far */
	uint64_t calls_max; /* with so many no more pages are taken; 0: no limit */
	uint64_t missed;    /* records, as far as pages told how many */
};

/* `near` is the path of a file: the pages are kept in its folder. */
int graph_rings_open(struct graph_rings *r, const char *folder, const char *near, struct error *e);
void graph_rings_close(struct graph_rings *r);

/* Waits for a ring that fills or for the caller's descriptor: true if that has something. */
bool graph_rings_wait(struct graph_rings *r, int fd, int timeout_ms);

static inline bool graph_rings_is_full(const struct graph_rings *r)
{
	return r->calls_max && r->calls >= r->calls_max;
}

/* Takes what is there, of all CPUs by turns. The kernel fills pages as we read, so `at_end` says that it does no more. */
int graph_rings_drain(struct graph_rings *r, bool at_end, struct error *e);

#endif
