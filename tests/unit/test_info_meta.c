/* SPDX-License-Identifier: MIT */
/* info_meta: what a trace says about itself comes back whole, over as many payloads as it takes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/sched_random.h"
#include "trace/info_meta.h"
#include "wire/meta.h"

#define ROOM 65536U

static uint8_t payload[ROOM];
static struct sched_random numbers;

static void fill_info(struct trace_info *i)
{
	char name[64];

	assert_int_equal(info_init(i), 0);
	snprintf(name, sizeof(name), "device-%u", sched_random_below(&numbers, 1000));
	info_set(&i->device, name, strlen(name));
	info_set(&i->kernel, "6.1.0-rt", 8);
	info_set(&i->machine, "armv7l", 6);
	info_set(&i->origin, "trace.dat v7", 12);
	i->cpus = 1 + sched_random_below(&numbers, TRACE_CPUS_MAX);
	i->skipped = sched_random_bits(&numbers);
	i->agent_tgid = (int32_t)(sched_random_bits(&numbers) & INT32_MAX);
	memcpy(i->clock.name, "a-clock-name-of-23-byte", TRACE_CLOCK_NAME_LEN - 1);
	i->clock.mult = (uint32_t)sched_random_bits(&numbers) | 1;
	i->clock.shift = sched_random_below(&numbers, 64);
	i->clock.base_ns = sched_random_bits(&numbers);
	i->clock.print_digits = 6;
	i->clock.has_realtime = true;
	i->clock.realtime_off_ns = (int64_t)sched_random_bits(&numbers);
	i->clock.realtime_err_ns = sched_random_bits(&numbers);
	i->clock.is_measured = sched_random_bits(&numbers) & 1;
	i->clock.has_own = i->clock.is_measured && sched_random_bits(&numbers) & 1;
	i->clock.own_off_ns = i->clock.has_own ? (int64_t)sched_random_bits(&numbers) : 0;
	i->dialect.features = (uint32_t)sched_random_bits(&numbers);
	i->dialect.kinds = 0x1ff;
	i->dialect.long_size = 4;
	i->dialect.flag_columns = 5;
	i->dialect.pid_width = 7;
	i->dialect.state_mask = sched_random_bits(&numbers);
	i->dialect.state_preempt = sched_random_bits(&numbers);
	memcpy(i->dialect.state_letters, "RSDTtXZPI\0\0\0\0\0\0N", DIALECT_STATE_BITS);
}

/* All ways to write a tgid and a name: unknown, its own, as before, another; as before, earlier,
 * new, and more names than an item can refer back to. */
static void fill_tasks(struct trace_info *i, uint32_t n)
{
	char comm[SCHED_COMM_LEN], text[32];
	int32_t pid = -3, tgid = 0;
	uint32_t k;

	memset(comm, 0, sizeof(comm));
	for (k = 0; k < n; k++) {
		pid += 1 + (int32_t)sched_random_below(&numbers,
						       sched_random_below(&numbers, 4) ? 20 : 9000);
		switch (sched_random_below(&numbers, 4)) {
		case 0:
			tgid = -1;
			break;
		case 1:
			tgid = pid < 0 ? -1 : pid;
			break;
		case 2:
			tgid = (int32_t)sched_random_below(&numbers, INT32_MAX);
			break;
		default:
			break;
		}
		if (sched_random_below(&numbers, 2)) {
			snprintf(text, sizeof(text), "%.*s%u",
				 (int)sched_random_below(&numbers, 12), "worker-\xc3\xa4-names",
				 sched_random_below(&numbers, 900));
			sched_comm_set(comm, text, sizeof(text));
			if (!sched_random_below(&numbers, 9))
				memset(comm, 'x', sizeof(comm)); /* all 16 bytes, no NUL */
			if (!sched_random_below(&numbers, 9))
				memset(comm, 0, sizeof(comm));
		}
		assert_int_equal(info_add_task(i, pid, tgid, comm), 0);
	}
}

