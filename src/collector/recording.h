/* SPDX-License-Identifier: MIT */
/*
 * recording: one run of one device into one .ksk file: the collector's side of the protocol
 * (session.h) without a store. For `kiseki record`, whose device is a child on this machine.
 *
 * Beside the run of the scheduler, the device may send runs of programs: those come into the same
 * file (recording_run.h). When the former has ended, the device has to be asked to end, since
 * programs go on; what it sends until it closes the connection still belongs to the file.
 *
 * It knows no socket: bytes come in by push, go out by get and pop. Blocks are written as they come
 * and acknowledged at once: the file appears whole at the end or not at all, so there is nothing
 * that a sync would make safer.
 */
#ifndef KISEKI_COLLECTOR_RECORDING_H
#define KISEKI_COLLECTOR_RECORDING_H

#include "base/cleanup.h"
#include "base/error.h"
#include "collector/session.h"

#define RECORDING_OUT_MAX (1U << 20) /* bytes that wait to be sent */

enum recording_state {
	RECORDING_NEW = 0,  /* the device has not said HELLO */
	RECORDING_READY,    /* it can be told to start */
	RECORDING_STARTING, /* it was told */
	RECORDING_ON,
	RECORDING_STOPPING,
	RECORDING_LAST, /* the scheduler's run is there; of programs there may be more, until it leaves */
	RECORDING_ENDED, /* all of the run is there */
	RECORDING_FAILED,
};

struct recording_count {
	uint64_t events, blocks, bytes; /* in the file */
	uint64_t func_events;		/* of programs, among the events */
	uint64_t lost[LOSS_CAUSES];	/* as the blocks say, and what an END says is missing */
	bool lost_unknown;
	uint64_t passed_over; /* by the filter, as the device last said */
	uint8_t origin;	      /* enum trace_origin */
};

struct recording;

int recording_open(struct recording **ret, const char *path, struct error *e);
void recording_free(struct recording *r); /* without commit nothing stays */
DEFINE_CLEANUP(recording, recording_free)

enum recording_state recording_get_state(const struct recording *r);
const struct recording_count *recording_get_count(const struct recording *r);

/* With a filter in the configuration, the file names the tasks that occur in it and no others. */
void recording_start(struct recording *r, const struct message_config *c);
void recording_stop(struct recording *r);
/* From time to time: a device that hears nothing gives up. */
void recording_ping(struct recording *r, const struct session_now *now);

/* At most SESSION_READ_MAX bytes. < 0: it failed, and e says why. */
int recording_push(struct recording *r, const uint8_t *bytes, size_t len,
		   const struct session_now *now, struct error *e);
/* The device has closed the connection. */
void recording_leave(struct recording *r);
const uint8_t *recording_get(const struct recording *r, size_t *ret_len);
void recording_pop(struct recording *r, size_t len);

/* Says in the file whose trace it is, if `device` is not NULL, and makes it appear. */
int recording_commit(struct recording *r, const char *device, struct error *e);

#endif
