/* SPDX-License-Identifier: MIT */
/*
 * row_seal: checksums of rows that SQLite keeps (docs/format/store.md, section 7).
 *
 * SQLite finds pages that are no pages, but takes any number for a number, and what a short file lacks for zeros. So rows have a checksum:
 * where it does not fit, what has the row is made again if it is derived, and else not believed (sealed_table.h).
 */
#ifndef KISEKI_STORE_ROW_SEAL_H
#define KISEKI_STORE_ROW_SEAL_H

#include <sqlite3.h>

/* The function row_seal(...) of SQL for this connection: the checksum of all its arguments. SQLITE_OK or SQLite's error. */
int row_seal_register(sqlite3 *db);

#endif
