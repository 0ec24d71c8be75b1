/* SPDX-License-Identifier: MIT */
/*
 * link: the socket of a simulated device. What the kernel does not take at once is kept (at most a frame
 * and some answers); what came and is no whole frame yet, too; otherwise a device has no buffers.
 */
#ifndef KISEKI_BENCH_FLEET_LINK_H
#define KISEKI_BENCH_FLEET_LINK_H

#include "device.h"

/* Begins to connect to the device's target. */
int link_open(struct device *d);
/* Whether the connection came about: 1, or 0 while TLS is not agreed on. */
int link_check(struct device *d);
/* With `reset` the peer loses what it has not read. */
void link_close(struct device *d, bool reset);

int link_send(struct device *d, const uint8_t *bytes, uint32_t len);
/* Frames are gathered, as an agent gathers them; at the end of a device's turn they go. */
int link_settle(struct device *d);
/* Sends what was left. */
int link_flush(struct device *d);

/* What was kept and what came, in the fleet's buffer: its length, 0: nothing new, < 0: it is over. */
int link_receive(struct device *d);
/* Keeps the end of the buffer. */
int link_hold(struct device *d, const uint8_t *bytes, uint32_t len);

#endif
