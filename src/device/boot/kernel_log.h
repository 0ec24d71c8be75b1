/* SPDX-License-Identifier: MIT */
/*
 * kernel_log: what the kernel says, as marks, with the time that it says.
 *
 * From /dev/kmsg; where that is not to be had, the log is asked for as a whole, once a second, and what is
 * new in it is taken. Before init starts the kernel has said some hundred lines, which stay where they are: so they
 * are taken when nobody else wants the CPU, and not all at once.
 */
#ifndef KISEKI_DEVICE_BOOT_KERNEL_LOG_H
#define KISEKI_DEVICE_BOOT_KERNEL_LOG_H

#include <stdbool.h>

#include "base/error.h"
#include "device/boot/record_sink.h"

#define KERNEL_LOG_BYTES 8192U	  /* of a record of /dev/kmsg; it has no larger ones */
#define KERNEL_LOG_CALM 24U	  /* messages in one pass: the machine is what matters */
#define KERNEL_LOG_ALL UINT32_MAX /* at the end */

struct kernel_log {
	struct record_sink *sink;
	int fd;	       /* -1: the log as a whole */
	uint8_t level; /* the highest that is taken */
	bool is_off;   /* there is none, or nobody wants it */
	uint64_t seen_ns,
		look_ns; /* without a descriptor: what was taken, and when to look again */
	char text[KERNEL_LOG_BYTES];
};

/* from_start: all that it still has. Fails if there is no log at all. */
int kernel_log_open(struct kernel_log *l, struct record_sink *sink, bool from_start,
		    struct error *e);
void kernel_log_close(struct kernel_log *l);

/* Takes what is there, at most so many. */
void kernel_log_take(struct kernel_log *l, uint64_t now_ns, uint32_t most);

#endif
