/* SPDX-License-Identifier: MIT */
/*
 * fleet: the file DIR/fleet.db, what people said of the devices: which group each is in, and each instruction
 * with who gave it and what came of it.
 *
 * An instruction is written down before it is sent, and again when its outcome is known. One that could not
 * be told, or was not answered in time, waits: the device's answer when it comes back settles it, unless somebody
 * said the contrary before that. The latest FLEET_ROWS_MAX are kept. Any thread.
 */
#ifndef KISEKI_COLLECTOR_FLEET_H
#define KISEKI_COLLECTOR_FLEET_H

#include "base/cleanup.h"
#include "base/error.h"
#include "store/store.h"
#include "wire/message.h"

#define FLEET_ROWS_MAX 100000U
#define FLEET_GROUP_MAX 64U
#define FLEET_WHO_MAX 64U
#define FLEET_TEXT_MAX 256U

enum fleet_outcome {
	FLEET_SENT = 0, /* no answer yet */
	FLEET_DONE = 1,
	FLEET_FAILED = 2,
	FLEET_DEFERRED = 3, /* the device is away, and will be told */
	FLEET_TIMED_OUT = 4,
	FLEET_REPLACED = 5, /* waited, and another came that it gave way to */
	FLEET_OUTCOMES = 6,
};
extern const char *const fleet_outcome_words[FLEET_OUTCOMES];

struct fleet_result {
	enum fleet_outcome outcome;
	uint32_t code; /* 0, or an errno */
	char text[FLEET_TEXT_MAX];
};

struct fleet_row {
	uint64_t number; /* rises */
	struct message_id device;
	uint64_t at_ns, settled_ns; /* CLOCK_REALTIME; 0: not yet */
	uint8_t verb;		    /* enum instruction_verb */
	struct message_config config;
	char from[FLEET_WHO_MAX];   /* address of who said it */
	char client[FLEET_WHO_MAX]; /* what program they did so with */
	struct fleet_result result;
};

struct fleet;

int fleet_open(struct fleet **ret, const char *dir, struct error *e);
void fleet_free(struct fleet *f);
DEFINE_CLEANUP(fleet, fleet_free)

/* A new row; its number and result are not looked at. */
int fleet_push(struct fleet *f, const struct fleet_row *row, uint64_t *ret_number, struct error *e);

/* What came of one that was sent. */
int fleet_settle(struct fleet *f, uint64_t number, const struct fleet_result *result,
		 struct error *e);
/* … of one that was given up waiting for, whatever was written about it since. Does not wait for the disk. */
int fleet_settle_late(struct fleet *f, uint64_t number, const struct fleet_result *result,
		      struct error *e);
/* … and of all of a device that wait. Does not wait for the disk. */
int fleet_settle_device(struct fleet *f, const struct message_id *device,
			const struct fleet_result *result, struct error *e);

/* Those of the device that wait to start or stop it give way to this one. */
int fleet_replace(struct fleet *f, const struct message_id *device, uint64_t by, struct error *e);

/* How often instructions were written down or settled since it was opened: who shows them looks again when it
 * has changed. */
uint64_t fleet_get_changes(struct fleet *f);

/* Each with the latest first, until fn returns non-zero, which is returned. */
struct fleet_query {
	const struct message_id *device; /* NULL: all */
	uint64_t before;		 /* only smaller numbers; 0: all */
};
typedef int (*fleet_row_fn)(void *context, const struct fleet_row *row);
int fleet_list(struct fleet *f, const struct fleet_query *q, fleet_row_fn fn, void *context,
	       struct error *e);

/* "" is none. */
int fleet_set_group(struct fleet *f, const struct message_id *device, const char *group,
		    struct error *e);

/* Devices that are in a group, and such that have instructions that wait. */
struct fleet_device {
	struct message_id id;
	char group[FLEET_GROUP_MAX];
	bool waits;
};
typedef int (*fleet_device_fn)(void *context, const struct fleet_device *d);
int fleet_devices(struct fleet *f, fleet_device_fn fn, void *context, struct error *e);

#endif
