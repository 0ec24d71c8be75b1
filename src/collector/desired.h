/* SPDX-License-Identifier: MIT */
/*
 * desired: the file DIR/desired, what devices were told to do, so that a collector that starts again
 * still wants it of them.
 *
 *	"kiseki desired 1\n"   then rows: varint length, 16 bytes device, varint verb (0: only
 *	configured, 1 start, 2 stop), items as of an INSTRUCTION   then CRC-32C of all, 4 bytes
 *
 * It is small and changes when a person does something, so it is written whole, synced, and put in
 * the place of the old one by a rename: it is always one or the other.
 */
#ifndef KISEKI_COLLECTOR_DESIRED_H
#define KISEKI_COLLECTOR_DESIRED_H

#include <stddef.h>

#include "base/error.h"
#include "wire/message.h"

struct desired {
	struct message_id device;
	uint8_t verb; /* enum instruction_verb, or 0 */
	struct message_config config;
};

typedef int (*desired_fn)(void *context, const struct desired *d);

/* Calls fn with each row until it returns < 0. No file is no row; -EBADMSG: it is damaged. */
int desired_read(const char *dir, desired_fn fn, void *context, struct error *e);
int desired_write(const char *dir, const struct desired *rows, size_t n, struct error *e);
/* An empty one where there is none, so that it is missed when it is gone; on a full disk there will
 * be none. */
void desired_make(const char *dir);

/* The same on bytes, for tests. */
int desired_decode(const uint8_t *in, size_t len, desired_fn fn, void *context);

#endif
