/* SPDX-License-Identifier: MIT */
/* facts_seal: see facts_seal.h. */
#include "facts/facts_seal.h"

#include "store/checksum.h"
#include "wire/varint.h"

static uint64_t join(uint32_t first, uint32_t second)
{
	return first | (uint64_t)second << 32;
}

static uint32_t sum_head(const struct facts_head *h)
{
	const uint64_t numbers[] = { h->key.kind,   h->key.length_s, h->key.start_s, h->version,
				     h->covered_ns, h->events,	     h->lost,	     h->lost_places,
				     h->values[0],  h->values[1] };
	uint8_t bytes[8];
	uint32_t crc = 0;
	size_t i;

	for (i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		put_le64(bytes, numbers[i]);
		crc = checksum_crc32c(crc, bytes, sizeof(bytes));
	}
	crc = checksum_crc32c(crc, h->key.device.bytes, sizeof(h->key.device.bytes));
	return checksum_crc32c(crc, h->key.run.bytes, sizeof(h->key.run.bytes));
}

static uint32_t sum_bytes(uint32_t crc, struct facts_bytes b)
{
	return b.len ? checksum_crc32c(crc, b.data, b.len) : crc;
}

uint64_t facts_seal_fact(const struct facts_head *h, struct facts_bytes list)
{
	return join(sum_head(h), sum_bytes(0, list));
}

uint64_t facts_seal_body(struct facts_bytes tree, struct facts_bytes tasks,
			 struct facts_bytes objects)
{
	return join(sum_bytes(0, tree), sum_bytes(sum_bytes(0, tasks), objects));
}

static bool fits(sqlite3_stmt *s, int column, uint64_t seal, uint64_t mask)
{
	const uint64_t is = (uint64_t)sqlite3_column_int64(s, column);

	return sqlite3_column_type(s, column) == SQLITE_NULL || !((is ^ seal) & mask);
}

bool facts_seal_fits(sqlite3_stmt *s, int column, uint64_t seal)
{
	return fits(s, column, seal, UINT64_MAX);
}

bool facts_seal_fits_first(sqlite3_stmt *s, int column, uint64_t seal)
{
	return fits(s, column, seal, UINT32_MAX);
}

struct facts_bytes facts_seal_column(sqlite3_stmt *s, int column)
{
	const void *data = sqlite3_column_blob(s, column);

	return (struct facts_bytes){ data, (size_t)sqlite3_column_bytes(s, column) };
}
