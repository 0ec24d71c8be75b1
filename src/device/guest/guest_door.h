/* SPDX-License-Identifier: MIT */
/*
 * guest_door: the way out of a guest to its host:
 *
 *	vsock:PORT		the host's end of the machine's own socket
 *	/dev/virtio-ports/NAME	a serial port of the machine, or any other terminal line
 *	tcp:HOST:PORT
 *	unix:PATH		where host and guest are one machine, as in tests
 */
#ifndef KISEKI_DEVICE_GUEST_GUEST_DOOR_H
#define KISEKI_DEVICE_GUEST_GUEST_DOOR_H

#include "base/error.h"

/* A descriptor that does not wait, or a negative errno. -EINVAL: it is no such address. */
int guest_door_open(const char *address, struct error *e);

#endif
