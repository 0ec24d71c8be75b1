/* SPDX-License-Identifier: MIT */
/*
 * device_hear: what the collector says to a simulated device, and what follows for its places.
 */
#ifndef KISEKI_BENCH_FLEET_DEVICE_HEAR_H
#define KISEKI_BENCH_FLEET_DEVICE_HEAR_H

#include "device.h"

/* Takes what came. < 0: the connection is over. */
int device_hear(struct device *d);

/* So many blocks on, over what was given up. */
uint64_t device_step(const struct device *d, uint64_t place, uint64_t blocks);

#endif
