/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * controller: whether the driver traces, what, and which runs it holds.
 *
 *	idle --start--> tracing --stop--> idle
 *	  \--start, and it cannot--> failed --every 10 s, or when a run is done with--> tracing
 *
 * It is told from three sides: parameters at load, sysfs, and instructions of the collector; the
 * latest word counts (docs/format/protocol.md, 2.4). A run is held until the collector has all of
 * it. There is memory for the ends of two: the one that is traced, and the one before.
 *
 * All of it is called under the driver's lock.
 */
#ifndef KISEKI_DEVICE_DRIVER_CONTROLLER_H
#define KISEKI_DEVICE_DRIVER_CONTROLLER_H

#include "device/driver/compressor.h"
#include "device/driver/core/session.h"
#include "device/driver/core/settings.h"
#include "device/driver/description.h"

#define CONTROLLER_RUNS 2U
#define CONTROLLER_RETRY_MS 10000U
#define CONTROLLER_CHECK_MS 1000U /* between two looks at the counter, if the thread runs anyway; */
#define CONTROLLER_CHECK_MOST_MS 10000U /* it is woken for it after this */

struct run {
	struct message_id id;
	u32 number;
	u32 clock;    /* counter's generation: of its stamps */
	bool is_over; /* and then there is an END */
	u32 end_len;
	u8 *end; /* the whole frame */
};

struct controller {
	struct compressor *compressor;
	struct counter *counter;
	struct description description;
	struct settings settings; /* what is traced, or would be */
	struct settings wish;	  /* what somebody asks for: too large for a stack */
	struct settings changed;  /* what that would become */
	bool is_wanted;
	bool is_asleep; /* the machine is on its way to sleep, or back: nothing starts */
	u64 check_ms;	/* when the counter is looked at again */
	bool is_busy;	/* it failed because two runs are held */
	char failure[SESSION_WHY_LEN];
	u64 retry_ms;
	const char *device; /* its name */
	s32 agent;	    /* pid of the exporter's thread */
	u32 cpus;
	u32 end_room;
	u32 number; /* of the latest run */
	u32 n_runs; /* oldest first; the last may be the one that is traced */
	struct run runs[CONTROLLER_RUNS];
};

/* The compressor is borrowed. -ENOMEM. */
int controller_init(struct controller *c, struct compressor *compressor, struct counter *counter,
		    const struct settings *settings);
void controller_done(struct controller *c);

enum device_state controller_state(const struct controller *c);

/* Does what c->wish says. 0, or a negative errno and the reason. */
int controller_instruct(struct controller *c, u8 verb, u64 now_ms, char why[SESSION_WHY_LEN]);

/* Tries again what failed, and describes on. */
void controller_turn(struct controller *c, u64 now_ms);

/* The machine goes to sleep: the run ends, since nobody knows what the counter does meanwhile.
 * And it has come back: the counter is chosen anew, and with the next turn another run begins,
 * if one is wanted. */
void controller_sleep(struct controller *c);
void controller_wake(struct controller *c, u64 now_ms);

/* Is a run held whose stamps are of a counter that is used no more? What the counter says now
 * would be wrong for it. */
bool controller_has_old_clock(const struct controller *c);

/* For good: nothing starts again. */
void controller_end(struct controller *c);

/* When controller_turn() has something to do, UINT64_MAX: never. */
u64 controller_next(const struct controller *c);

/* The collector has all of it. */
void controller_forget(struct controller *c, u32 number, u64 now_ms);

/* NULL if it is not held. */
const struct run *controller_get_run(const struct controller *c, u32 number);

/* Export buffers: 0 is the description's, then the CPUs'; NULL for a CPU that cannot be. */
struct block_ring *controller_get_ring(struct controller *c, u32 stream);

/* All but what only the exporter knows. */
void controller_get_status(struct controller *c, struct message_status *ret);

#endif
