/* SPDX-License-Identifier: MIT */
/*
 * identity: who this device is, and which boot of it this is.
 *
 * The device's 16 bytes must be the same after every boot, and different on every device, or two of
 * them would take each other's place at the collector. In this order:
 *
 * 1. <state-dir>/device-id, 32 hex digits, if it is there: whoever manages a fleet may decide.
 * 2. /etc/machine-id, which most systems have and which is made for this. It must not leave the
 *    machine, so what is sent is a keyed hash with it as the key (siphash.h) and the agent's name as
 *    the text: an agent of another name on the same machine is another device, as two name spaces
 *    of a test are.
 * 3. Random bytes, written to <state-dir>/device-id, where there is no machine-id: small devices
 *    that have no systemd. Early in a boot the kernel may have none yet, and nobody can wait for them
 *    then: it is made of what is this machine's own instead, its network cards, its serial number, the time.
 *
 * Images that are copied with a machine-id in them make devices with the same identity; the
 * collector says so (BYE 3), and the file of (1) helps.
 */
#ifndef KISEKI_DEVICE_AGENT_IDENTITY_H
#define KISEKI_DEVICE_AGENT_IDENTITY_H

#include <sys/utsname.h>

#include "base/error.h"
#include "wire/message.h"

struct identity {
	struct message_id device, boot;
	struct utsname system;
	uint32_t cpus; /* highest possible number + 1 */
};

int identity_init(struct identity *ret, const char *name, const char *state_dir, struct error *e);

/* The first of the three that is there; machine_id is the path of (2). */
int identity_device(struct message_id *ret, const char *name, const char *state_dir,
		    const char *machine_id, struct error *e);

#define IDENTITY_DRIVER "/sys/kernel/kiseki"

/* Who the driver, whose files are in the folder, says that the device is. -ENOENT: there is none, or it has no collector of its own and
 * becomes whoever hands it a socket; -EAGAIN: it does not know yet, as long as it sees no network card. */
int identity_of_driver(struct message_id *ret, const char *folder);

/* 32 hex digits, dashes between them allowed, a line's end behind. */
int identity_parse(struct message_id *ret, const char *text);

/* The highest CPU of a list as the kernel prints it ("0-3,8"), + 1; 0 if it is none. */
uint32_t identity_parse_cpus(const char *text);

#endif
