/* SPDX-License-Identifier: MIT */
/*
 * vectors_ksk: the test vectors of metadata (docs/format/wire.md, section 7) and of a whole file
 * (docs/format/ksk.md), byte for byte in both directions. The file has the events of sched.txt on
 * CPU 1, a loss between two of them, which lies between their ticks, and two events of CPU 0, the first of
 * which happened after one of CPU 1 with the same tick.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "convert/formats.h"
#include "convert/sink_ksk.h"
#include "sample.h"
#include "tools/vector.h"
#include "trace/info_meta.h"
#include "trace/ksk_source.h"

#define ROOM 65536U
#define ITEMS_MAX 64U

static struct vector vector;
static uint8_t made[ROOM], wanted[ROOM];

static const struct trace_task tasks[] = {
	{ 1, 1, "init" }, { 2, -1, "kthreadd" }, { 7, -1, "kworker/0:1" }, { 41, 41, "shell" },
	{ 42, 41, "ls" }, { 43, 41, "shell" },	 { 45, 41, "shell" },
};
#define N_TASKS (sizeof(tasks) / sizeof(tasks[0]))
static const uint32_t order_cpus[] = { 1, 0 };
#define ORDER_TICK 1004000

static void fill_info(struct trace_info *i)
{
	size_t t;

	assert_int_equal(info_set(&i->device, "board", 5), 0);
	assert_int_equal(info_set(&i->kernel, "6.18.0", 6), 0);
	assert_int_equal(info_set(&i->machine, "aarch64", 7), 0);
	assert_int_equal(info_set(&i->origin, "vector", 6), 0);
	i->cpus = 2;
	strcpy(i->clock.name, "local");
	i->clock.mult = 1342177280; /* ticks of 20 ns */
	i->clock.shift = 26;
	i->clock.base_ns = 1000000000;
	i->clock.has_realtime = true;
	i->clock.realtime_off_ns = -5;
	i->clock.realtime_err_ns = 1000;
	dialect_from_release(&i->dialect, "5.10.0");
	i->dialect.kinds = (1U << SCHED_KINDS) - 1;
	for (t = 0; t < N_TASKS; t++)
		assert_int_equal(info_add_task(i, tasks[t].pid, tasks[t].tgid, tasks[t].comm), 0);
}

static void expect_payload(size_t made_len)
{
	size_t len = vector_bytes(&vector, wanted, ROOM);

	assert_int_equal(made_len, len);
	assert_memory_equal(made, wanted, len);
}

static void expect_info(const struct trace_info *a, const struct trace_info *b)
{
	assert_string_equal(a->device, b->device);
	assert_string_equal(a->kernel, b->kernel);
	assert_string_equal(a->machine, b->machine);
	assert_string_equal(a->origin, b->origin);
	assert_int_equal(a->cpus, b->cpus);
	assert_string_equal(a->clock.name, b->clock.name);
	assert_int_equal(a->clock.mult, b->clock.mult);
	assert_int_equal(a->clock.shift, b->clock.shift);
	assert_int_equal(a->clock.base_ns, b->clock.base_ns);
	assert_int_equal(a->clock.print_digits, b->clock.print_digits);
	assert_int_equal(a->clock.realtime_off_ns, b->clock.realtime_off_ns);
	assert_int_equal(a->clock.realtime_err_ns, b->clock.realtime_err_ns);
	assert_int_equal(a->dialect.features, b->dialect.features);
	assert_int_equal(a->dialect.kinds, b->dialect.kinds);
	assert_int_equal(a->dialect.state_mask, b->dialect.state_mask);
	assert_int_equal(a->dialect.state_preempt, b->dialect.state_preempt);
	assert_memory_equal(a->dialect.state_letters, b->dialect.state_letters, DIALECT_STATE_BITS);
	assert_int_equal(a->skipped, b->skipped);
	assert_int_equal(a->agent_tgid, b->agent_tgid);
	assert_int_equal(a->n_tasks, b->n_tasks);
	assert_memory_equal(a->tasks, b->tasks, a->n_tasks * sizeof(*a->tasks));
}

