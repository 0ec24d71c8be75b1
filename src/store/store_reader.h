/* SPDX-License-Identifier: MIT */
/*
 * store_reader: a run in the store, or a part of it, as a block_reader.
 *
 * It sees what was committed when it was opened; store_reader_refresh() brings in what came since,
 * for those who follow. Log files that it may still need are kept until it is freed, also when
 * retention removes their names.
 */
#ifndef KISEKI_STORE_STORE_READER_H
#define KISEKI_STORE_STORE_READER_H

#include "store/block_reader.h"
#include "store/store.h"

struct store_range {
	uint64_t from_tick; /* 0: from the start */
	uint64_t to_tick;   /* UINT64_MAX: to the end */
	uint64_t from_meta; /* sequence of the description's first block that is wanted */
};

/* Each stream from the segment that holds from_tick to the first block that begins after to_tick;
 * the description (stream 0) whole, from its sequence on. */
int store_reader_open(struct block_reader **ret, struct store *s, uint32_t run,
		      const struct store_range *range, struct error *e);
/* 1: there is more than before; 0: nothing new. */
int store_reader_refresh(struct block_reader *r, struct error *e);

/* How many blocks were read from the disk so far. */
uint64_t store_reader_count(const struct block_reader *r);

#endif
