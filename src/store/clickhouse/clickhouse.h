/* SPDX-License-Identifier: MIT */
/*
 * clickhouse: the engine of a store in a ClickHouse server (clickhouse_url.h says how its place is
 * written).
 */
#ifndef KISEKI_STORE_CLICKHOUSE_H
#define KISEKI_STORE_CLICKHOUSE_H

#include "store/store.h"

/* Makes the database and its tables if they are missing, unless it is only read. */
int clickhouse_open(struct store **ret, const char *url, const struct store_options *o,
		    struct error *e);

#endif
