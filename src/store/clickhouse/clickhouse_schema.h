/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_schema: the tables, their version, and how they get from one to the next
 * (docs/format/clickhouse.md).
 *
 * Every step can be done twice, and by two collectors at once. In a cluster each server has a table
 * NAME_local, and NAME over those of all servers.
 */
#ifndef KISEKI_STORE_CLICKHOUSE_SCHEMA_H
#define KISEKI_STORE_CLICKHOUSE_SCHEMA_H

#include "store/clickhouse/clickhouse_link.h"

#define CLICKHOUSE_SCHEMA_VERSION 2U

/* Makes what is missing, or, for reading only, looks whether all is there. -EPROTO: the tables are of
 * a version that this program does not know. */
int clickhouse_schema_prepare(struct clickhouse_link *l, const struct clickhouse_url *u,
			      bool read_only, struct error *e);

/* The name of the table that holds the rows at each server. */
const char *clickhouse_schema_suffix(const struct clickhouse_url *u);

#endif
