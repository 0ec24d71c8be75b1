/* SPDX-License-Identifier: MIT */
/*
 * target: what a recording waits for: unit:NAME, process:NAME, file:PATH, port:N.
 *
 * A unit of systemd is there when systemd says that it is active (unit_state.h), a port when somebody listens on it.
 * Files are looked for in each pass, which is one system call; ports less often, as that is a list.
 */
#ifndef KISEKI_DEVICE_BOOT_TARGET_H
#define KISEKI_DEVICE_BOOT_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define TARGET_NAME_MAX 256U
#define TARGET_PORT_NS 100000000ULL /* between two looks for a port */

enum target_type {
	TARGET_NONE = 0,
	TARGET_UNIT,
	TARGET_PROCESS,
	TARGET_FILE,
	TARGET_PORT,
};

struct target {
	enum target_type type;
	uint32_t port;
	uint64_t look_ns;
	bool has_come;
	char name[TARGET_NAME_MAX];
};

/* "" is none. -EINVAL if it is no target. */
int target_parse(struct target *ret, const char *text);

/* Is it there now, if it is a file or a port? root: what stands before paths of the running system; proc: a descriptor of /proc. */
bool target_check(struct target *t, const char *root, int proc, uint64_t now_ns);

/* A process has this name, and these arguments, if any. */
bool target_is_process(const struct target *t, const char *comm, size_t comm_len, const char *args,
		       size_t args_len);

/* Does /proc/net/tcp, or a part of it that ends with a line, have a listener on the port? */
bool target_has_listener(const char *text, size_t len, uint32_t port);

#endif
