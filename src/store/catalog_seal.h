/* SPDX-License-Identifier: MIT */
/*
 * catalog_seal: whether the catalog is as it was written.
 *
 * It can be made again, but somebody must see that it has to be: a flipped bit would be another name of a device, or another count of lost events. So
 * each row has a checksum (row_seal.h), and each file's row the number of the others; all are looked at when the store is opened, and before that, whether
 * indexes and tables say the same (database.h).
 */
#ifndef KISEKI_STORE_CATALOG_SEAL_H
#define KISEKI_STORE_CATALOG_SEAL_H

#include <sqlite3.h>

#include "base/error.h"

/* 0, -EBADMSG: it is unsound; else it could not be looked at. */
int catalog_seal_check(sqlite3 *db, struct error *e);

#endif
