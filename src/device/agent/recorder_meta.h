/* SPDX-License-Identifier: MIT */
/*
 * recorder_meta: what a run says about itself, as blocks of its stream 0 (docs/format/wire.md,
 * section 7).
 *
 * Machine, clock and kernel first, then the tasks that are there already, in as many blocks as they
 * need. Read once, when a run begins.
 */
#ifndef KISEKI_DEVICE_AGENT_RECORDER_META_H
#define KISEKI_DEVICE_AGENT_RECORDER_META_H

#include "device/agent/recorder.h"

struct recorder_meta {
	struct spool *spool;
	const char *device;
	uint32_t cpus;
	uint8_t room[BLOCK_HEADER_MAX + SPOOL_META_MOST];
};

void recorder_meta_init(struct recorder_meta *m, const struct recorder_options *o);

/* A new identity. */
int recorder_meta_draw(struct message_id *ret, struct error *e);

int recorder_meta_put(struct recorder_meta *m, const struct recorder_run *run, uint32_t number,
		      struct error *e);

/* Only which program records. */
int recorder_meta_put_agent(struct recorder_meta *m, uint32_t number);

#endif
