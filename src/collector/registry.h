/* SPDX-License-Identifier: MIT */
/*
 * registry: the devices as the collector sees them now, for whoever asks.
 *
 * The ingest writes it, HTTP threads read copies; one lock, held for a copy. A device stays in it
 * after it has gone. The registry also carries instructions: an HTTP thread leaves one, the ingest
 * is woken and sends it, and the device's result wakes the thread again.
 *
 * What a device should do is remembered (desired), in the store's folder, and said again when it
 * comes back: so a stopped device that was told to start while it was away, starts.
 */
#ifndef KISEKI_COLLECTOR_REGISTRY_H
#define KISEKI_COLLECTOR_REGISTRY_H

#include "base/cleanup.h"
#include "base/error.h"
#include "collector/fleet.h"
#include "store/store.h"
#include "wire/message.h"

#define REGISTRY_DEVICES_MAX 65536U
#define REGISTRY_TEXT_MAX 256U

struct registry;

/* What a connection of the device sends at present: that of its agent, or of a recorder beside it. */
#define REGISTRY_SENDERS_MAX 8U /* more are not remembered */
#define REGISTRY_SENT_MAX 4U
struct registry_sender {
	uint64_t session;
	uint32_t runs[REGISTRY_SENT_MAX]; /* numbers; 0: none */
};

struct registry_row {
	struct store_device device;
	char address[64]; /* of its last connection */
	bool online;
	uint8_t state;				/* enum device_state, by its last status */
	uint8_t desired;			/* enum device_state: idle or tracing */
	bool has_desired;			/* somebody has said so */
	uint32_t origins;			/* what it could use */
	uint32_t run;				/* number of the run it sends, 0: none */
	uint32_t func_run;			/* … of its programs */
	uint64_t session;			/* of its connection */
	uint64_t connected_ns;			/* CLOCK_REALTIME; 0: not connected */
	uint64_t frames, bytes, blocks, events; /* received on all connections since the start */
	uint64_t func_events;			/* those of calls among them */
	uint64_t duplicates;
	uint64_t waiting_bytes;		    /* received and not yet durable */
	uint64_t events_per_s, bytes_per_s; /* over the last seconds */
	struct message_status status;	    /* its text is in status_text */
	char status_text[REGISTRY_TEXT_MAX];
	int64_t clock_off_ns;
	uint64_t clock_err_ns; /* UINT64_MAX: not known */
	uint64_t round_trip_ns;
	uint64_t cpu_ppm;	      /* of one CPU, what its agent takes; UINT64_MAX: not known */
	char group[FLEET_GROUP_MAX];  /* where people put it; "" for none */
	struct message_config config; /* desired */
	struct registry_sender senders[REGISTRY_SENDERS_MAX];
	uint32_t n_senders;
};

struct registry_result {
	uint32_t code; /* 0, or an errno */
	bool deferred; /* the device is away: it is told when it comes */
	char text[REGISTRY_TEXT_MAX];
};

/* Loads what the folder remembers: the store's devices, and what they were told. */
int registry_open(struct registry **ret, const char *dir, struct store *s, struct error *e);
void registry_free(struct registry *r);
DEFINE_CLEANUP(registry, registry_free)

/* --- for those who ask; any thread --- */

/* All rows, sorted by name; free(*ret). */
int registry_list(struct registry *r, struct registry_row **ret, size_t *ret_n, struct error *e);

/* Is the text the id in hex, or a start of it that is long enough to be one (6 digits)? */
bool registry_id_match(const struct message_id *id, const char *text);

/* Whether a connection that is there now sends this run: it may be silent, but it goes on. */
bool registry_is_sent(const struct registry_row *row, uint32_t run);
/* All that are, by rising number; free(*ret). r may be NULL: none. */
int registry_list_sent(struct registry *r, uint32_t **ret, size_t *ret_n, struct error *e);

