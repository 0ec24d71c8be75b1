/* SPDX-License-Identifier: MIT */
/* clickhouse_row: see clickhouse_row.h. */
#include "store/clickhouse/clickhouse_row.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define ROOM_LEAST (64U * 1024)
#define DAY_NS (86400ULL * CLOCK_NS_PER_S)

void clickhouse_rows_done(struct clickhouse_rows *r)
{
	free(r->data);
	*r = (struct clickhouse_rows){ 0 };
}

int clickhouse_rows_reserve(struct clickhouse_rows *r, size_t n)
{
	size_t wanted = r->room ? r->room : ROOM_LEAST;
	uint8_t *grown;

	if (n <= r->room - r->len)
		return 0;
	while (wanted - r->len < n)
		wanted *= 2;
	grown = realloc(r->data, wanted);
	if (!grown)
		return -ENOMEM;
	r->data = grown;
	r->room = wanted;
	return 0;
}

void clickhouse_rows_put(struct clickhouse_rows *r, const void *bytes, size_t n)
{
	if (n)
		memcpy(r->data + r->len, bytes, n);
	r->len += n;
}

void clickhouse_rows_u8(struct clickhouse_rows *r, uint8_t v)
{
	r->data[r->len++] = v;
}

void clickhouse_rows_u32(struct clickhouse_rows *r, uint32_t v)
{
	put_le32(r->data + r->len, v);
	r->len += 4;
}

void clickhouse_rows_u64(struct clickhouse_rows *r, uint64_t v)
{
	put_le64(r->data + r->len, v);
	r->len += 8;
}

void clickhouse_rows_day(struct clickhouse_rows *r, uint64_t real_ns)
{
	uint64_t day = real_ns / DAY_NS;

	clickhouse_rows_u8(r, (uint8_t)day);
	clickhouse_rows_u8(r, (uint8_t)(day >> 8));
}

void clickhouse_rows_string(struct clickhouse_rows *r, const void *bytes, size_t n)
{
	r->len = (size_t)(varint_put(r->data + r->len, n) - r->data);
	clickhouse_rows_put(r, bytes, n);
}

uint8_t clickhouse_row_u8(struct byte_reader *r)
{
	const uint8_t *p = reader_bytes(r, 1);

	return p ? *p : 0;
}

uint32_t clickhouse_row_u32(struct byte_reader *r)
{
	const uint8_t *p = reader_bytes(r, 4);

	return p ? get_le32(p) : 0;
}

uint64_t clickhouse_row_u64(struct byte_reader *r)
{
	const uint8_t *p = reader_bytes(r, 8);

	return p ? get_le64(p) : 0;
}

struct message_id clickhouse_row_id(struct byte_reader *r)
{
	const uint8_t *p = reader_bytes(r, 16);
	struct message_id id = { { 0 } };

	if (p)
		memcpy(id.bytes, p, 16);
	return id;
}

const uint8_t *clickhouse_row_string(struct byte_reader *r, size_t *ret_len)
{
	uint64_t len = reader_varint(r);

	*ret_len = (size_t)len;
	return reader_bytes(r, len);
}

void clickhouse_row_name(struct byte_reader *r, char out[STORE_NAME_MAX])
{
	size_t len;
	const uint8_t *p = clickhouse_row_string(r, &len);

	len = len < STORE_NAME_MAX ? len : STORE_NAME_MAX - 1;
	if (p)
		memcpy(out, p, len);
	out[p ? len : 0] = 0;
}

bool clickhouse_row_header(struct byte_reader *r, struct clickhouse_header *ret)
{
	struct block *b = &ret->block;
	uint64_t n, i;

	memset(ret, 0, sizeof(*ret));
	b->stream = clickhouse_row_u32(r);
	b->sequence = clickhouse_row_u64(r);
	ret->came_ns = clickhouse_row_u64(r);
	b->codec = clickhouse_row_u8(r);
	b->flags = clickhouse_row_u8(r);
	b->first_tick = clickhouse_row_u64(r);
	b->before = clickhouse_row_u64(r);
	b->ticks = clickhouse_row_u64(r);
	b->events = clickhouse_row_u32(r);
	n = reader_varint(r);
	if (n > LOSS_CAUSES) {
		r->bad = true;
		return false;
	}
	for (i = 0; i < n; i++)
		b->lost[i] = clickhouse_row_u64(r);
	ret->has_guests = clickhouse_row_u8(r);
	b->len = clickhouse_row_u32(r);
	return !r->bad;
}

static void put_header(struct clickhouse_rows *r, const struct clickhouse_header *h)
{
	const struct block *b = &h->block;
	uint32_t n = b->flags & BLOCK_LOST ? LOSS_CAUSES : 0, i;

	clickhouse_rows_u32(r, b->stream);
	clickhouse_rows_u64(r, b->sequence);
	clickhouse_rows_u64(r, h->came_ns);
	clickhouse_rows_u8(r, b->codec);
	clickhouse_rows_u8(r, b->flags);
	clickhouse_rows_u64(r, b->first_tick);
	clickhouse_rows_u64(r, b->before);
	clickhouse_rows_u64(r, b->ticks);
	clickhouse_rows_u32(r, b->events);
	clickhouse_rows_u8(r, (uint8_t)n);
	for (i = 0; i < n; i++)
		clickhouse_rows_u64(r, b->lost[i]);
	clickhouse_rows_u8(r, h->has_guests);
	clickhouse_rows_u32(r, b->len);
}

size_t clickhouse_rows_block(struct clickhouse_rows *r, const struct clickhouse_block *b)
{
	clickhouse_rows_day(r, b->header.came_ns);
	clickhouse_rows_put(r, b->device->bytes, 16);
	clickhouse_rows_put(r, b->run->bytes, 16);
	put_header(r, &b->header);
	clickhouse_rows_u64(r, b->key_tick);
	clickhouse_rows_string(r, b->bytes, b->header.block.len);
	return r->len - b->header.block.len;
}
