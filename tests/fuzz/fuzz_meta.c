/* SPDX-License-Identifier: MIT */
/* meta: any bytes as metadata; what is understood must come back from the encoder the same. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/info_meta.h"

#define ROOM 65536U

static void check_tasks(const struct trace_info *in)
{
	static uint8_t out[ROOM];
	struct trace_info back;
	size_t from = 0, len, i;

	assert(info_init(&back) == 0);
	len = info_encode(in, out, ROOM);
	assert(len && info_decode(&back, NULL, out, len) == 0);
	assert(back.cpus == in->cpus && back.skipped == in->skipped &&
	       !strcmp(back.device, in->device) && !strcmp(back.origin, in->origin) &&
	       !memcmp(&back.dialect, &in->dialect, sizeof(back.dialect)));
	while ((len = info_encode_tasks(in, &from, out, ROOM)))
		assert(info_decode(&back, NULL, out, len) == 0);
	assert(back.n_tasks == in->n_tasks);
	for (i = 0; i < in->n_tasks; i++)
		assert(!memcmp(&back.tasks[i], &in->tasks[i], sizeof(in->tasks[i])));
	info_done(&back);
}

static void check_orders(const struct trace_orders *in)
{
	static uint8_t out[ROOM];
	struct trace_orders back = { .n = 0 };
	struct trace_info info;
	size_t from = 0, len, i;

	assert(info_init(&info) == 0);
	while ((len = info_encode_orders(in, &from, out, ROOM)))
		assert(info_decode(&info, &back, out, len) == 0);
	assert(back.n == in->n && back.n_cpus == in->n_cpus);
	for (i = 0; i < in->n; i++)
		assert(back.rows[i].tick == in->rows[i].tick && back.rows[i].n == in->rows[i].n);
	for (i = 0; i < in->n_cpus; i++)
		assert(back.cpus[i] == in->cpus[i]);
	orders_done(&back);
	info_done(&info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_orders orders = { .n = 0 };
	struct trace_info info;

	assert(info_init(&info) == 0);
	if (info_decode(&info, &orders, data, size) == 0) {
		check_tasks(&info);
		check_orders(&orders);
	}
	orders_done(&orders);
	info_done(&info);
	return 0;
}