static void expect_info(const struct trace_info *a, const struct trace_info *b)
{
	size_t k;

	assert_string_equal(a->device, b->device);
	assert_string_equal(a->kernel, b->kernel);
	assert_string_equal(a->machine, b->machine);
	assert_string_equal(a->origin, b->origin);
	assert_int_equal(a->cpus, b->cpus);
	assert_true(a->skipped == b->skipped);
	assert_int_equal(a->agent_tgid, b->agent_tgid);
	assert_string_equal(a->clock.name, b->clock.name);
	assert_int_equal(a->clock.mult, b->clock.mult);
	assert_int_equal(a->clock.shift, b->clock.shift);
	assert_true(a->clock.base_ns == b->clock.base_ns);
	assert_int_equal(a->clock.print_digits, b->clock.print_digits);
	assert_int_equal(a->clock.has_realtime, b->clock.has_realtime);
	assert_true(a->clock.realtime_off_ns == b->clock.realtime_off_ns);
	assert_true(a->clock.realtime_err_ns == b->clock.realtime_err_ns);
	assert_int_equal(a->clock.is_measured, b->clock.is_measured);
	assert_int_equal(a->clock.has_own, b->clock.has_own);
	assert_true(a->clock.own_off_ns == b->clock.own_off_ns);
	assert_int_equal(a->dialect.features, b->dialect.features);
	assert_int_equal(a->dialect.kinds, b->dialect.kinds);
	assert_int_equal(a->dialect.long_size, b->dialect.long_size);
	assert_int_equal(a->dialect.flag_columns, b->dialect.flag_columns);
	assert_int_equal(a->dialect.pid_width, b->dialect.pid_width);
	assert_true(a->dialect.state_mask == b->dialect.state_mask);
	assert_true(a->dialect.state_preempt == b->dialect.state_preempt);
	assert_memory_equal(a->dialect.state_letters, b->dialect.state_letters, DIALECT_STATE_BITS);
	assert_int_equal(a->n_tasks, b->n_tasks);
	for (k = 0; k < a->n_tasks; k++)
		assert_memory_equal(&a->tasks[k], &b->tasks[k], sizeof(a->tasks[k]));
}

static void test_round_trip(void **state)
{
	struct trace_info in, out;
	size_t len, from, round, payloads;

	(void)state;
	for (round = 0; round < 30; round++) {
		sched_random_init(&numbers, round, SCHED_RANDOM_REAL);
		fill_info(&in);
		fill_tasks(&in, sched_random_below(&numbers, round % 3 ? 100 : 30000));
		assert_int_equal(info_init(&out), 0);
		len = info_encode(&in, payload, ROOM);
		assert_true(len > 0 && len < 4096);
		assert_int_equal(info_decode(&out, NULL, payload, len), 0);
		for (from = payloads = 0; (len = info_encode_tasks(&in, &from, payload, ROOM));) {
			assert_true(len <= ROOM);
			assert_int_equal(info_decode(&out, NULL, payload, len), 0);
			payloads++;
		}
		assert_true(in.n_tasks < 20000 || payloads > 1);
		expect_info(&in, &out);
		info_done(&in);
		info_done(&out);
	}
}

static void test_orders(void **state)
{
	struct trace_orders in = { .n = 0 }, out = { .n = 0 };
	struct trace_info info;
	uint32_t cpus[TRACE_ORDER_CPUS_MAX + 1], i, k, n;
	uint64_t tick = 0;
	size_t len, from = 0;

	(void)state;
	sched_random_init(&numbers, 5, SCHED_RANDOM_REAL);
	assert_int_equal(info_init(&info), 0);
	memset(cpus, 0, sizeof(cpus));
	for (i = 0; i < 20000; i++) {
		n = 1 + sched_random_below(&numbers, i % 100 ? 5 : TRACE_ORDER_CPUS_MAX);
		for (k = 0; k < n; k++)
			cpus[k] = sched_random_below(&numbers, TRACE_CPUS_MAX);
		tick += sched_random_bits(&numbers) >> (20 + sched_random_below(&numbers, 44));
		assert_int_equal(orders_add(&in, tick, cpus, n), 0);
	}
	assert_int_equal(orders_add(&in, tick, cpus, 0), -E2BIG);
	assert_int_equal(orders_add(&in, tick, cpus, TRACE_ORDER_CPUS_MAX + 1), -E2BIG);
	while ((len = info_encode_orders(&in, &from, payload, ROOM)))
		assert_int_equal(info_decode(&info, &out, payload, len), 0);
	assert_int_equal(in.n, out.n);
	assert_int_equal(in.n_cpus, out.n_cpus);
	for (i = 0; i < in.n; i++) {
		assert_true(in.rows[i].tick == out.rows[i].tick);
		assert_int_equal(in.rows[i].n, out.rows[i].n);
	}
	assert_memory_equal(in.cpus, out.cpus, in.n_cpus * sizeof(*in.cpus));
	orders_done(&in);
	orders_done(&out);
	info_done(&info);
}

/* More than a trace may have is refused, and what there is stays. */
static void test_ceiling(void **state)
{
	static const uint32_t cpus[TRACE_ORDER_CPUS_MAX];
	struct trace_orders o = { .n = 0 };
	struct trace_info i;
	size_t n;

	(void)state;
	for (n = 0; n < TRACE_ORDERS_MAX / TRACE_ORDER_CPUS_MAX; n++)
		assert_int_equal(orders_add(&o, n, cpus, TRACE_ORDER_CPUS_MAX), 0);
	assert_int_equal(orders_add(&o, n, cpus, 1), -E2BIG);
	assert_int_equal(o.n, n);
	assert_int_equal(o.n_cpus, TRACE_ORDERS_MAX);
	orders_done(&o);
	assert_int_equal(info_init(&i), 0);
	assert_int_equal(info_encode(&i, payload, 1000), 0);
	info_done(&i);
}

