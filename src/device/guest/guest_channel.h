/* SPDX-License-Identifier: MIT */
/*
 * guest_channel: frames (wire/guest_message.h) over a descriptor that does not wait.
 *
 * What is sent is sent whole, and there is no queue: while the host takes nothing, nothing is made, and the kernel keeps
 * what happens meanwhile, or says that it could not. A host that takes nothing for GUEST_STALL_MS is gone.
 */
#ifndef KISEKI_DEVICE_GUEST_GUEST_CHANNEL_H
#define KISEKI_DEVICE_GUEST_GUEST_CHANNEL_H

#include "wire/guest_message.h"

#define GUEST_STALL_MS 30000

struct guest_channel {
	int fd;	    /* the caller's */
	int failed; /* negative errno of the first failure; all else fails then */
	uint32_t at, len;
	uint8_t in[2 * GUEST_FRAME_MAX];
};

void guest_channel_init(struct guest_channel *c, int fd);

/* 0, or a negative errno: it is over. */
int guest_channel_send(struct guest_channel *c, const uint8_t *bytes, size_t len);

/* Reads what is there. 0; -EPIPE: the other end is closed; or another negative errno. */
int guest_channel_read(struct guest_channel *c);

/* 1: *ret is the next frame, until the next read; 0: there is none yet; -EPROTO: no host says that. */
int guest_channel_next(struct guest_channel *c, struct frame *ret);

#endif
