/* SPDX-License-Identifier: MIT */
/*
 * told_objects: the files of code that a recording has told of, for a collector that asks for them.
 *
 * A collector names a build-id, never a path: what may be read is what this recording itself found mapped, as a file that
 * still has that build-id. It is sent in pieces, each asked for, so that a transfer that was
 * cut goes on where it was; no faster than `rate`, and only while nothing else is to be sent (agent/uplink.h).
 * All sizes have ceilings.
 */
#ifndef KISEKI_DEVICE_PROFILE_TOLD_OBJECTS_H
#define KISEKI_DEVICE_PROFILE_TOLD_OBJECTS_H

#include "base/cleanup.h"
#include "wire/message.h"
#include "wire/sample_meta.h"

#define TOLD_OBJECTS_MAX 1024U		    /* files; more are not told of here */
#define TOLD_OBJECTS_PATHS_MAX (128U << 10) /* bytes of their paths */
#define TOLD_OBJECTS_QUIET_MS 300U /* without a question: the collector has what it wants */

struct told_objects;

/* rate: bytes in a second, at least 1. NULL: no memory. */
struct told_objects *told_objects_new(uint64_t rate);
void told_objects_free(struct told_objects *o);
DEFINE_CLEANUP(told_objects, told_objects_free)

/* A mapping that was told of, or will be when a sample is in its process. */
void told_objects_push(struct told_objects *o, const struct sample_mapping *m);

/* Its build-id was told of before. */
bool told_objects_has(const struct told_objects *o, const struct sample_mapping *m);

/* A question; of several, the last counts. */
void told_objects_want(struct told_objects *o, const struct message_want *m, uint64_t now_ms);

/* The body of the answer, of at most MESSAGE_PIECE_ROOM bytes; 0: there is none, or not yet. */
uint32_t told_objects_put(struct told_objects *o, uint8_t *body, uint64_t now_ms);

/* When there is one; UINT64_MAX: nothing was asked. */
uint64_t told_objects_next(const struct told_objects *o);

/* Somebody has just asked, so that he will probably go on. */
bool told_objects_is_busy(const struct told_objects *o, uint64_t now_ms);

#endif
