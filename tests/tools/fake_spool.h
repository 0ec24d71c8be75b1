/* SPDX-License-Identifier: MIT */
/*
 * fake_spool: the uplink's side of device/agent/spool.h in plain memory, so that the protocol can
 * be tested without mapped files. Linked in place of the real one.
 */
#ifndef KISEKI_TESTS_FAKE_SPOOL_H
#define KISEKI_TESTS_FAKE_SPOOL_H

#include "device/agent/spool.h"

#define FAKE_SPOOL_ENTRIES 512U
#define FAKE_SPOOL_BYTES 256U

struct fake_entry {
	struct spool_entry entry;
	uint8_t bytes[FAKE_SPOOL_BYTES];
	bool gone;
};

struct spool {
	struct fake_entry entries[FAKE_SPOOL_ENTRIES];
	uint32_t n, next; /* all that there ever were; to be sent */
	uint64_t frames, acked;
	uint32_t sent[FAKE_SPOOL_ENTRIES * 2]; /* places of the frames since the rewind */
};

/* Run `run` has 16 bytes of that value. The body is `len` bytes that begin with run, stream and
 * sequence. */
void fake_spool_add(struct spool *s, uint32_t kind, uint32_t run, uint32_t stream,
		    uint64_t sequence, uint32_t len);
uint32_t fake_spool_left(const struct spool *s);

#endif
