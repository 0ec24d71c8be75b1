/* SPDX-License-Identifier: MIT */
/*
 * boot_recorder: the recorder of a boot: looks, listens, encodes, writes and sends, until it is time to stop.
 *
 * One loop, which sleeps until the next pass is due or an exec is told, and one thread that only waits for the disk
 * (boot_file.h). All memory is taken when it is made, but for that of the connection, which is made when there is
 * a network to ask.
 */
#ifndef KISEKI_DEVICE_BOOT_BOOT_RECORDER_H
#define KISEKI_DEVICE_BOOT_BOOT_RECORDER_H

#include "base/cleanup.h"
#include "base/error.h"
#include "device/boot/boot_settings.h"
#include "device/boot/place.h"

struct boot_recorder;

struct boot_recorder_options {
	const struct boot_settings *settings; /* borrowed */
	struct place place;		      /* taken */
	bool is_early;	 /* init is started after this: the log is wanted from its start */
	bool is_first;	 /* and waits for it */
	bool has_socket; /* can be stopped by boot_stop_ask() */
	char *title; /* what this process is called, if it starts with '@': until init has gone to its root */
	void (*log)(void *context, const char *line); /* what a person should know; may be NULL */
	void *log_context;
};

int boot_recorder_new(struct boot_recorder **ret, const struct boot_recorder_options *o,
		      struct error *e);
void boot_recorder_free(struct boot_recorder *r);
DEFINE_CLEANUP(boot_recorder, boot_recorder_free)

/* The first pass: when it is over, everything that happens is seen. */
int boot_recorder_start(struct boot_recorder *r, struct error *e);

/* Until it has stopped, and everything is written and sent. */
int boot_recorder_run(struct boot_recorder *r, struct error *e);

#endif
