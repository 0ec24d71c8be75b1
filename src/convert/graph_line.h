/* SPDX-License-Identifier: MIT */
/*
 * graph_line: one line of function_graph text split into what it says.
 *
 *	  12.345678 |   0)   bash-1234    | + 10.500 us   |      vfs_read();
 *
 * Which columns there are depends on options, so each is taken for what it looks like. Lines of
 * `trace-cmd report` ("bash-1234 [000] 12.345678: funcgraph_entry: …") are read as well.
 */
#ifndef KISEKI_CONVERT_GRAPH_LINE_H
#define KISEKI_CONVERT_GRAPH_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "convert/text_lines.h"
#include "convert/text_scan.h"

enum graph_line_kind {
	GRAPH_LINE_BLANK,   /* nothing, a rule, an arrow of an interrupt, a count of overruns */
	GRAPH_LINE_HEADER,  /* starts with '#' */
	GRAPH_LINE_SWITCH,  /* the banner: from here on another task */
	GRAPH_LINE_LOST,    /* CPU:n [LOST m EVENTS] */
	GRAPH_LINE_ENTER,   /* func() { */
	GRAPH_LINE_LEAF,    /* func(); */
	GRAPH_LINE_EXIT,    /* } */
	GRAPH_LINE_COMMENT, /* an event, between the calls */
	GRAPH_LINE_OTHER,   /* none of these */
};

struct graph_line {
	enum graph_line_kind kind;
	bool has_time, has_cpu, has_pid, has_duration, has_column;
	uint64_t time_ns;
	uint32_t time_digits; /* behind the point */
	uint32_t cpu;	      /* also of GRAPH_LINE_LOST and GRAPH_LINE_SWITCH */
	int32_t pid;	      /* GRAPH_LINE_SWITCH: of the task that comes */
	struct text_span comm;
	int32_t before_pid; /* GRAPH_LINE_SWITCH: of the task that goes */
	struct text_span before_comm;
	uint64_t duration_ns;
	uint32_t depth;
	uint64_t count;	       /* GRAPH_LINE_LOST; UINT64_MAX: not known */
	struct text_span name; /* of the function; an exit may have none */
	struct text_span text; /* GRAPH_LINE_COMMENT */
};

/* has_rel_time: the header named a column REL TIME, which looks like a duration. */
void graph_line_parse(struct graph_line *ret, const struct text_line *line, bool has_rel_time);

#endif
