/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * settings: what the driver is told, as people write it: module parameters, words of the kernel's
 * command line, and the file /sys/kernel/kiseki/settings. One table of keys, one parser for all.
 *
 *	collector=10.0.2.2:7077   name=board   id=HEX   boot=HEX   start=1   mem=256   only at load
 *	events=switch,waking      all, or some of them
 *	policy=flight-recorder    or keep-oldest: when an export buffer is full
 *	codec=bsf                 or sched
 *	flush_ms=100  block=4096  when a block ends
 *	pids=1,22  comms=sh,kworker*  cgroups=/system.slice
 *	profile=1                 measure the time that the probes take
 *
 * A line has several of these with blanks between them. A backslash takes the special meaning from
 * the character behind it: a blank, a comma or a backslash in a name.
 *
 * This file knows no kernel: a unit test and a fuzzer run it as it is.
 */
#ifndef KISEKI_DEVICE_DRIVER_CORE_SETTINGS_H
#define KISEKI_DEVICE_DRIVER_CORE_SETTINGS_H

#include "wire/message.h"

#define SETTINGS_TEXT_LEN 64U /* of an address, a name */
#define SETTINGS_WHY_LEN 128U
#define SETTINGS_LINE_MAX 4000U /* of settings_format(): a page has room for it */
#define SETTINGS_MEM_KIB 256U
#define SETTINGS_FLUSH_MS 100U

enum setting {
	SETTING_COLLECTOR,
	SETTING_NAME,
	SETTING_ID,
	SETTING_BOOT,
	SETTING_START,
	SETTING_MEM,
	/* From here on also while the driver is loaded. */
	SETTING_EVENTS,
	SETTING_POLICY,
	SETTING_CODEC,
	SETTING_FLUSH,
	SETTING_BLOCK,
	SETTING_PIDS,
	SETTING_COMMS,
	SETTING_CGROUPS,
	SETTING_PROFILE,
	SETTINGS,
};

struct settings {
	struct message_config config; /* its `given` says what is meant */
	uint32_t given;		      /* 1 << enum setting, of what is not in config */
	uint32_t mem_kib;
	bool start, profile;
	struct message_id id, boot;
	char collector[SETTINGS_TEXT_LEN];
	char name[SETTINGS_TEXT_LEN];
};

/* What holds where nothing is said. */
void settings_init(struct settings *s);

/* The key's name, NULL behind the last. */
const char *settings_key(uint32_t key);

/* Takes one value. False: `why` says what would have been right, and nothing has changed. */
bool settings_set(struct settings *s, const char *key, const char *value,
		  char why[SETTINGS_WHY_LEN]);

/* A line of key=value, which is cut into pieces by this. Of the keys only those that may be changed
 * later. After false, part of it may have been taken. */
bool settings_parse(struct settings *s, char *line, char why[SETTINGS_WHY_LEN]);

/* The same line back, with a newline; the length without the terminating NUL. */
uint32_t settings_format(const struct settings *s, char *out, uint32_t room);

/* Takes what `from` means. */
void settings_apply(struct settings *to, const struct settings *from);

/* Would a trace be the same with both? */
bool settings_is_same(const struct settings *a, const struct settings *b);

/* 32 hexadecimal digits, with dashes or without. */
bool settings_parse_id(struct message_id *ret, const char *text);

/* Letters, digits, dots, dashes and underscores, not a dot first; at most 63. */
bool settings_is_name(const char *text);

#endif
