/* SPDX-License-Identifier: MIT */
/* clickhouse_schema: see clickhouse_schema.h. */
#include "store/clickhouse/clickhouse_schema.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/clickhouse/clickhouse_row.h"

struct table {
	const char *name, *columns, *engine;
	const char *shard; /* by what its rows are spread over a cluster */
};

#define IDS "device FixedString(16), run FixedString(16), "

/* Few rows to a mark: a row of blocks has kilobytes, and one that is looked for costs all to the next
 * mark. */
static const struct table version_1[] = {
	{ "blocks",
	  "day Date, " IDS "stream UInt32, sequence UInt64, came UInt64, codec UInt8, flags UInt8, "
	  "first_tick UInt64, before UInt64, ticks UInt64, events UInt32, lost Array(UInt64), "
	  "guests UInt8, len UInt32, key_tick UInt64, bytes String",
	  "ReplacingMergeTree() PARTITION BY day ORDER BY (device, run, stream, sequence) "
	  "SETTINGS index_granularity = 128",
	  "cityHash64(device)" },
	{ "runs", "number UInt32, " IDS "boot FixedString(16), made UInt64",
	  "ReplacingMergeTree() ORDER BY (number, run)", "cityHash64(device)" },
	{ "claims", "number UInt32, token UInt64", "MergeTree() ORDER BY number", "number" },
	{ "devices",
	  "device FixedString(16), name String, kernel String, machine String, agent String, "
	  "cpus UInt32, seen UInt64, told UInt64",
	  "ReplacingMergeTree(told) ORDER BY device", "cityHash64(device)" },
	{ "notes", IDS "kind UInt8, came UInt64, body String",
	  "ReplacingMergeTree(came) ORDER BY (device, run, kind)", "cityHash64(device)" },
	{ NULL, NULL, NULL, NULL },
};

#define LIST(c)                                                                                    \
	c "_name Array(UInt64), " c "_self0 Array(UInt64), " c "_self1 Array(UInt64), " c          \
	  "_total0 Array(UInt64), " c "_total1 Array(UInt64), "

/* Per-minute facts (src/facts/clickhouse). */
static const struct table version_2[] = {
	{ "facts",
	  "kind UInt8, length UInt32, day Date, start UInt64, " IDS
	  "version UInt64, rank UInt64, id UInt64, closed UInt8, made_of UInt64, covered UInt64, "
	  "events UInt64, lost UInt64, lost_places UInt64, samples UInt64, ns UInt64, " LIST(
		  "function") LIST("process") LIST("object") LIST("class")
		  LIST("machine") "names Array(UInt64), tree String, tasks String, objects String",
	  "ReplacingMergeTree(rank) PARTITION BY (length, day) ORDER BY (kind, device, start, run) "
	  "SETTINGS index_granularity = 256",
	  "cityHash64(device)" },
	{ "fact_names", "hash UInt64, object String, name String",
	  "ReplacingMergeTree() ORDER BY hash", "hash" },
	{ "fact_carries", "run FixedString(16), made UInt64, carry String",
	  "ReplacingMergeTree(made) ORDER BY run SETTINGS index_granularity = 64",
	  "cityHash64(run)" },
	{ "fact_ages", "minutes_to UInt64, hours_to UInt64", "MergeTree() ORDER BY minutes_to",
	  "minutes_to" },
	{ "labels", "device FixedString(16), label String, value String, made UInt64",
	  "ReplacingMergeTree(made) ORDER BY (device, label)", "cityHash64(device)" },
	{ "members",
	  "token UInt64, beat UInt64, since UInt64, name String, works UInt8, watches UInt8, "
	  "threads UInt32, minutes UInt64, waiting UInt64, behind UInt64",
	  "ReplacingMergeTree(beat) ORDER BY token", "token" },
	{ NULL, NULL, NULL, NULL },
};

/* By rising version. A later one may have other statements; so far there are only new tables. */
static const struct table *const steps[CLICKHOUSE_SCHEMA_VERSION] = { version_1, version_2 };

static const struct table versions = { "versions", "version UInt32, made UInt64",
				       "MergeTree() ORDER BY version", "version" };

const char *clickhouse_schema_suffix(const struct clickhouse_url *u)
{
	return *u->cluster ? "_local" : "";
}

