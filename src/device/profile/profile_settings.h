/* SPDX-License-Identifier: MIT */
/* profile_settings: what to sample, and how, as the command line says it. */
#ifndef KISEKI_DEVICE_PROFILE_PROFILE_SETTINGS_H
#define KISEKI_DEVICE_PROFILE_PROFILE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "command/args.h"
#include "device/profile/pace.h"
#include "device/profile/profile_out.h"

#define PROFILE_PIDS_MAX 64U
#define PROFILE_DEPTH_MAX 127U
#define PROFILE_PERIOD_LEAST 10000ULL /* ns: the kernel's timer goes no faster */
#define PROFILE_BUFFER_MOST (64ULL << 20)

enum profile_event {
	PROFILE_AUTO = 0,
	PROFILE_CYCLES = 1,
	PROFILE_CPU_CLOCK = 2,
};

struct profile_settings {
	uint8_t event; /* enum profile_event */
	uint64_t period_ns;
	uint32_t depth; /* of a chain; 0: none is wanted */
	bool all;	/* all CPUs */
	bool no_kernel; /* programs only */
	bool switches;
	int32_t pids[PROFILE_PIDS_MAX];
	uint32_t n_pids;
	uint64_t buffer;  /* bytes of each ring */
	uint64_t time_ns; /* 0: until the command ends, or a signal comes */
	struct pace_options pace;
	bool can_pause; /* by --duty, or because a collector may say so */
	struct profile_out_options out;
	const char *name;	    /* of this device; "": the host's */
	const char *const *command; /* NULL: none */
};

extern const struct cli_option profile_options[];

int profile_settings_load(struct profile_settings *s, const struct args *a, struct error *e);

#endif
