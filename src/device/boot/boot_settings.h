/* SPDX-License-Identifier: MIT */
/*
 * boot_settings: what the recorder is told: by its file, the kernel's command line (kiseki_boot.KEY=VALUE, with
 * '_' or '-' in the key) and its own, in this order: the later one counts.
 */
#ifndef KISEKI_DEVICE_BOOT_BOOT_SETTINGS_H
#define KISEKI_DEVICE_BOOT_BOOT_SETTINGS_H

#include "base/error.h"
#include "command/args.h"
#include "device/boot/target.h"

#define BOOT_SETTINGS_FILE "/etc/kiseki/boot.conf"
#define BOOT_SETTINGS_PREFIX "kiseki_boot."
#define BOOT_SETTINGS_OUT "/run/kiseki/boot.ksk" /* where nothing says where to */
#define BOOT_PATH_MAX 256U

enum boot_log_mode {
	BOOT_LOG_AUTO = 0, /* all where init is started, else what comes */
	BOOT_LOG_ALL,
	BOOT_LOG_NEW,
	BOOT_LOG_OFF,
};

enum boot_exact_mode {
	BOOT_EXACT_OFF = 0,
	BOOT_EXACT_AUTO,
	BOOT_EXACT_TRACEFS,
	BOOT_EXACT_BPF,
};

struct boot_settings {
	uint64_t interval_ns, idle_ns, time_ns, linger_ns; /* 0 of the last three: not */
	bool has_idle, has_time;			   /* they were given */
	struct target until;
	char until_text[BOOT_PATH_MAX];
	char out[BOOT_PATH_MAX];
	char collector[BOOT_PATH_MAX];
	char name[64]; /* "" the host name, once it has one */
	char state_dir[BOOT_PATH_MAX];
	char init[BOOT_PATH_MAX];
	char driver[BOOT_PATH_MAX], driver_args[BOOT_PATH_MAX];
	uint64_t spool_bytes; /* 0: by what is recorded */
	uint64_t buffer_bytes;
	uint32_t processes, files;
	uint32_t log_level;
	uint32_t log;	/* enum boot_log_mode */
	uint32_t exact; /* enum boot_exact_mode */
	bool threads, events, accounts, delays, keep_old, realtime;
	int nice;
};

void boot_settings_init(struct boot_settings *s);

/* -EINVAL with "cannot use <key>: …". */
int boot_settings_set(struct boot_settings *s, const char *key, const char *value, struct error *e);

/* The kernel's command line: words of it that are not ours are passed over, and so are wrong values, of which the
 * first is told in e. */
int boot_settings_parse_kernel(struct boot_settings *s, const char *line, size_t len,
			       struct error *e);

/* Lines of `key = value`. */
int boot_settings_parse(struct boot_settings *s, const char *text, size_t len, const char *file,
			struct error *e);

/* The file, then the kernel's command line (empty: none), then the options. */
int boot_settings_load(struct boot_settings *s, const struct args *a, const char *kernel,
		       struct error *e);

/* The key at a place of the list; NULL is the last. */
const char *boot_settings_key(size_t i);

/* Fills in what follows from the rest. */
void boot_settings_finish(struct boot_settings *s);

#endif