static int decode(const char *bytes, size_t len)
{
	struct trace_orders orders = { .n = 0 };
	struct trace_info i;
	int r;

	assert_int_equal(info_init(&i), 0);
	r = info_decode(&i, &orders, (const uint8_t *)bytes, len);
	if (r == 0 && i.n_tasks)
		r = (int)i.n_tasks;
	info_done(&i);
	orders_done(&orders);
	return r;
}

#define DECODE(text) decode(text, sizeof(text) - 1)

static void test_refused(void **state)
{
	(void)state;
	assert_int_equal(DECODE("\x70\x03xyz"), 0); /* an unknown item is skipped */
	assert_int_equal(DECODE("\x70\x03xyz\x08\x02\x14\x02"), -EBADMSG); /* the name is cut */
	assert_int_equal(DECODE("\x70\x03xyz\x08\x03\x16\x01q"), 1);
	assert_int_equal(DECODE("\x01"), -EBADMSG); /* no length */
	assert_int_equal(DECODE("\x01\x05"
				"abcd"),
			 -EBADMSG);				     /* cut within the item */
	assert_int_equal(DECODE("\x05\x00"), -EBADMSG);		     /* no number in it */
	assert_int_equal(DECODE("\x05\x02\x81\x20"), -EBADMSG);	     /* 4097 CPUs */
	assert_int_equal(DECODE("\x0b\x05\xff\xff\xff\xff\x07"), 0); /* the last thread group */
	assert_int_equal(DECODE("\x0b\x05\x80\x80\x80\x80\x08"), -EBADMSG);
	assert_int_equal(DECODE("\x0b\x00"), -EBADMSG);
	assert_int_equal(DECODE("\x08\x02\x11\x00"), -EBADMSG);		/* a name never given */
	assert_int_equal(DECODE("\x08\x02\x13\x00"), -EBADMSG);		/* name mode 3 */
	assert_int_equal(DECODE("\x08\x04\x10\x00\x01\x00"), -EBADMSG); /* pids must rise */
	assert_int_equal(DECODE("\x08\x02\x12\x11"), -EBADMSG);		/* a name of 17 bytes */
	assert_int_equal(DECODE("\x09\x02\x05\x00"), -EBADMSG);		/* an order of nothing */
	assert_int_equal(DECODE("\x09\x03\x05\x02\x01"), -EBADMSG);	/* two CPUs, one given */
	assert_int_equal(DECODE("\x06\x08\x00\x00\x00\x09\x00\x00\x00\x00"), -EBADMSG); /* mult 0 */
	assert_int_equal(DECODE("\x06\x08\x01\x40\x00\x09\x00\x00\x00\x00"),
			 -EBADMSG); /* shift 64 */
	assert_int_equal(DECODE("\x06\x08\x01\x3f\x00\x09\x00\x00\x00\x00"), 0);
	assert_int_equal(DECODE("\x06\x09\x01\x3f\x00\x09\x00\x00\x00\x00Z"),
			 0); /* a later field */
}

/* Any cut and any flip is answered, and the answer leaves an info that can be used. */
static void test_damaged(void **state)
{
	struct trace_info in, out;
	size_t len, from = 0, round, at;
	int r;

	(void)state;
	sched_random_init(&numbers, 9, SCHED_RANDOM_REAL);
	fill_info(&in);
	fill_tasks(&in, 300);
	len = info_encode(&in, payload, ROOM);
	len += info_encode_tasks(&in, &from, payload + len, ROOM - len);
	for (round = 0; round < 5000; round++) {
		uint8_t *copy = malloc(len);

		memcpy(copy, payload, len);
		for (at = 0; at <= round % 4; at++)
			copy[sched_random_below(&numbers, (uint32_t)len)] ^=
				(uint8_t)(1U << sched_random_below(&numbers, 8));
		assert_int_equal(info_init(&out), 0);
		r = info_decode(&out, NULL, copy, 1 + sched_random_below(&numbers, (uint32_t)len));
		assert_true(r == 0 || r == -EBADMSG);
		assert_true(out.cpus <= TRACE_CPUS_MAX && out.clock.mult && out.clock.shift < 64);
		for (at = 1; at < out.n_tasks; at++)
			assert_true(out.tasks[at - 1].pid < out.tasks[at].pid);
		info_done(&out);
		free(copy);
	}
	info_done(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip), cmocka_unit_test(test_orders),
		cmocka_unit_test(test_refused),	   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_ceiling),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
