/* SPDX-License-Identifier: MIT */
/*
 * guest_objects: files of code for the host, by build-id, only when it asks.
 *
 * A file is looked for where it is needed: among what programs that run have mapped. It is sent in pieces, a few in each turn, so that
 * what happens meanwhile is told in time. A session's files have a ceiling together.
 */
#ifndef KISEKI_DEVICE_GUEST_GUEST_OBJECTS_H
#define KISEKI_DEVICE_GUEST_GUEST_OBJECTS_H

#include "device/guest/guest_channel.h"
#include "device/profile/object_id.h"

#define GUEST_OBJECTS_WAITING 64U
#define GUEST_OBJECTS_MOST (512ULL << 20) /* bytes in a session */

struct guest_objects {
	struct guest_channel *channel; /* borrowed, as are these */
	struct object_ids *ids;
	int fd; /* of the file that is being sent; -1: none */
	struct guest_id id;
	uint64_t size, offset, sent;
	uint32_t n;
	struct guest_id waiting[GUEST_OBJECTS_WAITING];
};

void guest_objects_init(struct guest_objects *o, struct guest_channel *c, struct object_ids *ids);
void guest_objects_done(struct guest_objects *o);

/* One that is asked for while too many wait is answered at once: it is not to be had. */
void guest_objects_push(struct guest_objects *o, const struct guest_id *id);

/* Sends some pieces. True: there are more. */
bool guest_objects_turn(struct guest_objects *o);

#endif
