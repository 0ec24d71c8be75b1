/* SPDX-License-Identifier: MIT */
/*
 * clickhouse_row: rows as bytes, in ClickHouse's format RowBinary: numbers with the low byte first,
 * fixed strings as they are, strings and arrays behind a varint that counts them.
 *
 * Rows to be inserted are appended to a growing buffer. Rows of an answer are read with a
 * byte_reader, which turns bad at the end of the bytes; what is read then is not used.
 */
#ifndef KISEKI_STORE_CLICKHOUSE_ROW_H
#define KISEKI_STORE_CLICKHOUSE_ROW_H

#include <stddef.h>

#include "store/store.h"
#include "wire/varint.h"

/* One buffer; it holds no more than a batch may, which its owner has looked at before. */
struct clickhouse_rows {
	uint8_t *data;
	size_t len, room;
};

void clickhouse_rows_done(struct clickhouse_rows *r);
/* Room for n more bytes: 0 or -ENOMEM. Nothing below looks again. */
int clickhouse_rows_reserve(struct clickhouse_rows *r, size_t n);

void clickhouse_rows_put(struct clickhouse_rows *r, const void *bytes, size_t n);
void clickhouse_rows_u8(struct clickhouse_rows *r, uint8_t v);
void clickhouse_rows_u32(struct clickhouse_rows *r, uint32_t v);
void clickhouse_rows_u64(struct clickhouse_rows *r, uint64_t v);
/* A Date: the day of that time, by UTC. */
void clickhouse_rows_day(struct clickhouse_rows *r, uint64_t real_ns);
void clickhouse_rows_string(struct clickhouse_rows *r, const void *bytes, size_t n);

uint8_t clickhouse_row_u8(struct byte_reader *r);
uint32_t clickhouse_row_u32(struct byte_reader *r);
uint64_t clickhouse_row_u64(struct byte_reader *r);
struct message_id clickhouse_row_id(struct byte_reader *r);
/* Borrowed. */
const uint8_t *clickhouse_row_string(struct byte_reader *r, size_t *ret_len);
/* Cut to STORE_NAME_MAX - 1 bytes. */
void clickhouse_row_name(struct byte_reader *r, char out[STORE_NAME_MAX]);

/* What is told of a block without its payload, as the columns of HEADER_COLUMNS give it. */
struct clickhouse_header {
	struct block block; /* without payload */
	uint64_t came_ns;
	bool has_guests;
};

#define CLICKHOUSE_HEADER_COLUMNS                                                                  \
	"stream, sequence, came, codec, flags, first_tick, before, ticks, events, lost, guests, "  \
	"len"

/* False: the row is not whole yet, or it is none. */
bool clickhouse_row_header(struct byte_reader *r, struct clickhouse_header *ret);

/* A row of the table `blocks`, whole. */
struct clickhouse_block {
	const struct message_id *device, *run;
	struct clickhouse_header header; /* with block.len */
	uint64_t key_tick;
	const uint8_t *bytes;
};

#define CLICKHOUSE_BLOCK_ROOM 256U /* beside its bytes */
#define CLICKHOUSE_BLOCK_COLUMNS "day, device, run, " CLICKHOUSE_HEADER_COLUMNS ", key_tick, bytes"

/* There is room. Returns where its bytes lie. */
size_t clickhouse_rows_block(struct clickhouse_rows *r, const struct clickhouse_block *b);

#endif
