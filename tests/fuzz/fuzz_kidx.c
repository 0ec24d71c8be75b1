/* SPDX-License-Identifier: MIT */
/* kidx: any bytes as an index, and as its file: everything in it is looked at, also when its checksum is right. */
#include <assert.h>
#include <stdlib.h>

#include "as_file.h"
#include "store/log_index.h"
#include "wire/crc32c.h"

static uint64_t look_at_run(const struct log_index *x, const struct index_run *run)
{
	struct index_stream s;
	struct run_state state;
	uint64_t sum = 0;
	uint32_t i, k;

	for (i = 0; i < run->n_streams; i++) {
		log_index_stream_at(x, run, i, &s);
		for (k = 0; k < s.n && k < 1000; k++)
			sum += index_row(&s, k);
		for (k = 0; k < s.n_keys && k < 1000; k++)
			sum += index_key(&s, k).tick;
		log_index_stream(x, run, s.stream, &s);
	}
	if (run_state_decode(&state, run->in, run->in_len) == 0)
		run_state_done(&state);
	if (run_state_decode(&state, run->out, run->out_len) == 0)
		run_state_done(&state);
	return sum;
}

static void look(uint8_t *bytes, size_t size)
{
	struct store_device d;
	struct store_loss l;
	struct log_index *x;
	struct index_run run;
	uint32_t i;

	if (log_index_open_memory(&x, bytes, size) < 0)
		return;
	for (i = 0; i < x->n_runs; i++) {
		log_index_run_at(x, i, &run);
		look_at_run(x, &run);
		log_index_run(x, run.number, &run);
	}
	for (i = 0; i < x->n_losses; i++) {
		log_index_loss_at(x, i, &l);
		assert(l.cause < LOSS_CAUSES);
	}
	for (i = 0; i < x->n_devices; i++)
		log_index_device_at(x, i, &d);
	log_index_free(x);
}

static void open_path(const uint8_t *data, size_t size)
{
	struct log_index *x;
	struct as_file f;

	as_file_init(&f, data, size);
	if (log_index_open(&x, AT_FDCWD, f.path, false) == 0)
		log_index_free(x);
	as_file_done(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	open_path(data, size);
	look(copy, size);
	if (size < INDEX_HEAD_LEN)
		return 0;
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	memcpy(copy, INDEX_MAGIC, 8);
	copy[8] = INDEX_VERSION;
	put_le32(copy + 12, crc32c_add(0, copy + 16, size - 16));
	look(copy, size);
	return 0;
}
