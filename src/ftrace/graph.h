/* SPDX-License-Identifier: MIT */
/*
 * graph: raw records of the ring buffer as calls of kernel functions.
 *
 *	graph_map_init(&map, big_endian);
 *	graph_map_add(&map, format_text, len, &e);		for every event of the system "ftrace"
 *	graph_map_decode(&map, record.data, record.len, &event)	for every record
 *
 * The kernel has four kinds: the entry and the exit of function_graph; an entry that also has the
 * return address (6.13 and later, option funcgraph-retaddr); and the entry of the tracer "function",
 * which has no exit. An exit says when its call began and ended by the kernel's local clock, whatever
 * clock stamps the records, and with tracing_thresh it is all that is recorded of a call. Where these
 * fields lie moved several times (a return value in 6.5, times behind the rest in 6.14), so they are
 * found by name.
 */
#ifndef KISEKI_FTRACE_GRAPH_H
#define KISEKI_FTRACE_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum graph_kind {
	GRAPH_ENTRY = 0,
	GRAPH_EXIT = 1,
	GRAPH_RETADDR_ENTRY = 2, /* decoded as GRAPH_ENTRY */
	GRAPH_FUNCTION = 3,
	GRAPH_KINDS = 4,
};

/* Depths that a kernel can reach end far below: its shadow stack has room for some hundred. */
#define GRAPH_DEPTH_MAX 1024U

/* Where an integer lies; size 0: this kernel does not have it. */
struct graph_ref {
	uint16_t offset;
	uint8_t size;
};

struct graph_layout {
	struct graph_ref type, pid, func, depth, calltime, rettime;
	uint32_t min_len;
	uint32_t id; /* + 1; 0: not added */
};

struct graph_map {
	bool big_endian;
	struct graph_layout layouts[GRAPH_KINDS];
};

struct graph_event {
	enum graph_kind kind;
	int32_t pid;
	uint32_t depth; /* below GRAPH_DEPTH_MAX; 0 for GRAPH_FUNCTION */
	uint64_t func;
	uint64_t calltime, rettime; /* GRAPH_EXIT; ns of the local clock, both 0 if not told */
};

void graph_map_init(struct graph_map *m, bool big_endian);

/* 1: added; 0: an event of another kind; -EBADMSG and the cause otherwise. */
int graph_map_add(struct graph_map *m, const char *text, size_t len, struct error *e);

/* Is there a format that calls can be read with? */
bool graph_map_has_calls(const struct graph_map *m);

/* The name of a kind's event, in the system "ftrace". */
const char *graph_map_get_name(enum graph_kind kind);

/* 1: *ret is the event; 0: one of another kind; -EBADMSG: the record is too short for its format, or
 * no kernel has such a depth. */
int graph_map_decode(const struct graph_map *m, const uint8_t *record, size_t len,
		     struct graph_event *ret);

#endif
