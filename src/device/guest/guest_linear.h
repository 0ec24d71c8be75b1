/* SPDX-License-Identifier: MIT */
/*
 * guest_linear: from the kernel's addresses of memory to physical ones, by the headers of /proc/kcore, which is an ELF
 * file whose segments say both. A kernel that is locked down shows none; then no address is known.
 */
#ifndef KISEKI_DEVICE_GUEST_GUEST_LINEAR_H
#define KISEKI_DEVICE_GUEST_GUEST_LINEAR_H

#include <stdbool.h>
#include <stdint.h>

#define GUEST_LINEAR_MAX 64U /* pieces of memory */

struct guest_linear {
	uint32_t n;
	struct {
		uint64_t from, to, physical;
	} piece[GUEST_LINEAR_MAX];
};

/* `path` is /proc/kcore. */
void guest_linear_load(struct guest_linear *l, const char *path);

bool guest_linear_get(const struct guest_linear *l, uint64_t address, uint64_t *ret);

#endif
