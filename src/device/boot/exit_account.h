/* SPDX-License-Identifier: MIT */
/*
 * exit_account: what each process used in its life, told by the kernel at its end (taskstats).
 *
 * The kernel tells of threads; when the last of several ends, it says so. So the accounts of a process's
 * threads are summed here, in a list of a fixed size, until then. Where it is full, what a thread used is
 * missing from the sum of its process and nothing else.
 *
 * The struct has grown with its versions, at the end, so a length decides what it has; but for version 15,
 * which moved fields and is not read.
 */
#ifndef KISEKI_DEVICE_BOOT_EXIT_ACCOUNT_H
#define KISEKI_DEVICE_BOOT_EXIT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "device/boot/task_stat.h"
#include "wire/boot_event.h"

#define EXIT_GROUPS 64U

struct exit_account {
	uint32_t pid, group; /* group 0: the kernel is too old to say */
	uint32_t parent;
	uint32_t code;
	uint32_t
		strange; /* not 0: the version of a struct that is not read; nothing else is known */
	bool is_last;	 /* of a process that had several threads */
	char comm[TASK_COMM_LEN];
	uint8_t comm_len;
	uint64_t number[BOOT_NUMBERS_MAX]; /* enum boot_account_number */
};

struct exit_sums {
	struct {
		uint32_t group; /* 0: free */
		uint64_t number[BOOT_NUMBERS_MAX];
	} rows[EXIT_GROUPS];
};

/* The socket, registered for all CPUs of a list as the kernel prints it ("0-3"); or a negative errno. */
int exit_account_open(uint32_t buffer, const char *cpus, struct error *e);

/* What it does behind opening its socket: asks the kernel, and takes its answers. 0 or a negative errno. */
int exit_account_ask(int fd, const char *cpus, struct error *e);

/* The next account of what a read gave; false at the end. */
bool exit_account_next(struct exit_account *ret, const uint8_t *bytes, size_t len, size_t *at);

/* Adds what came to what its process has; true if *a is now the account of a process. */
bool exit_sums_take(struct exit_sums *s, struct exit_account *a);

#endif
