/* SPDX-License-Identifier: MIT */
/*
 * say: the frames of a simulated device, but its blocks. Each is sent as link_send() does.
 */
#ifndef KISEKI_BENCH_FLEET_SAY_H
#define KISEKI_BENCH_FLEET_SAY_H

#include "device.h"

#define SAY_NAME_MAX TAPE_NAME_MAX

/* The device's name. */
const char *say_name(const struct device *d, char out[SAY_NAME_MAX]);

int say_hello(struct device *d);
int say_run(struct device *d);
int say_end(struct device *d, uint32_t *ret_len);
int say_status(struct device *d);
int say_pong(struct device *d, const struct message_ping *ping);
/* No simulated device does what it is told. */
int say_refusal(struct device *d, uint64_t instruction);
int say_bye(struct device *d);

#endif
