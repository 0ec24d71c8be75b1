/* SPDX-License-Identifier: MIT */
/*
 * live: a device's events and state as they come, from the collector's event stream
 * (docs/api, /devices/{device}/live).
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
};

/* By name or id. Returns what a callback returned, or why it broke off. */
int live_follow(struct client *c, const char *device, const struct live *l, struct error *e);

#endif
