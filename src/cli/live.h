/* SPDX-License-Identifier: MIT */
/*
 * live: a device's events and state as they come, from the collector's event stream
 * (docs/api, /devices/{device}/live).
 *
 * A collector that is started anew, or a network that was away, ends the stream and not what the
 * person wants to see: if the caller can say so, it is opened again, at first soon, then after longer
 * and longer times. It goes on with what comes from then on, so nothing comes twice; what came in
 * between is in the store.
 */
#ifndef KISEKI_CLI_LIVE_H
#define KISEKI_CLI_LIVE_H

#include "cli/client.h"
#include "cli/live_item.h"

struct live_ops {
	/* Each may be NULL. Not 0 stops, and is what live_follow() returns. */
	int (*item)(void *context, const struct live_item *item, struct error *e);
	int (*line)(void *context, const char *json, size_t len, struct error *e); /* as it came */
	int (*state)(void *context, const json_t *device, struct error *e);
	int (*run)(void *context, uint64_t run, struct error *e);
	int (*left_out)(void *context, uint64_t items, struct error *e);
	int (*turn)(void *context, struct error *e); /* as of struct client_watch */
};

struct live {
	const struct live_ops *ops;
	void *context;
	int fds[CLIENT_FDS_MAX]; /* that the turn looks at */
	unsigned int n_fds;
	int turn_ms;
	uint64_t rate; /* items a second that the collector sends at most; 0: its default */
	/* May be NULL: then the stream's end is the end. The stream is gone, and why; or it is back,
	 * and why is NULL. */
	void (*lost)(void *context, const char *why);
};

/* By name or id. Returns what a callback returned, or why it broke off: at its start always, later
 * if it is not to be opened again, or if the collector refuses. */
int live_follow(struct client *c, const char *device, const struct live *l, struct error *e);

#endif
