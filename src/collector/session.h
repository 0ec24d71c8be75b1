/* SPDX-License-Identifier: MIT */
/*
 * session: the collector's side of the protocol on one connection (docs/format/protocol.md).
 *
 * Bytes go in, bytes and calls come out; it knows no socket, no clock and no file, so that tests and
 * fuzzing drive it like a network does. Whoever owns it (server.c) gives it what came, sends what it
 * wants sent, tells it what became durable, and closes the connection when it says that it is over.
 *
 * What always holds:
 *  - an ACK names only frames whose puts the owner has called durable, in order;
 *  - what a peer makes it hold is bounded: a frame that is not whole, and one read behind a stall;
 *    nothing is held for a connection that is idle;
 *  - what it does in one turn is bounded, too: then it yields, so that no peer keeps the loop from
 *    the others;
 *  - a RUN costs nothing: the owner hears of a run with the first frame that is put into it;
 *  - after a broken rule it says BYE once and takes nothing more.
 */
#ifndef KISEKI_COLLECTOR_SESSION_H
#define KISEKI_COLLECTOR_SESSION_H

#include "base/error.h"
#include "wire/block.h"
#include "wire/enroll.h"
#include "wire/frame.h"
#include "wire/message.h"

#define SESSION_READ_MAX 65536U /* bytes given at once */
#define SESSION_BATCHES 4U	/* how finely ACKs can follow commits */
/* What a session may take before others get their turn: bytes of frames, and so many more for each
 * frame, because a small one costs as much as these bytes do. */
#define SESSION_TURN_BYTES (512U << 10)
#define SESSION_FRAME_COST 256U

struct session_now {
	uint64_t mono_ns; /* CLOCK_MONOTONIC */
	uint64_t real_ns; /* CLOCK_REALTIME */
};

/* What a PONG says: the collector's CLOCK_REALTIME minus the clock of the device's traces. */
struct session_clock {
	uint64_t device_ns;
	int64_t off_ns;
	uint64_t err_ns;
	uint64_t round_trip_ns;
};

/* What a session needs of its owner; `owner` is what session_init() was given. */
struct session_ops {
	void (*send)(void *owner, const uint8_t *bytes, size_t len);
	/* Whoever of these six returns < 0 does not take it, and e says why: -EPROTO is a lie of
	 * the device, -EAGAIN means later (the session stalls, and asks again), -EKEYREJECTED that
	 * it may not, all else a limit. */
	/* The device is here. Another connection of the same device is ended by the owner. */
	int (*arrive)(void *owner, const struct message_hello *m, struct error *e);
	/* It wants a certificate, and no more; NULL: there are none. *ret is borrowed. Not later. */
	int (*enroll)(void *owner, const struct message_enroll *m, struct message_certificate *ret,
		      struct error *e);
	/* The number of a run of this device; of one that nobody knows, 0. */
	int (*find)(void *owner, const struct message_id *run, uint32_t *ret, struct error *e);
	/* The same, for a frame that is put at once: one that nobody knows gets a number. */
	int (*run)(void *owner, const struct message_id *run, uint32_t *ret, struct error *e);
	/* 0, or 1 for a duplicate. */
	int (*put)(void *owner, uint32_t run, const struct block *b, const uint8_t *bytes,
		   struct error *e);
	int (*end)(void *owner, uint32_t run, const struct message_end *m, struct error *e);
	size_t (*next_sequences)(void *owner, uint32_t run, struct message_resume *rows, size_t n);
	uint64_t (*puts)(void *owner);	  /* the number of the last put */
	uint64_t (*commits)(void *owner); /* how many commits have begun */
	void (*clock)(void *owner, uint32_t run, const struct session_clock *c);
	void (*status)(void *owner, const struct message_status *m);
	void (*result)(void *owner, const struct message_result *m);
	void (*piece)(void *owner, const struct message_piece *m); /* NULL: nobody wants any */
	void (*log)(void *owner, const char *text);
};

/* Room for the largest WELCOME; one for all sessions of a thread. */
struct session_room;
struct session_room *session_room_new(void);
void session_room_free(struct session_room *r);

struct session_env {
	const struct session_ops *ops;
	struct session_room *room;
	uint64_t window;     /* bytes of one device that may wait for their commit */
	uint32_t turn_bytes; /* SESSION_TURN_BYTES; 0: nobody else has to get his turn */
};

enum session_state {
	SESSION_NEW = 0, /* HELLO has not come */
	SESSION_OPEN,
	SESSION_OVER, /* BYE went or came; whatever comes is not looked at */
};

struct session_batch {
	uint64_t commit; /* came after this one began */
	uint64_t put;	 /* the last of its puts */
	uint64_t frames, bytes;
};

struct session {
	const struct session_env *env;
	void *owner;
	uint64_t number;
	enum session_state state;
	bool stalled;		  /* do not read on; session_resume() after a commit */
	bool yielded;		  /* do not read on; session_turn() when others had theirs */
	uint32_t taken;		  /* of SESSION_TURN_BYTES, in this turn */
	bool has_run;		  /* RUN came, */
	struct message_id run_id; /* with this; */
	uint32_t run;		  /* its number, 0 until something of it was put */
	uint64_t frames;	  /* whole ones that came, of any type */
	uint64_t acknowledged;	  /* BLOCK and END frames */
	uint64_t waiting_bytes;
	struct session_batch batches[SESSION_BATCHES]; /* oldest first */
	uint32_t n_batches;
	uint64_t ping_id; /* 0: none is on its way */
	uint64_t pings;
	struct session_now ping_sent;
	struct session_clock clock; /* the best; round_trip_ns 0: none yet */
	uint64_t clock_mono_ns;	    /* when it was taken */
	uint8_t *held;		    /* what came and could not be used yet */
	uint32_t held_len, held_room;
};

void session_init(struct session *s, const struct session_env *env, void *owner, uint64_t number);
void session_done(struct session *s);

/* Takes all bytes, at most SESSION_READ_MAX. Not to be called while it is stalled or has yielded. */
void session_push(struct session *s, const uint8_t *bytes, size_t len,
		  const struct session_now *now);
/* Goes on after a stall; it may be stalled again. */
void session_resume(struct session *s, const struct session_now *now);
/* Another turn begins: it may take as much again. What is held is gone on with, if it had yielded. */
void session_turn(struct session *s, const struct session_now *now);
/* The peer closed its side: says so if that was in the middle of something. */
void session_end(struct session *s);

/* A commit ended: all puts up to this one are on disk. */
void session_durable(struct session *s, uint64_t put);

void session_ping(struct session *s, const struct session_now *now);
void session_instruct(struct session *s, const struct message_instruction *m);

/* Asks for a piece of an object. Only of a device that can (ABILITY_OBJECTS). */
void session_want(struct session *s, const struct message_want *m);

/* Says BYE with this text, unless it is over already, and logs it. */
__attribute__((format(printf, 3, 4))) void session_bye(struct session *s, enum bye_code code,
						       const char *fmt, ...);

static inline bool session_is_over(const struct session *s)
{
	return s->state == SESSION_OVER;
}

#endif
