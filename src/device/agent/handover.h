/* SPDX-License-Identifier: MIT */
/*
 * handover: what the agent does where the kernel driver records (`--source driver`).
 *
 * The driver encodes, keeps and sends by itself (docs/driver.md). What a kernel should not do is left to
 * the agent: look up names, connect through whatever lies between, and say who this device is. A
 * connection, once there, is handed over: the number of its descriptor is written into the driver's
 * `socket`. From then on the driver speaks the protocol on it, and instructions of the collector
 * reach it there. When it breaks, the driver's `link` changes and the agent makes another one, with
 * the waiting times of the protocol.
 *
 * On a device that has keys the agent makes the handshake, too, and the kernel speaks TLS on what is
 * handed over (kernel_tls.h). The agent sees to the certificate; with a new one it hands over a new
 * connection, which takes the place of the old.
 *
 * The agent holds nothing: its end, however it comes, changes nothing until the connection breaks.
 */
#ifndef KISEKI_DEVICE_AGENT_HANDOVER_H
#define KISEKI_DEVICE_AGENT_HANDOVER_H

#include "base/error.h"
#include "device/agent/settings.h"

#define HANDOVER_FOLDER "/sys/kernel/kiseki"

struct handover_options {
	const struct settings *settings;
	const char *folder; /* HANDOVER_FOLDER, or a test's */
	void (*log)(void *context, const char *line);
	void *log_context;
};

/* Is the driver loaded, and does it wait for somebody to connect it? */
bool handover_is_wanted(const char *folder);

/* Until SIGTERM or SIGINT: 0; -ENODEV: the driver was unloaded. */
int handover_run(const struct handover_options *o, struct error *e);

#endif
