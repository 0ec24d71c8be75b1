/* SPDX-License-Identifier: MIT */
/*
 * guest_session: one connection with the host, from HELLO to its end (docs/format/guest.md).
 *
 * The host speaks first about time, then says WELCOME; from then on it is told everything. A port has no beginning: HELLO is
 * said again and again until somebody answers, and a host that is silent for GUEST_SILENCE_MS is gone.
 */
#ifndef KISEKI_DEVICE_GUEST_GUEST_SESSION_H
#define KISEKI_DEVICE_GUEST_GUEST_SESSION_H

#include <signal.h>

#include "device/guest/guest_tables.h"
#include "wire/guest_message.h"

#define GUEST_SILENCE_MS 15000U
#define GUEST_AGAIN_MS 5000U /* between two HELLOs */

struct guest_session_options {
	int fd; /* to the host; the caller's */
	uint8_t uuid[GUEST_UUID_LEN];
	const char *name;		   /* of this machine */
	struct guest_tables *tables;	   /* NULL: there are none */
	const volatile sig_atomic_t *stop; /* not 0: it is to end */
};

/* Until it ends. 0: it was told to; else a negative errno, and the error says why. */
int guest_session_run(const struct guest_session_options *o, struct error *e);

#endif
