/* SPDX-License-Identifier: MIT */
/*
 * config_json: what to trace, as JSON: bodies of POST requests, and how the API shows what a device
 * was told.
 *
 *	{"source": "bpf", "events": ["switch", "waking"], "pid": [1, 2], "comm": ["nginx*"],
 *	 "cgroup": ["/system.slice"], "flush": 100, "block": 16384, "ring": 1024, "resolution": 0,
 *	 "policy": "keep-oldest", "codec": "sched", "profile": "on", "profile-rate": 99,
 *	 "profile-budget": "0.5%", "profile-duty": "10s/60s"}
 *
 * The names and the meaning of values are those of the command line (command/config_args.h); a
 * number counts ms, bytes, KiB and ns, a text may have a unit ("flush": "1s"), a list may be a text
 * with commas. What is not there is not given. [] takes a part of the filter away.
 */
#ifndef KISEKI_COLLECTOR_CONFIG_JSON_H
#define KISEKI_COLLECTOR_CONFIG_JSON_H

#include <jansson.h>

#include "base/error.h"
#include "wire/message.h"

/* A new object with what is given; NULL if memory ran out. */
json_t *config_json_format(const struct message_config *c);

/* -EINVAL with the reason, which names the key; an unknown key is a reason, too. */
int config_json_parse(struct message_config *ret, const json_t *object, struct error *e);

#endif
