/* SPDX-License-Identifier: MIT */
/*
 * boot_digest: what `info` and `check` say about the boot chart of a .ksk file: its records, read to the
 * end and counted.
 */
#ifndef KISEKI_CLI_BOOT_DIGEST_H
#define KISEKI_CLI_BOOT_DIGEST_H

#include <jansson.h>

#include "trace/boot_ksk.h"

struct boot_digest {
	struct boot_source *source; /* NULL: it has none */
	uint64_t kinds[BOOT_KINDS];
	uint64_t losses[LOSS_CAUSES]; /* places where something is missing */
};

/* The boot chart of a .ksk file; 0: d is filled, 1: it has none, < 0. */
int boot_digest_open_ksk(struct boot_digest *d, const char *path, struct error *e);
void boot_digest_done(struct boot_digest *d);

/* As part of what is printed about a file. */
void boot_digest_print_info(const struct boot_digest *d);
void boot_digest_print_check(const struct boot_digest *d);
json_t *boot_digest_json(const struct boot_digest *d);

#define CLEANUP_BOOT_DIGEST __attribute__((cleanup(boot_digest_done)))

#endif
