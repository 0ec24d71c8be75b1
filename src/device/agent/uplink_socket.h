/* SPDX-License-Identifier: MIT */
/*
 * uplink_socket: the protocol (uplink.h) over a connection (line.h), as far as it goes without waiting.
 *
 * `pieces` limits one turn, so that whoever calls comes to its other work in time.
 */
#ifndef KISEKI_DEVICE_AGENT_UPLINK_SOCKET_H
#define KISEKI_DEVICE_AGENT_UPLINK_SOCKET_H

#include "device/agent/line.h"
#include "device/agent/uplink.h"

int uplink_socket_read(struct uplink *u, struct line *l, uint32_t pieces, uint64_t now_ms,
		       struct error *e);
int uplink_socket_write(struct uplink *u, struct line *l, uint32_t pieces, struct error *e);

#endif
