/* SPDX-License-Identifier: MIT */
/*
 * process_event: what the kernel tells of processes (netlink, "proc connector"): forks, execs, new names,
 * ends, each with its own time.
 *
 * The socket has a filter, so that nothing else wakes the recorder, and threads only where they are wanted.
 * Its buffer is in the kernel; when it overflows, the kernel says that something is missing, not what.
 */
#ifndef KISEKI_DEVICE_BOOT_PROCESS_EVENT_H
#define KISEKI_DEVICE_BOOT_PROCESS_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/boot/task_stat.h"

enum process_event_type {
	PROCESS_FORK = 0,
	PROCESS_EXEC = 1,
	PROCESS_NAME = 2,
	PROCESS_EXIT = 3,
	PROCESS_OTHER = 4, /* an acknowledgement, or one that nobody asked for */
};

struct process_event {
	enum process_event_type type;
	uint64_t ns; /* CLOCK_MONOTONIC */
	uint32_t pid, group;
	uint32_t parent; /* of a fork: the process that did it */
	uint32_t code;	 /* of an end: as wait() has it; of an acknowledgement: an errno */
	char comm[TASK_COMM_LEN];
};

/* What a socket takes. Only an exec needs somebody at once, who reads the arguments while the process is there: a
 * socket of its own for these is what the recorder wakes up for, and the others wait for its next pass. */
enum process_event_choice {
	PROCESS_EVENTS_OF_ALL = 0, /* threads, too */
	PROCESS_EVENTS_OF_PROCESSES,
	PROCESS_EVENTS_EXEC,
};

/* The descriptor, or a negative errno. buffer: bytes of the kernel's memory for it. */
int process_event_open(uint32_t buffer, enum process_event_choice choice, struct error *e);

/* What it does behind opening its socket: asks the kernel, and takes its answer. 0 or a negative errno. */
int process_event_ask(int fd, struct error *e);

/* The message at *at of what a read gave; false at the end, or where the rest is none. */
bool process_event_next(struct process_event *ret, const uint8_t *bytes, size_t len, size_t *at);

#endif