static void test_meta(void **state)
{
	struct trace_info info, back;
	struct trace_orders orders = { 0 }, orders_back = { 0 };
	size_t from = 0, from_orders = 0, len, payloads = 0;

	(void)state;
	assert_int_equal(info_init(&info), 0);
	assert_int_equal(info_init(&back), 0);
	fill_info(&info);
	info.skipped = 300;
	info.agent_tgid = 41;
	assert_int_equal(orders_add(&orders, ORDER_TICK, order_cpus, 2), 0);
	assert_int_equal(orders_add(&orders, ORDER_TICK + 5, order_cpus, 1), 0);

	vector_open(&vector, "meta.hex");
	expect_payload(info_encode(&info, made, ROOM));
	expect_payload(info_encode_tasks(&info, &from, made, ROOM));
	expect_payload(info_encode_orders(&orders, &from_orders, made, ROOM));

	vector_open(&vector, "meta.hex");
	while ((len = vector_bytes(&vector, wanted, ROOM))) {
		assert_int_equal(info_decode(&back, &orders_back, wanted, len), 0);
		payloads++;
	}
	assert_int_equal(payloads, 3);
	expect_info(&info, &back);
	assert_int_equal(orders_back.n, 2);
	assert_memory_equal(orders_back.rows, orders.rows, 2 * sizeof(*orders.rows));
	assert_memory_equal(orders_back.cpus, orders.cpus, 3 * sizeof(*orders.cpus));
	orders_done(&orders);
	orders_done(&orders_back);
	info_done(&info);
	info_done(&back);
}

static struct trace_item items[ITEMS_MAX];

static const struct trace_item other_cpu[] = {
	SAMPLE_EVENT(0, 1004000, SCHED_SWITCH, 0, .flags = 1, .preempt_count = 2,
		     .task = { 0, 120, "swapper/0" }, .other = { 7, 120, "kworker/0:1" }),
	SAMPLE_EVENT(0, 1004500, SCHED_SWITCH, 7, .flags = 1, .preempt_count = 2, .state = 0x80,
		     .task = { 7, 120, "kworker/0:1" }, .other = { 0, 120, "swapper/0" }),
};
static const struct trace_item loss = SAMPLE_LOSS(1, 1003990, 1005000, 3, LOSS_RING);

/* The file's items in the order of time. */
static size_t make_items(void)
{
	size_t n = 0;
	unsigned payloads = 0;

	vector_open(&vector, "sched.txt");
	while (vector_line(&vector)) {
		if (!strcmp(vector.line, "payload")) {
			assert_true(vector_bytes(&vector, wanted, ROOM) > 0);
			if (payloads++ == 0)
				items[n++] = other_cpu[0];
		} else if (vector_event(&vector, vector.line, &items[n].event)) {
			items[n].type = ITEM_EVENT;
			items[n++].cpu = 1;
		}
		if (n && items[n - 1].type == ITEM_EVENT && items[n - 1].event.tick == 1003990) {
			items[n++] = loss;
			items[n++] = other_cpu[1];
		}
	}
	return n;
}

static size_t read_all(const char *path, uint8_t *out)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(out, 1, ROOM, f);
	fclose(f);
	return n;
}

static void pump(struct trace_source *from, struct trace_sink *to)
{
	struct error e = ERROR_INIT;
	struct trace_item item;
	int r;

	assert_int_equal(to->ops->begin(to, &from->info, &e), 0);
	while ((r = from->ops->next(from, &item, &e)) > 0)
		assert_int_equal(to->ops->item(to, &item, &e), 0);
	assert_int_equal(r, 0);
	assert_int_equal(to->ops->end(to, &e), 0);
	to->ops->free(to);
}

static size_t vector_file(const char *name, uint8_t *out)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/../vectors/%s", KISEKI_TEST_DATA, name);
	return read_all(path, out);
}

static void test_write(void **state)
{
	char path[] = "/tmp/kiseki-vectors-XXXXXX";
	struct trace_source *source = array_source_new(items, make_items());
	struct trace_sink *sink;
	struct error e = ERROR_INIT;
	int fd = mkstemp(path);
	size_t len;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	fill_info(&source->info);
	assert_int_equal(sink_ksk_new(&sink, path, NULL, &e), 0);
	pump(source, sink);
	source_free(source);
	len = read_all(path, made);
	unlink(path);
	assert_int_equal(len, vector_file("small.ksk", wanted));
	assert_memory_equal(made, wanted, len);
	vector_open(&vector, "ksk.hex");
	expect_payload(len);
}

static void test_read(void **state)
{
	char path[] = "/tmp/kiseki-vectors-XXXXXX";
	static uint8_t file[ROOM];
	struct trace_source *source;
	struct trace_sink *sink;
	struct error e = ERROR_INIT;
	int fd = mkstemp(path);
	size_t len;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	len = vector_file("small.ksk", file);
	assert_int_equal(source_ksk_open_memory(&source, file, len, &e), 0);
	assert_int_equal(sink_ndjson_new(&sink, path, &e), 0);
	pump(source, sink);
	source_free(source);
	len = read_all(path, made);
	unlink(path);
	assert_int_equal(len, vector_file("small.ndjson", wanted));
	assert_memory_equal(made, wanted, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_meta),
		cmocka_unit_test(test_write),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
