/* SPDX-License-Identifier: MIT */
/*
 * objects: files of code that devices' profiles name and the collector has not, fetched from them, each once.
 *
 * A device whose HELLO says that it can is asked by build-id (WANT) for what its descriptions say is mapped, one piece
 * after the other, one object at a time; how fast, and whether at all, is the device's to say. A file that is whole and has
 * that build-id is kept in a tree of build-ids, and its table of symbols is made. A device that sends anything else than what it was
 * asked for is not asked again on that connection.
 *
 * All of it is done by a thread of its own. The loop of the connections only puts copies into a queue, which has a
 * ceiling, and takes questions out: it never waits for a file.
 */
#ifndef KISEKI_COLLECTOR_OBJECTS_H
#define KISEKI_COLLECTOR_OBJECTS_H

#include "base/error.h"
#include "wire/message.h"

#define OBJECTS_OF_DEVICE_MAX 2048U  /* on one connection */
#define OBJECTS_QUEUE_MAX (8U << 20) /* bytes that wait for the thread */

struct objects;

struct objects_options {
	const char *folder; /* of the tree; borrowed, as are all texts */
	uint64_t bytes_max;
	const char *symbols, *tables; /* as in http_options */
	uint64_t tables_bytes;
	void (*log)(void *context, const char *line); /* from its own thread */
	void *log_context;
};

int objects_start(struct objects **ret, const struct objects_options *o, struct error *e);
void objects_stop(struct objects *o); /* NULL is fine */

/* Who is called when there is a question; from its own thread. NULL: nobody any more. */
void objects_set_wake(struct objects *o, void (*wake)(void *context), void *context);

/* --- by the loop's thread --- */

/* A connection that may be asked, by its number, higher than those before. `owner` is what objects_pop() returns. */
bool objects_arrive(struct objects *o, uint64_t session, void *owner, const char *name);
void objects_leave(struct objects *o, uint64_t session);

/* A block of its description: the payload. */
void objects_see(struct objects *o, uint64_t session, const uint8_t *payload, size_t len);
void objects_take(struct objects *o, uint64_t session, const struct message_piece *m);

/* The next question, and whom to ask; NULL: none. */
void *objects_pop(struct objects *o, struct message_want *ret);

#endif
