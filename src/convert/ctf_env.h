/* SPDX-License-Identifier: MIT */
/*
 * ctf_env: what a CTF trace says about the machine it was recorded on, as a struct trace_info.
 *
 * LTTng's environment has host and kernel; the rest of the dialect follows from the kernel's release
 * and from the event classes. Our own export adds kiseki_* entries (ctf_metadata.c writes them) with
 * everything that LTTng has no word for, so that reading it back gives the same info.
 */
#ifndef KISEKI_CONVERT_CTF_ENV_H
#define KISEKI_CONVERT_CTF_ENV_H

#include <babeltrace2/babeltrace.h>

#include "base/error.h"
#include "convert/ctf_plan.h"
#include "trace/info.h"

/* A tick is a clock cycle where a cycle is a whole number of nanoseconds, else a nanosecond. */
struct ctf_clock {
	uint64_t frequency;
	bool cycles;
};

struct ctf_env {
	bool own;	      /* made by our exporter */
	bool has_tid;	      /* events have the running thread in their context */
	uint32_t prio_offset; /* to be added to recorded priorities */
	struct ctf_clock clock;
};

/* Fills info, except cpus and tasks, from the trace that this stream belongs to. */
int ctf_env_read(struct ctf_env *env, const bt_stream *stream, struct ctf_plans *plans,
		 struct trace_info *info, struct error *e);

uint64_t ctf_clock_tick(const struct ctf_clock *c, uint64_t cycles);

#endif
