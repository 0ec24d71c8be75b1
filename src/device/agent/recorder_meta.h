/* SPDX-License-Identifier: MIT */
/*
 * recorder_meta: what a run of events says about itself (run_meta.h).
 *
 * Machine, clock and kernel first, then the tasks that are there already, in as many blocks as they
 * need. Read once, when a run begins.
 */
#ifndef KISEKI_DEVICE_AGENT_RECORDER_META_H
#define KISEKI_DEVICE_AGENT_RECORDER_META_H

#include "device/agent/recorder.h"
#include "device/agent/run_meta.h"

struct recorder_meta {
	struct run_meta blocks;
	uint32_t cpus;
};

void recorder_meta_init(struct recorder_meta *m, const struct recorder_options *o);

int recorder_meta_put(struct recorder_meta *m, const struct recorder_run *run, uint32_t number,
		      struct error *e);

/* Only which program records. */
int recorder_meta_put_agent(struct recorder_meta *m, uint32_t number);

#endif
