/* SPDX-License-Identifier: MIT */
/*
 * packer: the general compressors that we are measured against, in memory, one thread.
 */
#ifndef KISEKI_BENCH_PACKER_H
#define KISEKI_BENCH_PACKER_H

#include <stddef.h>
#include <stdint.h>

struct packer {
	const char *key;  /* in trace.json */
	const char *name; /* in tables */
	size_t (*bound)(size_t len);
	/* Both return the length that came out, 0 if it failed. */
	size_t (*pack)(uint8_t *out, size_t room, const uint8_t *in, size_t len);
	size_t (*unpack)(uint8_t *out, size_t room, const uint8_t *in, size_t len);
};

const struct packer *packer_get(size_t i); /* NULL beyond the last */
const struct packer *packer_find(const char *key);

#endif