/* By name, or by the id in hex or an unambiguous start of it (at least 6 digits). -ENOENT, -ENOTUNIQ. */
int registry_find(struct registry *r, const char *name, struct registry_row *ret, struct error *e);

struct registry_request {
	struct message_id device;
	struct message_instruction instruction; /* its id is given by the registry */
	unsigned int timeout_ms;
	const char *from, *client; /* who says so, and with what program; NULL: not known */
};

/* Waits for the device's result at most timeout_ms (-ETIMEDOUT); a device that is away has it
 * remembered. */
int registry_instruct(struct registry *r, const struct registry_request *q,
		      struct registry_result *ret, struct error *e);

/* Puts a device into a group, "" for none; it is written down. -ENOENT. */
int registry_set_group(struct registry *r, const struct message_id *device, const char *group,
		       struct error *e);

/* What was ever said of the devices. */
struct fleet *registry_get_fleet(const struct registry *r);

/* --- for the ingest; a slot is a device's place, which it keeps --- */

struct registry_arrival {
	const struct message_hello *hello;
	const char *address;
	uint64_t session;
	uint64_t now_ns; /* CLOCK_REALTIME */
	bool beside; /* it does not speak for the device: whether that is connected stays as it is */
};

struct registry_parting {
	uint64_t session, now_ns;
};

/* The device is connected. ret_device has it as it is shown, for the store: with a name that no other
 * has. -EDQUOT: REGISTRY_DEVICES_MAX are known. */
int registry_arrive(struct registry *r, const struct registry_arrival *a, uint32_t *ret_slot,
		    struct store_device *ret_device, struct error *e);
/* The connection is closed. True: ret_device has the device, with the time it was last seen, for the
 * store. False: a later session has the device. */
bool registry_leave(struct registry *r, uint32_t slot, const struct registry_parting *p,
		    struct store_device *ret_device);

/* What it is to be told when it comes, in this order: so many instructions, each with an id. Whether
 * its programs are traced is one of its own: a device that cannot do that still does the rest, and one
 * that is to stop still hears of it. */
#define REGISTRY_DESIRED_MAX 2U
uint32_t registry_get_desired(struct registry *r, uint32_t slot,
			      struct message_instruction ret[REGISTRY_DESIRED_MAX]);

/* What a recorder beside the agent is to be told when it comes: how it paces itself. False: nothing. */
bool registry_get_pace(struct registry *r, uint32_t slot, enum config_pace_of of,
		       struct message_instruction *ret);

/* What came since the last time; run and waiting_bytes as they are now. */
struct registry_traffic {
	uint64_t frames, bytes, blocks, events, func_events, duplicates;
	uint64_t waiting_bytes;
	uint32_t run, func_run;
};
void registry_push_traffic(struct registry *r, uint32_t slot, const struct registry_traffic *t);
/* … and which runs a connection sends, of the agent or beside it; none: it is gone. */
void registry_push_sent(struct registry *r, uint32_t slot, const struct registry_sender *sender);
void registry_push_status(struct registry *r, uint32_t slot, const struct message_status *m);
void registry_push_clock(struct registry *r, uint32_t slot, const struct store_clock *c,
			 uint64_t round_trip_ns);
/* True if somebody waited for it. */
bool registry_push_result(struct registry *r, uint32_t slot, const struct message_result *m);

/* Called, from the thread of registry_instruct(), when there is one to pop. */
void registry_set_wake(struct registry *r, void (*wake)(void *context), void *context);
/* One that gives the pace of a recorder alone (config_get_pace()) is for that, beside the agent. */
bool registry_pop_instruction(struct registry *r, uint32_t *ret_slot,
			      struct message_instruction *ret);
/* … and nobody is there, or any longer, to whom it could be sent. */
void registry_push_absent(struct registry *r, uint32_t slot, enum config_pace_of of);

/* Once a second or so: the rates. */
void registry_tick(struct registry *r, uint64_t mono_ns);

#endif
