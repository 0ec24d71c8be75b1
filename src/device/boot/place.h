/* SPDX-License-Identifier: MIT */
/*
 * place: where the recorder stands in the machine: its own /proc and kernel log, and the root of init.
 *
 * As pid 1's first child there is nothing mounted, and what it would mount, init would find. So it mounts what it
 * needs nowhere: the kernel can make a mount that is in no tree and lives as long as a descriptor of it is
 * open. On kernels before 5.2 it is mounted on a folder, opened, and detached again, all before init starts.
 *
 * When init goes to another root (switch_root), the recorder follows, so that paths mean to it what they mean to
 * init: the file it writes, the names of hosts, the identity of the device.
 */
#ifndef KISEKI_DEVICE_BOOT_PLACE_H
#define KISEKI_DEVICE_BOOT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define PLACE_ROOT "/proc/1/root" /* of init, from a name space of our own */
#define PLACE_PATH_MAX 512U

struct place {
	int proc;		       /* folder */
	uint64_t root_dev, root_inode; /* of init's root, as last seen */
	bool is_private; /* in a name space of mounts of its own, where init's root is PLACE_ROOT */
};

/* /proc as it is mounted, or a mount of its own. */
int place_open(struct place *p, struct error *e);
void place_close(struct place *p);

/* The kernel's log; its descriptor, or a negative errno. flags of open(). */
int place_open_log(int flags);

/* Something that takes every write and gives nothing, for the standard files; or a negative errno. */
int place_open_null(void);

/* Goes into a name space of its own and mounts there what a tracer looks for: /proc, /sys, tracefs. Whatever fails
 * is missing there, and the tracer will say so. Before place_open(). */
void place_hide(struct place *p);

/* A path of the running system, as it is to be opened; `room` if it has to be put together. */
const char *place_get_path(const struct place *p, const char *path, char room[PLACE_PATH_MAX]);

/* The root is that of the first file system, of an initramfs. */
bool place_is_first_root(void);

/* Is init's root another one than it was? Goes there, unless it has a name space of its own. */
bool place_follow(struct place *p);

/* There is no tracer any more: goes to init's root for good. */
void place_come_out(struct place *p);

#endif
