/* SPDX-License-Identifier: MIT */
/* row_seal: see row_seal.h. */
#include "store/row_seal.h"

#include "store/checksum.h"
#include "wire/varint.h"

/* What kind of value it is, how long, and its bytes: so no two rows are the same text. */
static uint32_t add_value(uint32_t crc, sqlite3_value *v)
{
	const int type = sqlite3_value_type(v);
	uint8_t head[9] = { (uint8_t)type };
	const void *bytes = NULL;
	int len = 0;

	if (type == SQLITE_INTEGER) {
		put_le64(head + 1, (uint64_t)sqlite3_value_int64(v));
	} else if (type != SQLITE_NULL) {
		bytes = sqlite3_value_blob(v);
		len = sqlite3_value_bytes(v);
		put_le64(head + 1, (uint64_t)len);
	}
	crc = checksum_crc32c(crc, head, sizeof(head));
	return bytes ? checksum_crc32c(crc, bytes, (size_t)len) : crc;
}

static void row_seal(sqlite3_context *context, int n, sqlite3_value **values)
{
	uint32_t crc = 0;
	int i;

	for (i = 0; i < n; i++)
		crc = add_value(crc, values[i]);
	sqlite3_result_int64(context, crc);
}

int row_seal_register(sqlite3 *db)
{
	return sqlite3_create_function(db, "row_seal", -1,
				       SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, NULL,
				       row_seal, NULL, NULL);
}
