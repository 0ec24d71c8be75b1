/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * session: the driver's side of the protocol (docs/format/protocol.md), from bytes to bytes.
 *
 * It knows no socket and no clock. Whoever has the connection gives it what came (push), sends what it
 * has to say (get, pop), and asks before each frame of an export buffer whether it may go (may_send)
 * and says that it went (sent). Such frames never pass through here: they are sent from where they
 * were encoded.
 *
 *	closed --open--> greeting --WELCOME--> welcome --BYE of either side--> over --close--> closed
 *
 * All memory is in the struct and the room that session_init() gets: a collector that sends a frame
 * larger than that breaks the protocol. Whatever it sends, nothing is believed before it is checked.
 */
#ifndef KISEKI_DEVICE_DRIVER_CORE_SESSION_H
#define KISEKI_DEVICE_DRIVER_CORE_SESSION_H

#include "wire/flight.h"
#include "wire/frame.h"
#include "wire/message.h"
#include "wire/retry.h"

#define SESSION_SILENCE_MS 30000U
#define SESSION_LIVED_MS 10000U
#define SESSION_IN_LEAST MESSAGE_ROOM
#define SESSION_OUT_ROOM 6144U	 /* a HELLO, answers, a STATUS */
#define SESSION_ANSWER_ROOM 512U /* the largest of those that answer */
#define SESSION_WHY_LEN 128U

enum session_phase {
	SESSION_CLOSED,
	SESSION_GREETING, /* HELLO is said */
	SESSION_WELCOME,
	SESSION_OVER, /* a BYE came or was put */
};

/* A hook may put a RUN or STATUS; it does not push, open or close. */
struct session_hooks {
	void *context;
	/* What the collector wants: 0, or a negative errno and its reason, for RESULT. */
	int (*instruct)(void *context, const struct message_instruction *m,
			char why[SESSION_WHY_LEN]);
	/* The clock of the traces and CLOCK_REALTIME, both now, in ns. False: the PING gets no
	 * answer, for the clock is not that of all runs. */
	bool (*clocks)(void *context, uint64_t *ret_device_ns, uint64_t *ret_realtime_ns);
	/* A row of WELCOME: of this run of HELLO the collector has all blocks below. */
	void (*resume)(void *context, uint32_t run, uint32_t stream, uint64_t next_sequence);
	/* So many BLOCK and END frames of this connection are durable. */
	void (*acked)(void *context, uint64_t frames);
};

struct session {
	struct session_hooks hooks;
	enum session_phase phase;
	struct flight flight;
	struct retry retry;
	uint64_t opened_ms, heard_ms;
	uint64_t number;      /* the collector's, of the connection */
	uint64_t realtime_ns; /* the collector's clock when it said WELCOME */
	uint32_t n_runs;      /* as HELLO had them */
	uint32_t n_streams;   /* that a run can have: a row of WELCOME for another is passed over */
	uint32_t skip;	      /* bytes of an unknown frame that are still to come */
	uint32_t in_len, in_size;
	uint32_t out_len;
	uint8_t *in;
	char why[SESSION_WHY_LEN]; /* the connection ended so, until the next is open; plain ASCII */
	struct message_instruction instruction; /* too large for a kernel's stack */
	uint8_t out[SESSION_OUT_ROOM];
};

/* Bytes that session_init() wants for a machine with so many CPUs. */
uint32_t session_in_size(uint32_t cpus, uint32_t runs);

void session_init(struct session *s, const struct session_hooks *hooks, uint8_t *in,
		  uint32_t in_size);
void session_seed(struct session *s, uint64_t seed); /* of the times to wait */

/* A connection is there: says HELLO. */
void session_open(struct session *s, const struct message_hello *hello, uint64_t now_ms);

/* The connection is gone, for whatever reason; session_next() then says when to try again. */
void session_close(struct session *s, uint64_t now_ms);

/* How many bytes it can take, and where to put them; then session_push() with what came. No room: send
 * first. */
uint8_t *session_room(struct session *s, uint32_t *ret_len);

/* `len` bytes are in the room. 0, or: send what there is, if it goes at once, and close; `why` says why.
 * -EPROTO: the collector broke the rules, -ECONNRESET: it said BYE. With 0 bytes: takes up what had no
 * room for its answer. */
int session_push(struct session *s, uint32_t len, uint64_t now_ms);

/* What it has to say. It goes before any frame of an export buffer. */
const uint8_t *session_get(struct session *s, uint32_t *ret_len);
void session_pop(struct session *s, uint32_t len);

/* May a frame of so many bytes go now? Not before all that session_get() has is on its way, so that
 * a RUN is always ahead of its blocks. `len` counts the whole frame, with its head. */
bool session_may_send(const struct session *s, uint32_t len);
void session_sent(struct session *s, uint32_t len);

/* False: no room now, or no connection. */
bool session_put_run(struct session *s, const struct message_id *run);
bool session_put_status(struct session *s, const struct message_status *m);
void session_bye(struct session *s, enum bye_code code, const char *text);

/* When to look at it again if nothing comes: to connect (closed), or because it is too silent. */
uint64_t session_next(const struct session *s);
bool session_is_silent(const struct session *s, uint64_t now_ms);

#endif
