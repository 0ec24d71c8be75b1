/* SPDX-License-Identifier: MIT */
/*
 * settings: what the environment says about recording (the table is in docs/func.md).
 *
 * Read once, when the first hook of a program runs, and kept over fork: a child records as its
 * parent does, whatever has become of the environment. After execve they are read anew.
 */
#ifndef KISEKI_DEVICE_FUNC_SETTINGS_H
#define KISEKI_DEVICE_FUNC_SETTINGS_H

#include "device/func/door.h"
#include "device/func/rule.h"

#define SETTINGS_PREFIX "KISEKI_FUNC_"
#define SETTINGS_FOLDER_MAX 1024U
#define SETTINGS_TEXT_MAX 2048U

struct settings {
	char folder[SETTINGS_FOLDER_MAX]; /* absolute */
	char agent[DOOR_PATH_MAX]; /* socket of the one that is asked for a record; "": none */
	uint64_t bytes;		   /* of the file */
	uint64_t chunk_bytes;
	uint64_t threads;
	uint64_t policy; /* enum func_buffer_policy */
	uint64_t wait_s; /* 0: for ever */
	uint64_t on;
	uint64_t depth; /* 0: any */
	uint64_t min_ns;
	uint64_t limit;	       /* events, 0: none */
	uint64_t sample;       /* one of so many */
	uint64_t sample_depth; /* trees that start so deep; 0: those that RULE_SAMPLE says */
	struct rules rules;
	bool choosy;		      /* any of these but the first few */
	char text[SETTINGS_TEXT_MAX]; /* what was set, a line each */
};

/* NULL, or the variable that cannot be used. */
const char *settings_parse(struct settings *s, char *const *environment);

#endif
