/* SPDX-License-Identifier: MIT */
/*
 * boot_ksk: the boot stream of a .ksk file, or of a run in a store, as a source of records.
 */
#ifndef KISEKI_TRACE_BOOT_KSK_H
#define KISEKI_TRACE_BOOT_KSK_H

#include "store/block_reader.h"
#include "store/store.h"
#include "trace/boot_source.h"

/* -ENODATA: it has no boot stream. */
int boot_ksk_open(const char *path, struct boot_source **ret, struct error *e);
int boot_ksk_open_memory(const uint8_t *data, size_t len, struct boot_source **ret,
			 struct error *e);
int boot_ksk_open_run(struct store *s, uint32_t run, struct boot_source **ret, struct error *e);

/* Whether there is a boot stream. */
bool boot_ksk_has_boot(struct block_reader *r);

#endif
