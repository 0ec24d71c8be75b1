/* SPDX-License-Identifier: MIT */
/*
 * boot_ksk: the boot stream of a .ksk file, or of a run in a store, as a source of records.
 *
 * What cannot be decoded is a loss where it belongs (stream_ledger.h has the rules). The end was seen if a
 * file has its index, which is written last, or if the device said that the run is over.
 */
#ifndef KISEKI_TRACE_BOOT_KSK_H
#define KISEKI_TRACE_BOOT_KSK_H

#include "store/block_reader.h"
#include "store/ksk_file.h"
#include "store/store.h"
#include "trace/boot_source.h"
#include "trace/loss_tally.h"

/* -ENODATA: it has no boot stream. */
int boot_ksk_open(const char *path, struct boot_source **ret, struct error *e);
int boot_ksk_open_memory(const uint8_t *data, size_t len, struct boot_source **ret,
			 struct error *e);
int boot_ksk_open_run(struct store *s, uint32_t run, struct boot_source **ret, struct error *e);

/* What the stream held, as far as it has been read. */
struct boot_totals {
	uint64_t blocks, segments, events, bytes;
	uint64_t first_tick, last_tick; /* the earliest and the latest of its records */
	struct loss_tally lost;		/* in all */
};

/* Of a source opened here; and, if from a file, that file with its damage, else NULL. */
const struct boot_totals *boot_ksk_totals(const struct boot_source *s);
struct ksk_file *boot_ksk_file(const struct boot_source *s);

/* Whether there is a boot stream. */
bool boot_ksk_has_boot(struct block_reader *r);

#endif
