/* SPDX-License-Identifier: MIT */
/*
 * boot_link: the recorder's connection with the collector: what the spool has goes there when there is a network,
 * and leaves the spool when it is acknowledged. The protocol is the agent's (agent/uplink.h), and so is the
 * identity of the device, or the driver's where that is in the kernel: a boot chart stands beside its other traces.
 *
 * Instructions are refused: it records what it was started for.
 */
#ifndef KISEKI_DEVICE_BOOT_BOOT_LINK_H
#define KISEKI_DEVICE_BOOT_BOOT_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "wire/message.h"

struct spool;
struct boot_link;

struct boot_link_options {
	struct spool *spool;   /* borrowed, as are the texts */
	const char *collector; /* HOST:PORT */
	const char *name;      /* "" the host name */
	const char *state_dir;
	uint32_t entry_max; /* the largest body of a spool's entry */
};

/* Needs the root that init will have: names of hosts and the device's identity are files in it. */
int boot_link_new(struct boot_link **ret, const struct boot_link_options *o, struct error *e);
void boot_link_free(struct boot_link *l);
DEFINE_CLEANUP(boot_link, boot_link_free)

/* Goes on. is_recording: what the collector is told. Something that failed is in e, once, and is tried again:
 * -EAGAIN. */
int boot_link_turn(struct boot_link *l, uint64_t now_ms, bool is_recording, struct error *e);

/* Says what the recorder has done. */
void boot_link_tell(struct boot_link *l, const struct message_status *m);

int boot_link_fd(const struct boot_link *l);
short boot_link_events(struct boot_link *l);
uint64_t boot_link_next(const struct boot_link *l); /* ms */
bool boot_link_is_welcome(const struct boot_link *l);

/* The last words, if there is somebody. */
void boot_link_bye(struct boot_link *l, uint64_t now_ms);

#endif
