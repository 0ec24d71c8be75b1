/* SPDX-License-Identifier: MIT */
/*
 * child_frame: how the process that reads a foreign trace tells its parent what it found.
 *
 * Frames are a type, a length and a body, through a pipe. Both ends are the same program after a
 * fork, so a body may hold structs as they lie in memory; still the receiver checks every length and
 * number, because the sender has read outside bytes.
 *
 * The order: one INFO, then ITEMs with a TASK before any of them, and all that were learned before the END;
 * or an ERROR at any time.
 */
#ifndef KISEKI_CONVERT_CHILD_FRAME_H
#define KISEKI_CONVERT_CHILD_FRAME_H

#include "base/error.h"
#include "trace/source.h"

enum child_frame_type {
	CHILD_FRAME_INFO = 1,
	CHILD_FRAME_TASK,
	CHILD_FRAME_ITEM,
	CHILD_FRAME_END,
	CHILD_FRAME_ERROR,
};

#define CHILD_FRAME_MAX 8192U

/* One end of the pipe, buffered. */
struct child_pipe {
	int fd;
	size_t start, end; /* the used part of the buffer */
	unsigned char buffer[65536];
};

/* Sending. Failure means that the parent is gone: the caller exits. */
int child_frame_send(struct child_pipe *p, enum child_frame_type type, const void *body,
		     size_t len);
int child_frame_send_info(struct child_pipe *p, const struct trace_info *info);
int child_frame_send_item(struct child_pipe *p, const struct trace_item *item);
int child_frame_send_error(struct child_pipe *p, int code, const struct error *e);
int child_frame_flush(struct child_pipe *p);

/* A frame's body lies in the pipe's buffer until the next receive. */
struct child_frame {
	enum child_frame_type type;
	const unsigned char *body;
	size_t len;
};

/* 1: *ret is the next frame; 0: the pipe's end; -EBADMSG: no frame; else what reading gave. */
int child_frame_receive(struct child_pipe *p, struct child_frame *ret);

/* Both: 0 or -EBADMSG (or -ENOMEM). A filename is borrowed from the frame. */
int child_frame_get_info(const struct child_frame *f, struct trace_info *ret);
int child_frame_get_item(const struct child_frame *f, struct trace_item *ret);

/* Of what else is sent as it lies in memory. A loss that can be counted by its cause; and a bool, of which one with another value
 * than its two would be no bool. */
bool child_frame_has_cause(const struct trace_loss *l);
bool child_frame_get_bool(const bool *b);

/* Of sizeof(*ret) bytes; 0 or -EBADMSG. */
int child_frame_get_clock(const void *bytes, struct trace_clock *ret);

/* Sets e to the text sent and returns the negative code sent. */
int child_frame_get_error(const struct child_frame *f, struct error *e);

#endif
