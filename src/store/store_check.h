/* SPDX-License-Identifier: MIT */
/*
 * store_check: is every byte of a store as it was written?
 *
 * Each record of each file is read and its checksums and those of its block are verified; the runs
 * are followed as when the store is opened; an index must be the one that the log gives. Bytes at
 * the very end of the last file that are no whole record are no damage: the collector was stopped
 * while it wrote, and nothing of that was acknowledged.
 *
 * In ClickHouse there are no files: each block that readers are given is verified, and `file` is the
 * number of its run.
 */
#ifndef KISEKI_STORE_STORE_CHECK_H
#define KISEKI_STORE_STORE_CHECK_H

#include "store/store.h"

struct store_damage {
	uint32_t file;
	uint64_t offset, len; /* 0, 0: the file as a whole */
	const char *what;
};

typedef void (*store_damage_fn)(void *context, const struct store_damage *d);

struct store_counts {
	uint64_t files, bytes;
	uint64_t blocks;
	uint64_t unfinished; /* bytes at the end */
};

/* Damage is no failure: 0, or why it could not be looked for. */
int store_check(struct store *s, store_damage_fn fn, void *context, struct store_counts *ret,
		struct error *e);

/* Whether it looks like a store's: a folder, or a ClickHouse. */
bool store_is_place(const char *place);

#endif
