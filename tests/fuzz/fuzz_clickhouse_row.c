/* SPDX-License-Identifier: MIT */
/* clickhouse_row: any bytes as rows that a server answered: headers of blocks, which are taken into a
 * state and read back as they were written; names and strings. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/clickhouse/clickhouse_row.h"
#include "store/run_state.h"

/* What was read is written as it was read. */
static void write_again(const struct clickhouse_header *h)
{
	static const struct message_id id;
	const struct clickhouse_block row = {
		.device = &id, .run = &id, .header = *h, .bytes = (const uint8_t *)"block"
	};
	struct clickhouse_block short_row = row;
	struct clickhouse_rows rows = { 0 };
	struct clickhouse_header again;
	struct byte_reader r;
	uint32_t i;
	int status;

	short_row.header.block.len = 5;
	status = clickhouse_rows_reserve(&rows, CLICKHOUSE_BLOCK_ROOM + 5);
	assert(status == 0 || status == -ENOMEM);
	if (status < 0)
		return;
	assert(clickhouse_rows_block(&rows, &short_row) == rows.len - 5);
	assert(rows.len <= CLICKHOUSE_BLOCK_ROOM + 5);
	reader_init(&r, rows.data + 34, rows.len - 34);
	assert(clickhouse_row_header(&r, &again));
	assert(again.block.stream == h->block.stream && again.block.sequence == h->block.sequence &&
	       again.block.events == h->block.events && again.came_ns == h->came_ns &&
	       again.block.before == h->block.before && again.has_guests == h->has_guests);
	for (i = 0; h->block.flags & BLOCK_LOST && i < LOSS_CAUSES; i++)
		assert(again.block.lost[i] == h->block.lost[i]);
	clickhouse_rows_done(&rows);
}

static void read_headers(const uint8_t *data, size_t size)
{
	struct clickhouse_header h;
	struct run_state state;
	struct byte_reader r;
	int status = 0;

	run_state_init(&state);
	reader_init(&r, data, size);
	while (clickhouse_row_header(&r, &h)) {
		write_again(&h);
		if (run_state_check(&state, &h.block, NULL) == STORE_TAKEN)
			status = run_state_take(&state, &h.block, h.came_ns, NULL);
		assert(status == 0 || status == -ENOMEM);
	}
	run_state_done(&state);
}

static void read_names(const uint8_t *data, size_t size)
{
	char name[STORE_NAME_MAX];
	const uint8_t *text;
	struct byte_reader r;
	size_t len;

	reader_init(&r, data, size);
	while (!r.bad) {
		clickhouse_row_id(&r);
		clickhouse_row_name(&r, name);
		assert(memchr(name, 0, sizeof(name)));
		text = clickhouse_row_string(&r, &len);
		assert(!text || len <= size);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_headers(data, size);
	read_names(data, size);
	return 0;
}
