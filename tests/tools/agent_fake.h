/* SPDX-License-Identifier: MIT */
/*
 * agent_fake: a source whose every event is known beforehand, for tests of the recorder.
 *
 * Event n of a CPU is always the same and carries n in `value`. In each thousand, a run of events is
 * lost "in the kernel", always the same ones. So whoever resumes at a position goes on with the same
 * events and the same counts, and a test knows what must come out.
 */
#ifndef KISEKI_TESTS_AGENT_FAKE_H
#define KISEKI_TESTS_AGENT_FAKE_H

#include "device/agent/source.h"

#define FAKE_CPUS 3U

struct fake_source {
	struct device_source base;
	uint64_t next[FAKE_CPUS];     /* number of the next event */
	uint64_t released[FAKE_CPUS]; /* as the recorder said; never falls */
	bool went_back;		      /* it fell nevertheless */
	uint32_t burst;		      /* events that a drain gives */
};

void fake_init(struct fake_source *f, uint32_t burst);

/* How many events of a CPU below n are lost in the kernel. */
uint64_t fake_lost_below(uint32_t cpu, uint64_t n);

#endif
