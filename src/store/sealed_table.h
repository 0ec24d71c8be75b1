/* SPDX-License-Identifier: MIT */
/*
 * sealed_table: tables of SQLite whose rows carry a checksum that SQLite itself keeps.
 *
 * What is derived and damaged is made again (row_seal.h). What cannot be made again must at least not be believed: one bit makes a revoked
 * certificate hold, and a user who may look an admin. The column `seal` of such a table is row_seal() of all the others in their order. Two triggers
 * set it when a row is made or changed, so no statement that writes has to think of it; who reads asks whether it fits. A row that did not fit
 * before it was changed does not fit afterwards: only who makes it anew makes it whole.
 */
#ifndef KISEKI_STORE_SEALED_TABLE_H
#define KISEKI_STORE_SEALED_TABLE_H

#include <sqlite3.h>

#include "base/error.h"

/* The tables, up to NULL, are sealed from now on for all who have row_seal(), as this connection has it afterwards. One that was not is sealed with the
 * rows it has; two programs may do so at once. SQLITE_OK, or SQLite's error: what was begun is undone when the caller closes the
 * connection, which can still say why. */
int sealed_table_keep(sqlite3 *db, const char *const *tables);

/* All rows of all sealed tables of the file. -EBADMSG: some do not fit, and e says of which. -EIO: they cannot be read. */
int sealed_table_check(sqlite3 *db, struct error *e);

#endif
