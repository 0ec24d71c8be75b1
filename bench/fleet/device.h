/* SPDX-License-Identifier: MIT */
/*
 * device: one simulated device: the device's side of docs/format/protocol.md, with a tape instead of a
 * tracer and of a spool.
 *
 * What a real device keeps until it is acknowledged, this one makes again from the tape, so it costs a few
 * KiB however far behind it is. All it knows are places of the tape (tape.h): what is acknowledged, what goes
 * next, how far it ever got. A device whose link was away for longer than its memory lasts gives up what came
 * meanwhile, up to the next pass: a hole in its sequences, whose events the collector must find by the counts
 * of the KEY blocks behind it.
 */
#ifndef KISEKI_BENCH_FLEET_DEVICE_H
#define KISEKI_BENCH_FLEET_DEVICE_H

#include "fleet.h"
#include "wire/flight.h"
#include "wire/message.h"
#include "wire/retry.h"

struct tls;

enum device_phase {
	PHASE_AWAY = 0,	  /* until its wake-up: before its first connection, and between two */
	PHASE_CONNECTING, /* the socket is not connected yet, or TLS not agreed on */
	PHASE_GREETING,	  /* HELLO is said */
	PHASE_OPEN,
	PHASE_FINISHED, /* its END is acknowledged */
};

struct device {
	struct wheel_entry due; /* the first member */
	struct fleet *fleet;
	const struct tape *tape;
	uint32_t number;
	uint32_t target;
	int fd;
	struct tls *tls; /* NULL without keys */
	enum device_phase phase;
	bool born, wants_out, run_said, end_sent, is_end_acked;
	uint64_t born_ms, born_real_ns;
	uint64_t acked, next, reached; /* places: not acknowledged; to be sent; never sent yet */
	uint64_t base;		       /* of the first frame of this connection */
	uint64_t hole_from, hole_to;   /* given up; equal: nothing */
	uint64_t end;		       /* UINT64_MAX: nobody said yet */
	uint64_t blocks_given_up, events_given_up;
	uint64_t opened_ms, heard_ms, status_ms, cut_ms;
	uint64_t probe_frames, probe_ns; /* the frame whose acknowledgement is timed; 0: none */
	struct flight flight;
	struct retry retry;
	uint8_t *held, *left; /* of a frame that came, of one that goes */
	uint32_t held_len, left_len;
};

void device_init(struct device *d, struct fleet *f, uint32_t number);
void device_done(struct device *d);

/* Its time has come: it connects, sends what is due, says how it is, loses its connection. */
void device_turn(struct device *d);
/* Its socket can do something. */
#define DEVICE_CAN_RECEIVE 1U
#define DEVICE_CAN_SEND 2U
void device_poll(struct device *d, uint32_t events);
/* It sends what it has by now, and ends its run. */
void device_end(struct device *d);

void device_get_ids(const struct device *d, struct message_id *ret_device,
		    struct message_id *ret_run);
/* The clock of its trace, now; and how much of the tape should have been played by now. */
uint64_t device_get_clock_ns(const struct device *d);
uint64_t device_get_played_ns(const struct device *d);

#endif
