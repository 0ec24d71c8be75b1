/* SPDX-License-Identifier: MIT */
/*
 * ctf_frame: how the process that reads a CTF trace tells its parent what it found.
 *
 * Frames are a type, a length and a body, through a pipe. Both ends are the same program after a
 * fork, so a body may hold structs as they lie in memory; still the receiver checks every length and
 * number, because the sender runs a library on outside bytes.
 *
 * The order: one INFO, then ITEMs with a TASK before each that made the reader learn one, then END;
 * or an ERROR at any time.
 */
#ifndef KISEKI_CONVERT_CTF_FRAME_H
#define KISEKI_CONVERT_CTF_FRAME_H

#include "base/error.h"
#include "trace/source.h"

enum ctf_frame_type {
	CTF_FRAME_INFO = 1,
	CTF_FRAME_TASK,
	CTF_FRAME_ITEM,
	CTF_FRAME_END,
	CTF_FRAME_ERROR,
};

#define CTF_FRAME_MAX 8192U

/* One end of the pipe, buffered. */
struct ctf_pipe {
	int fd;
	size_t start, end; /* the used part of the buffer */
	unsigned char buffer[65536];
};

/* Sending. Failure means that the parent is gone: the caller exits. */
int ctf_frame_send(struct ctf_pipe *p, enum ctf_frame_type type, const void *body, size_t len);
int ctf_frame_send_info(struct ctf_pipe *p, const struct trace_info *info);
int ctf_frame_send_item(struct ctf_pipe *p, const struct trace_item *item);
int ctf_frame_send_error(struct ctf_pipe *p, int code, const struct error *e);
int ctf_frame_flush(struct ctf_pipe *p);

/* A frame's body lies in the pipe's buffer until the next receive. */
struct ctf_frame {
	enum ctf_frame_type type;
	const unsigned char *body;
	size_t len;
};

/* 1: *ret is the next frame; 0: the pipe's end; -EBADMSG: no frame; else what reading gave. */
int ctf_frame_receive(struct ctf_pipe *p, struct ctf_frame *ret);

/* Both: 0 or -EBADMSG (or -ENOMEM). A filename is borrowed from the frame. */
int ctf_frame_get_info(const struct ctf_frame *f, struct trace_info *ret);
int ctf_frame_get_item(const struct ctf_frame *f, struct trace_item *ret);

/* Sets e to the text sent and returns the negative code sent. */
int ctf_frame_get_error(const struct ctf_frame *f, struct error *e);

#endif
