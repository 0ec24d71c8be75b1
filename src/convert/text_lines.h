/* SPDX-License-Identifier: MIT */
/*
 * text_lines: the lines of a trace text, from memory or a pipe, with the HTML around it taken off.
 */
#ifndef KISEKI_CONVERT_TEXT_LINES_H
#define KISEKI_CONVERT_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The longest line that can mean something: an exec with the longest path, every byte escaped. A
 * longer line of a pipe is cut here and the rest of it is dropped. */
#define TEXT_LINE_MAX 16384U

/* How far a pipe is read ahead to find its first event (a systrace page has its script first). */
#define TEXT_PEEK_MAX (4U << 20)

struct text_line {
	const char *text; /* without its newline; valid until the next call */
	size_t len;
	bool torn; /* the input ends, or was cut, before the newline */
};

enum text_wrap {
	TEXT_WRAP_START,   /* nothing but blank lines yet */
	TEXT_WRAP_NONE,	   /* plain text */
	TEXT_WRAP_OUTSIDE, /* in HTML, between pieces of trace text */
	TEXT_WRAP_SCRIPT,  /* in <script class="trace-data"> */
	TEXT_WRAP_STRING,  /* in linuxPerfData = "…", lines end in \n\ */
};

struct text_lines {
	const char *data;
	char *owned; /* the buffer behind data, if from a pipe */
	size_t pos;
	size_t end;
	size_t room;
	int fd;		  /* -1: everything is in memory */
	bool eof;	  /* nothing can follow end */
	bool peeking;	  /* keep all that was read, for text_lines_unpeek() */
	bool no_wait;	  /* give only lines that are in memory already */
	bool drop_rest;	  /* the current line was cut: skip to its end */
	uint64_t line_no; /* of the line last given, from 1 */
	uint64_t dropped; /* bytes of a pipe that have left the buffer */
	enum text_wrap wrap;
	bool is_html;
	char scratch[TEXT_LINE_MAX]; /* an unescaped line */
};

void text_lines_init_bytes(struct text_lines *l, const void *data, size_t len);
void text_lines_init_fd(struct text_lines *l, int fd); /* takes fd; starts peeking */
void text_lines_done(struct text_lines *l);

/* 1: *ret is the next line; 0: the end (or, with no_wait, of what is there); < 0: failed. */
int text_lines_next(struct text_lines *l, struct text_line *ret, struct error *e);

/* Back to the first line: always from memory, and from a pipe once, after peeking. */
int text_lines_rewind(struct text_lines *l);

uint64_t text_lines_offset(const struct text_lines *l);

#endif