__attribute__((format(printf, 4, 5))) static int tell(struct clickhouse_link *l, uint32_t server,
						      struct error *e, const char *format, ...)
{
	_cleanup_free_ char *sql = NULL;
	va_list args;
	int len;

	va_start(args, format);
	len = vasprintf(&sql, format, args);
	va_end(args);
	if (len < 0) {
		sql = NULL;
		return error_set(e, ENOMEM, "cannot ask ClickHouse: out of memory");
	}
	return clickhouse_link_tell(l, server, sql, e);
}

static int create_table(struct clickhouse_link *l, const struct clickhouse_url *u,
			const struct table *t, struct error *e)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < u->n_servers && r == 0; i++) {
		r = tell(l, i, e, "CREATE TABLE IF NOT EXISTS %s.%s%s (%s) ENGINE = %s",
			 u->database, t->name, clickhouse_schema_suffix(u), t->columns, t->engine);
		if (r == 0 && *u->cluster)
			r = tell(l, i, e,
				 "CREATE TABLE IF NOT EXISTS %s.%s (%s) "
				 "ENGINE = Distributed(%s, %s, %s_local, %s)",
				 u->database, t->name, t->columns, u->cluster, u->database, t->name,
				 t->shard);
	}
	return r;
}

static ssize_t take_version(void *context, const uint8_t *bytes, size_t len)
{
	struct byte_reader r;
	uint32_t version;

	reader_init(&r, bytes, len);
	version = clickhouse_row_u32(&r);
	if (r.bad)
		return 0;
	*(uint32_t *)context = version;
	return 4;
}

/* 0: there is none yet. */
static int get_version(struct clickhouse_link *l, uint32_t *ret, struct error *e)
{
	const struct clickhouse_ask ask = { .sql = "SELECT max(version) FROM versions",
					    .take = take_version,
					    .context = ret };

	*ret = 0;
	return clickhouse_link_ask(l, &ask, e);
}

static int set_version(struct clickhouse_link *l, uint32_t version, struct error *e)
{
	uint8_t row[12] = { 0 };

	put_le32(row, version);
	return clickhouse_link_insert(l, "versions (version, made)", row, sizeof(row), e);
}

static int judge(const struct clickhouse_url *u, uint32_t version, bool read_only, struct error *e)
{
	if (version > CLICKHOUSE_SCHEMA_VERSION)
		return error_set(e, EPROTO,
				 "cannot use the tables in %s: they are of version %u, and this "
				 "kiseki knows those up to %u: use a newer one",
				 u->database, version, CLICKHOUSE_SCHEMA_VERSION);
	if (read_only && version < CLICKHOUSE_SCHEMA_VERSION)
		return error_set(e, EPROTO,
				 "cannot use the tables in %s: they are of version %u, not %u: a "
				 "collector (kiseki serve) brings them there",
				 u->database, version, CLICKHOUSE_SCHEMA_VERSION);
	return 0;
}

static int create_database(struct clickhouse_link *l, const struct clickhouse_url *u,
			   struct error *e)
{
	uint32_t i;
	int r = 0;

	for (i = 0; i < u->n_servers && r == 0; i++)
		r = tell(l, i, e, "CREATE DATABASE IF NOT EXISTS %s", u->database);
	return r < 0 ? r : create_table(l, u, &versions, e);
}

static int step(struct clickhouse_link *l, const struct clickhouse_url *u, uint32_t version,
		struct error *e)
{
	const struct table *t;
	int r = 0;

	for (t = steps[version]; t->name && r == 0; t++)
		r = create_table(l, u, t, e);
	return r < 0 ? r : set_version(l, version + 1, e);
}

int clickhouse_schema_prepare(struct clickhouse_link *l, const struct clickhouse_url *u,
			      bool read_only, struct error *e)
{
	uint32_t version = 0;
	int r = get_version(l, &version, e);

	if (r == -ENOENT && read_only)
		return error_set(e, ENOENT, "there is no store in the database %s of ClickHouse",
				 u->database);
	if (r == -ENOENT) {
		r = create_database(l, u, e);
		if (r == 0)
			r = get_version(l, &version, e);
	}
	if (r == 0)
		r = judge(u, version, read_only, e);
	for (; r == 0 && version < CLICKHOUSE_SCHEMA_VERSION; version++)
		r = step(l, u, version, e);
	return r;
}
