/* SPDX-License-Identifier: MIT */
/*
 * catalog: what the full log files hold, in one SQLite database: which runs, their states, the
 * ledger, the devices.
 *
 * It is derived: rows are added when a log file is full and go with it, and a database that is
 * missing or behind is filled again from the indexes. It spares the store to open every index when
 * it starts, answers for the ledger of a run that lies in a thousand files, and people may look
 * into it with any tool. Two connections, so that readers do not wait for a file that is added.
 */
#ifndef KISEKI_STORE_CATALOG_H
#define KISEKI_STORE_CATALOG_H

#include "store/log_index.h"

#define CATALOG_VERSION 2

struct catalog;

/* dir NULL: in memory only. A database that cannot be used is made new. */
int catalog_open(struct catalog **ret, const char *dir, struct error *e);
void catalog_free(struct catalog *c);
DEFINE_CLEANUP(catalog, catalog_free)

int catalog_add_file(struct catalog *c, const struct log_index *x, struct error *e);
int catalog_remove_file(struct catalog *c, uint32_t file, struct error *e);

struct catalog_run {
	uint32_t file;
	struct index_run run; /* its places in an index are not set */
};

struct catalog_file {
	uint32_t file;
	uint64_t size, first_ns, last_ns;
};

typedef int (*catalog_file_fn)(void *context, const struct catalog_file *f);
typedef int (*catalog_run_fn)(void *context, const struct catalog_run *r);

/* All rows; a callback that returns non-zero ends it, and that is returned. */
int catalog_files(struct catalog *c, catalog_file_fn fn, void *context, struct error *e);
int catalog_runs(struct catalog *c, catalog_run_fn fn, void *context, struct error *e);
int catalog_devices(struct catalog *c, store_device_fn fn, void *context, struct error *e);

/* Of a run, the files from one on and before another. */
struct catalog_part {
	uint32_t run;
	uint32_t first, end;
};
int catalog_ledger(struct catalog *c, const struct catalog_part *part, store_loss_fn fn,
		   void *context, struct error *e);

#endif
