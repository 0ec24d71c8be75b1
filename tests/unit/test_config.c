/* SPDX-License-Identifier: MIT */
/* config: items of an instruction, what is none, and how one configuration becomes part of another. Vectors and filters: test_message.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/block.h"
#include "wire/message.h"

static uint8_t made[256];

/* An item of these bytes; what it says is in `ret`. */
static enum wire_status try_item(uint32_t type, const uint8_t *bytes, uint8_t len,
				 struct message_config *ret)
{
	struct byte_reader r;

	made[0] = (uint8_t)type;
	made[1] = len;
	memcpy(made + 2, bytes, len);
	reader_init(&r, made, 2U + len);
	return config_decode(ret, &r);
}

/* A number that is cut, or has more than 32 bits, is none; of type 0 there is nothing; empty lists are lists. */
static void test_items(void **state)
{
	static const uint8_t cut[] = { 0x80 }, wide[] = { 0x80, 0x80, 0x80, 0x80, 0x10 };
	struct message_config c, back;
	struct byte_writer w;
	struct byte_reader r;

	(void)state;
	assert_int_equal(try_item(CONFIG_EVENTS, cut, 1, &c), WIRE_CORRUPT);
	assert_int_equal(try_item(CONFIG_EVENTS, wide, 5, &c), WIRE_CORRUPT);
	assert_int_equal(try_item(CONFIG_PIDS, cut, 1, &c), WIRE_CORRUPT);
	assert_int_equal(try_item(CONFIG_PACE_FIELD(0, PACE_RATE), cut, 1, &c), WIRE_CORRUPT);
	assert_int_equal(try_item(CONFIG_PACE_FIELD(0, PACE_RATE), wide, 5, &c), WIRE_CORRUPT);
	assert_int_equal(try_item(0, cut, 1, &c), WIRE_OK);
	assert_int_equal(c.given, 0);

	c.given = 1U << CONFIG_PIDS | 1U << CONFIG_COMMS | 1U << CONFIG_CGROUP_PATHS;
	writer_init(&w, made, sizeof(made));
	config_encode(&w, &c);
	assert_int_equal(writer_len(&w), 6);
	reader_init(&r, made, 6);
	assert_int_equal(config_decode(&back, &r), WIRE_OK);
	assert_memory_equal(&back, &c, sizeof(c));
}

static enum wire_status try_duty(uint64_t on_ms, uint64_t every_ms)
{
	struct message_config c;
	uint8_t bytes[2 * VARINT_MAX], *end = varint_put(varint_put(bytes, on_ms), every_ms);

	return try_item(CONFIG_PACE_FIELD(1, PACE_DUTY), bytes, (uint8_t)(end - bytes), &c);
}

static enum wire_status try_config(uint32_t type, uint64_t value)
{
	struct message_config c;
	uint8_t bytes[VARINT_MAX];

	return try_item(type, bytes, (uint8_t)(varint_put(bytes, value) - bytes), &c);
}

static void test_bounds_pace(void **state)
{
	uint32_t of;

	(void)state;
	for (of = 0; of < PACES; of++) {
		assert_int_equal(try_config(CONFIG_PACE_FIELD(of, PACE_MODE), 1), WIRE_OK);
		assert_int_equal(try_config(CONFIG_PACE_FIELD(of, PACE_MODE), 2), WIRE_CORRUPT);
		assert_int_equal(try_config(CONFIG_PACE_FIELD(of, PACE_RATE), 0), WIRE_CORRUPT);
		assert_int_equal(try_config(CONFIG_PACE_FIELD(of, PACE_RATE), CONFIG_RATE_MOST),
				 WIRE_OK);
		assert_int_equal(try_config(CONFIG_PACE_FIELD(of, PACE_RATE), CONFIG_RATE_MOST + 1),
				 WIRE_CORRUPT);
		assert_int_equal(try_config(CONFIG_PACE_FIELD(of, PACE_BUDGET), 0), WIRE_OK);
		assert_int_equal(try_config(CONFIG_PACE_FIELD(of, PACE_BUDGET),
					    CONFIG_BUDGET_LEAST - 1),
				 WIRE_CORRUPT);
		assert_int_equal(try_config(CONFIG_PACE_FIELD(of, PACE_BUDGET),
					    CONFIG_BUDGET_LEAST),
				 WIRE_OK);
		assert_int_equal(try_config(CONFIG_PACE_FIELD(of, PACE_BUDGET),
					    CONFIG_BUDGET_MOST + 1),
				 WIRE_CORRUPT);
	}
	assert_int_equal(try_duty(0, 0), WIRE_OK);
	assert_int_equal(try_duty(0, 1), WIRE_CORRUPT);
	assert_int_equal(try_duty(CONFIG_DUTY_LEAST_MS, CONFIG_DUTY_MOST_MS), WIRE_OK);
	assert_int_equal(try_duty(CONFIG_DUTY_LEAST_MS - 1, CONFIG_DUTY_MOST_MS), WIRE_CORRUPT);
	assert_int_equal(try_duty(CONFIG_DUTY_LEAST_MS, CONFIG_DUTY_LEAST_MS), WIRE_CORRUPT);
	assert_int_equal(try_duty(CONFIG_DUTY_LEAST_MS, CONFIG_DUTY_MOST_MS + 1ULL), WIRE_CORRUPT);
	assert_int_equal(try_duty(CONFIG_DUTY_LEAST_MS, UINT64_MAX), WIRE_CORRUPT);
}

/* An instruction is about one pace if nothing else is in it. */
static void test_get_pace(void **state)
{
	struct message_config c = { 0 };
	uint32_t of;

	(void)state;
	assert_int_equal(config_get_pace(&c), PACES);
	for (of = 0; of < PACES; of++) {
		c.given = 1U << CONFIG_PACE_FIELD(of, PACE_RATE);
		assert_int_equal(config_get_pace(&c), of);
		c.given |= 1U << CONFIG_PACE_FIELD(of, PACE_DUTY);
		assert_int_equal(config_get_pace(&c), of);
		c.given |= 1U << CONFIG_EVENTS;
		assert_int_equal(config_get_pace(&c), PACES);
	}
	c.given = 1U << CONFIG_PACE_FIELD(0, PACE_MODE) | 1U << CONFIG_PACE_FIELD(1, PACE_MODE);
	assert_int_equal(config_get_pace(&c), PACES);
}

/* All at once into nothing: it is the same, byte for byte. */
static void test_apply_all(void **state)
{
	struct message_config to = { 0 };
	struct message_config from = { .given = CONFIG_ALL,
				       .origin = ORIGIN_BPF,
				       .events = 0x1ff,
				       .block_bytes = 16384,
				       .flush_ms = 100,
				       .ring_kib = 1024,
				       .resolution_ns = 64,
				       .policy = POLICY_FLIGHT,
				       .codec = CODEC_SCHED,
				       .func = FUNC_MODE_SPLIT,
				       .n_pids = 1,
				       .pids = { 7 },
				       .n_comms = 1,
				       .comms = { "sh" },
				       .n_cgroups = 1,
				       .cgroups = { "a/b" } };
	uint32_t of;

	(void)state;
	for (of = 0; of < PACES; of++) {
		from.paces[of] = (struct config_pace){ 1, 99 + of, 10000, 500, 5000 };
		from.given |= CONFIG_PACE_BITS(of);
	}
	config_apply(&to, &from);
	assert_memory_equal(&to, &from, sizeof(to));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_bounds_pace),
		cmocka_unit_test(test_get_pace),
		cmocka_unit_test(test_apply_all),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
