/* SPDX-License-Identifier: MIT */
/*
 * uplink: the device's side of the protocol (docs/format/protocol.md), from bytes to bytes.
 *
 * It knows no socket and no clock: whoever has the connection gives it what came (push), takes what
 * is to be sent (get, pop), and says what time it is. So it can be tested and fuzzed as it is.
 *
 *	closed --open--> greeting --WELCOME--> welcome --BYE of either side--> over --close--> closed
 *
 * All memory is taken when it is made: one buffer for what is to be sent, large enough for the
 * largest entry of the spool and some answers beside it; one for a frame that is not whole yet. Only
 * a WELCOME may be large, and by how much follows from the number of CPUs; other frames that do not
 * fit break the protocol, those of an unknown type are skipped as they come. Input is taken only
 * while there is room for an answer, so a collector that asks and does not listen is not served,
 * and after 30 s taken for dead.
 *
 * A frame is moved from the spool into the buffer whole and counts as sent from then on. The spool
 * forgets it when the collector has acknowledged it and not before; a new connection starts with
 * the oldest that is left.
 */
#ifndef KISEKI_DEVICE_AGENT_UPLINK_H
#define KISEKI_DEVICE_AGENT_UPLINK_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/agent/spool.h"
#include "wire/message.h"

#define UPLINK_SILENCE_MS 30000U
#define UPLINK_LIVED_MS 10000U /* a connection that lasted so long was a good one */

struct uplink;

struct uplink_hooks {
	void *context;
	/* What the collector wants: 0, or a negative errno with its reason, for RESULT. */
	int (*instruct)(void *context, const struct message_instruction *m, struct error *e);
	/* The clock of the traces and CLOCK_REALTIME, both now, in ns. */
	void (*clocks)(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns);
	/* The collector wants a piece of an object; NULL, as is the next: there are none. */
	void (*want)(void *context, const struct message_want *m);
	/* The body of the next PIECE, of at most MESSAGE_PIECE_ROOM bytes; 0: none now. Asked when there
	 * is nothing else to send, so that no event waits behind a file. */
	uint32_t (*piece)(void *context, uint8_t *body);
};

struct uplink_options {
	struct spool *spool;
	struct message_id device, boot;
	const char *name, *agent, *kernel, *machine; /* borrowed */
	uint32_t cpus;
	uint32_t threads;   /* rows of a function run: a WELCOME may name both streams of each */
	uint32_t origins;   /* bits of enum trace_origin; uplink_set_origins() changes them */
	uint8_t role;	    /* enum device_role */
	uint32_t abilities; /* enum device_ability; uplink_set_abilities() changes them */
	uint32_t entry_max; /* the largest body of a spool's entry */
	uint64_t seed;	    /* of the times to wait */
	struct uplink_hooks hooks;
};

int uplink_new(struct uplink **ret, const struct uplink_options *o, struct error *e);
void uplink_free(struct uplink *u);
DEFINE_CLEANUP(uplink, uplink_free)

/* What the next HELLO says that the machine could use. */
void uplink_set_origins(struct uplink *u, uint32_t origins);

/* And what else it can do: enum device_ability. */
void uplink_set_abilities(struct uplink *u, uint32_t abilities);

/* A connection is there: says HELLO. */
void uplink_open(struct uplink *u, enum device_state state, uint64_t now_ms);

/* The connection is gone, for whatever reason; uplink_next() then says when to try again. */
void uplink_close(struct uplink *u, uint64_t now_ms);

/* How many bytes it can take. */
size_t uplink_room(const struct uplink *u);

/* What came; may be nothing, to take up what had no room for its answer. 0, or: send what there is,
 * if it goes at once, and close. -EPROTO: the collector broke the rules, -ECONNRESET: it said BYE. */
int uplink_push(struct uplink *u, const uint8_t *data, size_t len, uint64_t now_ms,
		struct error *e);

/* What is to be sent, with as much from the spool as window and buffer allow. */
const uint8_t *uplink_get(struct uplink *u, size_t *ret_len);
void uplink_pop(struct uplink *u, size_t len);

/* False if it was not put: there is no connection, or no room now. */
bool uplink_status(struct uplink *u, const struct message_status *m);

/* The last that is sent on this connection. */
void uplink_bye(struct uplink *u, enum bye_code code, const char *text);

/* When to look at it again if nothing comes: to connect (closed), or because it is too silent. */
uint64_t uplink_next(const struct uplink *u);
bool uplink_is_closed(const struct uplink *u);
bool uplink_is_welcome(const struct uplink *u);
bool uplink_is_silent(const struct uplink *u, uint64_t now_ms);

/* Something is left in the spool that only an ACK lets out. */
bool uplink_waits(const struct uplink *u);

uint64_t uplink_session(const struct uplink *u);     /* the collector's number of the connection */
uint64_t uplink_realtime_ns(const struct uplink *u); /* its CLOCK_REALTIME, as it said WELCOME */
size_t uplink_memory(const struct uplink *u);	     /* bytes of its buffers */

#endif
