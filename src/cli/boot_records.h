/* SPDX-License-Identifier: MIT */
/*
 * boot_records: the records of a boot wherever a person says it is: the same places as boot_reading.h, but not what is made
 * of them, for commands that hand them on as they are.
 */
#ifndef KISEKI_CLI_BOOT_RECORDS_H
#define KISEKI_CLI_BOOT_RECORDS_H

#include "cli/remote_run.h"
#include "command/args.h"
#include "store/store.h"
#include "trace/boot_source.h"

struct boot_records {
	struct boot_source *source;
	struct store *store;
	struct remote_run_folder folder; /* with what a collector has sent */
};

int boot_records_open(struct boot_records *r, const struct args *a, const char *name,
		      struct error *e);
void boot_records_close(struct boot_records *r);
#define CLEANUP_BOOT_RECORDS __attribute__((cleanup(boot_records_close)))

/* Of a file: a .ksk, or the archive or folder of a bootchart. */
int boot_records_open_file(const char *path, struct boot_source **ret, struct error *e);

#endif
