/* SPDX-License-Identifier: MIT */
/* func_ksk: any bytes as a file with function streams, its checksums made right. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "as_file.h"
#include "trace/func_ksk.h"
#include "wire/crc32c.h"
#include "wire/varint.h"

#define ITEMS_MAX 2000U

/* Checksums keep a fuzzer out of all that lies behind them. */
static void repair(uint8_t *data, size_t size)
{
	size_t at = 16;
	struct block b;
	uint32_t crc;

	while (at < size) {
		if (block_peek(data + at, size - at, &b) != WIRE_OK) {
			at++;
			continue;
		}
		crc = crc32c(0, data + at, 4);
		put_le32(data + at + 4, crc32c(crc, data + at + 8, b.len - 8));
		at += b.len;
	}
}

static void read_some(struct func_source *s)
{
	struct error e = ERROR_INIT;
	struct func_item item;
	uint32_t n;
	int r = 1;

	for (n = 0; n < ITEMS_MAX && (r = s->ops->next(s, &item, &e)) == 1; n++) {
		assert(item.thread < s->n_threads);
		assert(s->threads[item.thread].process < s->n_processes);
	}
	assert(r >= 0 || r == -ENOMEM);
	func_source_free(s);
}

/* With the scheduler's side, and by its calls alone. */
static void read_file(const uint8_t *data, size_t size)
{
	struct error e = ERROR_INIT;
	struct func_source *s;
	struct as_file f;

	as_file_init(&f, data, size);
	if (func_ksk_open_joined(f.path, &s, &e) == 0)
		read_some(s);
	as_file_done(&f);
	if (func_ksk_open_memory(data, size, &s, &e) == 0)
		read_some(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	read_file(data, size);
	memcpy(copy, data, size);
	repair(copy, size);
	read_file(copy, size);
	free(copy);
	return 0;
}
