/* SPDX-License-Identifier: MIT */
/*
 * database: is a SQLite file of a collector's folder as SQLite left it?
 *
 * A page that the disk lost may just answer less than there was. So `kiseki check` looks at all pages of those that cannot be made again, at the order of
 * their rows, and whether tables and their indexes say the same; the catalog looks at itself so when it is opened. A number that was flipped inside a row is
 * no contradiction; it is found in tables that are sealed (sealed_table.h).
 */
#ifndef KISEKI_STORE_DATABASE_H
#define KISEKI_STORE_DATABASE_H

#include "base/error.h"

/* 0: it is sound. -EBADMSG: it is not, and e says what is wrong with it. -ENOENT: there is none. Else it could not be
 * looked at; -EBUSY if a collector has it for itself. */
int database_check(const char *path, struct error *e);

#endif
