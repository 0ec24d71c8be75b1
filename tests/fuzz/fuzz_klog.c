/* SPDX-License-Identifier: MIT */
/* klog: any bytes as a log file: recovered as a last one and as a full one, and its index made. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "store/log_index.h"
#include "wire/crc32c.h"

#define RUNS_MAX 4U

/* A run's state can be copied: the copy is the same bytes. */
static void copy_state(const struct run_state *from)
{
	size_t room = RUN_STATE_ROOM(from->n), len;
	uint8_t *a = malloc(room), *b = malloc(room);
	struct run_state to;

	if (a && b && run_state_dup(&to, from) == 0) {
		len = run_state_encode(from, a);
		assert(len <= room && run_state_encode(&to, b) == len && !memcmp(a, b, len));
		run_state_done(&to);
	}
	free(a);
	free(b);
}

/* What is understood of an end is written again, and means the same then. */
static void copy_end(const uint8_t *data, size_t size)
{
	struct message_stream_end row, row_again;
	struct message_end m, again;
	uint8_t *bytes;
	size_t len;

	if (end_decode(&m, data, size) != WIRE_OK || log_end_encode(&m, &bytes, &len) < 0)
		return;
	assert(end_decode(&again, bytes, len) == WIRE_OK && again.n_rows == m.n_rows);
	while (end_next(&m, &row)) {
		assert(end_next(&again, &row_again));
		assert(row.stream == row_again.stream && row.events == row_again.events &&
		       row.next_sequence == row_again.next_sequence);
	}
	free(bytes);
}

static void scan(const uint8_t *data, size_t size, bool to_the_end)
{
	const struct log_scan s = {
		.data = data, .len = size, .to_the_end = to_the_end, .number = 1
	};
	struct error e = ERROR_INIT;
	struct log_index *x;
	struct log_view *v;
	size_t i;
	int r;

	if (log_view_scan(&v, &s, &e) < 0)
		return;
	assert(v->size <= size || v->size == LOG_HEAD_LEN);
	for (i = 0; i < v->n_runs && i < RUNS_MAX; i++)
		copy_state(&v->runs[i]->state);
	r = log_index_new(&x, v);
	assert(r == 0 || r == -ENOMEM);
	if (r == 0) {
		assert(x->n_runs == v->n_runs && x->n_losses == v->n_losses &&
		       x->n_rows == v->n_blocks);
		log_index_free(x);
	}
	log_view_free(v);
}

/* Checksums keep a fuzzer out of all that lies behind them: so they are made right. */
static void repair(uint8_t *data, size_t size)
{
	struct log_record r;
	struct log_head h = { .number = 1, .next_run = 1 };
	size_t at = LOG_HEAD_LEN;
	struct block b;

	if (size < LOG_HEAD_LEN)
		return;
	log_head_encode(data, &h);
	for (; at + LOG_RECORD_HEAD <= size; at += r.len) {
		data[at] = LOG_RECORD_MAGIC0;
		data[at + 1] = LOG_RECORD_MAGIC1;
		data[at + 2] = (uint8_t)(1 + data[at + 2] % (LOG_KINDS - 1));
		data[at + 3] = 0;
		put_le32(data + at + 12, get_le32(data + at + 12) % (uint32_t)(size - at));
		r.kind = data[at + 2];
		r.run = get_le32(data + at + 8) % 4;
		r.body = data + at + LOG_RECORD_HEAD;
		r.body_len = get_le32(data + at + 12);
		r.time_ns = get_le64(data + at + 16);
		r.len = LOG_RECORD_HEAD + r.body_len;
		if (r.len > size - at)
			return;
		if (log_kind_is_block(r.kind) && block_peek(r.body, r.body_len, &b) == WIRE_OK)
			put_le32(data + at + LOG_RECORD_HEAD + 4,
				 crc32c_add(crc32c_add(0, r.body, 4), r.body + 8, b.len - 8));
		log_record_encode(data + at, &r);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	copy_end(data, size);
	scan(data, size, false);
	scan(data, size, true);
	memcpy(copy, data, size);
	repair(copy, size);
	scan(copy, size, false);
	scan(copy, size, true);
	free(copy);
	return 0;
}
