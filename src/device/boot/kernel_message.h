/* SPDX-License-Identifier: MIT */
/*
 * kernel_message: a record of /dev/kmsg, or a line of the kernel's log as klogctl() gives it.
 *
 *	6,339,5140900,-;NET: Registered PF_INET6 protocol family
 *	<6>[    5.140900] NET: Registered PF_INET6 protocol family
 *
 * Programs may write there, too, and an init that has no log yet does: `facility` tells them from the kernel.
 */
#ifndef KISEKI_DEVICE_BOOT_KERNEL_MESSAGE_H
#define KISEKI_DEVICE_BOOT_KERNEL_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct kernel_message {
	uint8_t level;
	uint32_t facility; /* 0: the kernel's own */
	uint64_t ns;	   /* by the kernel's own clock, which is close to CLOCK_MONOTONIC */
	const char *text;  /* borrowed, one line */
	size_t len;
};

bool kernel_message_parse(struct kernel_message *ret, const char *record, size_t len);

/* The line at *at of a log; false at the end. Lines without a time are passed over. */
bool kernel_message_next(struct kernel_message *ret, const char *log, size_t len, size_t *at);

/* Does init say in it that a unit has begun or ended? What it says is behind the name of the program. */
bool kernel_message_is_phase(const struct kernel_message *m, const char **ret, size_t *ret_len);

#endif
