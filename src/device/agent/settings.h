/* SPDX-License-Identifier: MIT */
/*
 * settings: what the agent is told at its start, by a file and by the command line
 * (command/setting.h); instructions of the collector later change `config`.
 */
#ifndef KISEKI_DEVICE_AGENT_SETTINGS_H
#define KISEKI_DEVICE_AGENT_SETTINGS_H

#include "base/error.h"
#include "command/args.h"
#include "wire/message.h"

#define SETTINGS_FILE "/etc/kiseki/agent.conf"
#define SETTINGS_PATH_MAX 256U
#define SETTINGS_NAME_MAX 64U
#define SETTINGS_ADDRESS_MAX 272U

struct settings {
	char collector[SETTINGS_ADDRESS_MAX];
	char name[SETTINGS_NAME_MAX];
	char spool_file[SETTINGS_PATH_MAX]; /* empty: by the name, below /run/kiseki */
	char state_dir[SETTINGS_PATH_MAX];
	char func_socket[SETTINGS_PATH_MAX]; /* empty: no program is traced */
	char func_group[SETTINGS_NAME_MAX];
	char func_folder[SETTINGS_PATH_MAX]; /* empty: by the name, beside the spool */
	uint64_t func_bytes;
	uint64_t objects_rate; /* bytes of programs' files in a second; 0: none are sent */
	bool objects_anywhere; /* also to a collector on another machine */
	uint64_t spool_bytes;
	uint64_t
		ring_most; /* bytes of kernel memory for each CPU that a collector may ask for; 0: by the memory there is */
	bool start;
	bool keep_recording;
	int nice;
	struct message_config config; /* all of it is given */
};

/* The defaults; the name is that of the machine. */
void settings_init(struct settings *s);

/* -EINVAL with "cannot use <key>: …". */
int settings_set(struct settings *s, const char *key, const char *value, struct error *e);

/* The key at a place of the list; NULL is the last. */
const char *settings_key(size_t i);

/* Errors name file and line. */
int settings_parse(struct settings *s, const char *text, size_t len, const char *file,
		   struct error *e);

/* KiB of kernel memory for each CPU that a collector may ask for, on a machine with so much memory. What the
 * device's own settings say it may always have. */
uint32_t settings_ring_most_kib(const struct settings *s, uint64_t memory, uint32_t cpus);

/* Reads the file that --config names, or SETTINGS_FILE if that is there; then the options. */
int settings_load(struct settings *s, const struct args *a, struct error *e);

#endif
