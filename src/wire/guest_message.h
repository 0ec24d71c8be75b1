/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * guest_message: what a guest's program and its host say to each other (docs/format/guest.md).
 *
 * Frames as everywhere (frame.h), with types of their own and small bodies. Neither side trusts the other: a length or a
 * number out of its bounds is the end of the connection. Texts and bytes are borrowed from the frame.
 */
#ifndef KISEKI_WIRE_GUEST_MESSAGE_H
#define KISEKI_WIRE_GUEST_MESSAGE_H

#include "wire/frame.h"
#include "wire/sample_meta.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GUEST_VERSION 1U
#define GUEST_PORT 7412U     /* of a vsock, and of TCP, where nobody says another */
#define GUEST_BODY_MAX 8192U /* bytes of a frame's body */
#define GUEST_HEAD_LEN 4U    /* bytes before it, as they are written here */
#define GUEST_FRAME_MAX (FRAME_HEAD_MAX + GUEST_BODY_MAX)
#define GUEST_TEXT_MAX 255U
#define GUEST_UUID_LEN 16U
#define GUEST_NAMES_MAX 768U	     /* addresses of one question */
#define GUEST_PIECE_MAX 4096U	     /* bytes of an object in one frame */
#define GUEST_OBJECT_MAX (64U << 20) /* of a whole object */

enum guest_frame {
	GUEST_HELLO = 1,    /* guest: who it is; its first frame */
	GUEST_ROWS = 2,	    /* guest: items of metadata, with its own ticks */
	GUEST_PONG = 3,	    /* guest: its time */
	GUEST_OBJECT = 4,   /* guest: a piece of a file */
	GUEST_MISSED = 5,   /* guest: events of processes were lost before this time */
	GUEST_WELCOME = 16, /* host: go on */
	GUEST_PING = 17,    /* host: what time is it? */
	GUEST_NAMES = 18,   /* host: what are the functions at these addresses called? */
	GUEST_FETCH = 19,   /* host: the file with this build-id */
};

/* What a guest can tell. */
enum guest_can {
	GUEST_CAN_EVENTS = 1, /* processes that begin, execute and end, as they do */
	GUEST_CAN_TABLES = 2, /* page tables and places of tasks */
};

struct guest_text {
	const char *at; /* not terminated */
	uint32_t len;
};

struct guest_hello {
	uint32_t version;
	uint32_t can; /* enum guest_can */
	uint8_t uuid[GUEST_UUID_LEN];
	struct guest_text kernel, machine, name;
};

struct guest_pong {
	uint64_t number; /* of the ping */
	uint64_t ns;	 /* CLOCK_MONOTONIC of the guest */
};

struct guest_id {
	uint8_t len, bytes[SAMPLE_BUILD_ID_MAX];
};

struct guest_object {
	struct guest_id id;
	uint64_t size;	 /* of the whole; 0: it is not to be had */
	uint64_t offset; /* of this piece */
	const uint8_t *bytes;
	uint32_t len;
};

struct guest_names {
	uint32_t n;
	uint64_t address[GUEST_NAMES_MAX];
};

/* A frame at p, whose body the caller writes behind what _begin() returns; _end() gets that back and the place behind the
 * body, and returns it. */
uint8_t *guest_frame_begin(uint8_t *p, enum guest_frame type);
uint8_t *guest_frame_end(uint8_t *body, uint8_t *p);

/* As frame_decode(), with this protocol's bound of a body. */
enum wire_status guest_frame_decode(const uint8_t *in, size_t len, struct frame *ret);

/* Whole frames; GUEST_FRAME_MAX bytes are enough for each. */
uint8_t *guest_put_hello(uint8_t *p, const struct guest_hello *m);
uint8_t *guest_put_pong(uint8_t *p, const struct guest_pong *m);
uint8_t *guest_put_object(uint8_t *p, const struct guest_object *m);
uint8_t *guest_put_names(uint8_t *p, const struct guest_names *m);
uint8_t *guest_put_fetch(uint8_t *p, const struct guest_id *id);
/* WELCOME: the version; PING: the number; MISSED: the time. */
uint8_t *guest_put_number(uint8_t *p, enum guest_frame type, uint64_t v);

/* The body of a frame; false: it is none of these. */
bool guest_get_hello(const struct frame *f, struct guest_hello *ret);
bool guest_get_pong(const struct frame *f, struct guest_pong *ret);
bool guest_get_object(const struct frame *f, struct guest_object *ret);
bool guest_get_names(const struct frame *f, struct guest_names *ret);
bool guest_get_fetch(const struct frame *f, struct guest_id *ret);
bool guest_get_number(const struct frame *f, uint64_t *ret);

#ifdef __cplusplus
}
#endif
#endif
