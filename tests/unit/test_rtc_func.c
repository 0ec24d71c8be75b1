/* SPDX-License-Identifier: MIT */
/*
 * rtc_func: the payloads of docs/format/rtc.md, byte for byte in both directions and those that are
 * corrupt; random calls with everything that may go wrong in a thread; more functions, more values
 * and less room than a payload has.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/vector.h"
#include "wire/rtc_func_decode.h"
#include "wire/rtc_func_encode.h"

#define ROOM (1U << 20)
#define EVENTS 40000U

static struct vector vector;
static struct rtc_func_encoder encoder;
static struct rtc_func_decoder decoder;
static struct func_event events[EVENTS];
static uint8_t out[ROOM], wanted[ROOM];
static const struct rtc_params published = RTC_PARAMS_PUBLISHED;

static void assert_event_equal(const struct func_event *a, const struct func_event *b)
{
	assert_true(a->tick == b->tick);
	assert_true(a->value == b->value);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->os, b->os);
}

static void assert_decodes(const uint8_t *payload, size_t len, const struct func_event *ev,
			   size_t n)
{
	struct func_event back;
	size_t i;

	assert_int_equal(rtc_func_decoder_init(&decoder, payload, len, n ? ev[0].tick : 0,
					       (uint32_t)n),
			 WIRE_OK);
	for (i = 0; i < n; i++) {
		assert_int_equal(rtc_func_decode(&decoder, &back), WIRE_OK);
		assert_event_equal(&back, &ev[i]);
	}
	assert_int_equal(rtc_func_decode(&decoder, &back), WIRE_MORE);
}

static bool parse_event(const char *line, struct func_event *ret)
{
	struct func_event ev = { 0 };
	unsigned os;

	if (sscanf(line, "event enter %" SCNu64 " %" SCNx64, &ev.tick, &ev.value) == 2) {
		ev.kind = FUNC_ENTER;
	} else if (sscanf(line, "event exit %" SCNu64 " %" SCNx64, &ev.tick, &ev.value) == 2) {
		ev.kind = FUNC_EXIT;
	} else if (sscanf(line, "event os %" SCNu64 " %u %" SCNu64, &ev.tick, &os, &ev.value) ==
		   3) {
		ev.kind = FUNC_OS;
		ev.os = (uint8_t)os;
	} else {
		return false;
	}
	*ret = ev;
	return true;
}

static void test_vectors(void **state)
{
	unsigned payloads = 0, n = 0;
	size_t len, made;

	(void)state;
	assert_true(rtc_func_encoder_init(&encoder, &published, out, ROOM));
	vector_open(&vector, "rtc.txt");
	while (vector_line(&vector)) {
		if (parse_event(vector.line, &events[n])) {
			n++;
		} else if (!strncmp(vector.line, "payload ", 8)) {
			len = vector_hex(&vector, vector.line + 8, wanted, ROOM);
			assert_int_equal(rtc_func_encode(&encoder, events, n, &made), n);
			assert_int_equal(made, len);
			assert_memory_equal(out, wanted, len);
			assert_decodes(wanted, len, events, n);
			payloads++;
			n = 0;
		}
	}
	assert_int_equal(payloads, 1);
}

static enum wire_status decode_one(const uint8_t *payload, size_t len)
{
	struct func_event back;
	enum wire_status status = rtc_func_decoder_init(&decoder, payload, len, 1, 1);

	while (status == WIRE_OK)
		status = rtc_func_decode(&decoder, &back);
	return status;
}

static void test_corrupt(void **state)
{
	struct func_event ev = { .tick = 1, .value = 16 };
	unsigned rows = 0;
	size_t len;

	(void)state;
	vector_open(&vector, "rtc.txt");
	while (vector_line(&vector)) {
		if (strncmp(vector.line, "corrupt ", 8))
			continue;
		len = vector_hex(&vector, vector.line + 8, wanted, ROOM);
		assert_int_equal(decode_one(wanted, len), WIRE_CORRUPT);
		rows++;
	}
	assert_true(rows >= 11);
	/* They are this one but for what is wrong with them. */
	assert_true(rtc_func_encoder_init(&encoder, &published, out, ROOM));
	assert_int_equal(rtc_func_encode(&encoder, &ev, 1, &len), 1);
	assert_int_equal(decode_one(out, len), WIRE_MORE);
	for (rows = 0; rows < RTC_FUNC_HEAD; rows++)
		assert_int_equal(decode_one(out, rows), WIRE_CORRUPT);
}

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)((seed * UINT64_C(0x2545f4914f6cdd1d) >> 32) % n);
}

/* A thread that calls, returns, leaves several functions at once, is switched out, and whose
 * counter now and then jumps. */
static void make_thread(uint32_t n, uint32_t functions)
{
	uint64_t tick = 1000000, stack[64];
	uint32_t depth = 0, i;

	memset(events, 0, sizeof(events));
	for (i = 0; i < n; i++) {
		struct func_event *ev = &events[i];
		uint32_t what = random_below(100);

		tick += what == 99 ? UINT64_C(10000000000) : random_below(40);
		tick -= what == 98 ? 100 : 0;
		ev->tick = tick;
		if (what < 4) {
			ev->kind = FUNC_OS;
			ev->os = (uint8_t)random_below(8);
			ev->value = random_below(70000);
		} else if (depth && (what < 52 || depth == 64)) {
			ev->kind = FUNC_EXIT;
			ev->value = stack[--depth];
			depth -= what == 51 && depth > 3 ? 3 : 0; /* longjmp */
		} else {
			ev->kind = FUNC_ENTER;
			ev->value = 0xaaaaaaaa0000U + UINT64_C(16) * random_below(functions);
			stack[depth++] = ev->value;
		}
	}
}

/* All of them, in as many payloads as it takes; returns in how many. */
static unsigned check_all(size_t n, size_t room)
{
	unsigned payloads = 0;
	size_t at = 0, taken, len;

	assert_true(rtc_func_encoder_init(&encoder, &published, out, room));
	for (; at < n; at += taken, payloads++) {
		taken = rtc_func_encode(&encoder, events + at, n - at, &len);
		assert_true(taken > 0 && taken <= n - at && len <= room);
		assert_decodes(out, len, events + at, taken);
	}
	return payloads;
}

static void test_threads(void **state)
{
	static const uint32_t functions[] = { 1, 5, 300 };
	unsigned i;

	(void)state;
	seed = 5;
	for (i = 0; i < 3; i++) {
		make_thread(EVENTS, functions[i]);
		assert_int_equal(check_all(EVENTS, ROOM), 1);
		/* A value of 70000 does not fit 16 bits, which were the least. */
		assert_int_equal(encoder.bits.params.value_bits, 17);
		assert_int_equal(encoder.bits.params.id_bits, 16);
	}
}

static void test_many_functions(void **state)
{
	size_t i;

	(void)state;
	memset(events, 0, sizeof(events));
	for (i = 0; i < EVENTS; i++) {
		events[i].tick = i;
		events[i].value = i * UINT64_C(0x123456789) + (i % 2 ? UINT64_C(1) << 63 : 0);
	}
	assert_int_equal(check_all(EVENTS, ROOM),
			 (EVENTS + RTC_FUNC_IDS_MAX - 1) / RTC_FUNC_IDS_MAX);
	events[0].value = UINT64_MAX;
	events[1].value = 0;
	assert_int_equal(check_all(2, ROOM), 1);
}

/* Whatever an OS record has is held, also the type that carry records have at the usual width. */
static void test_widest(void **state)
{
	uint32_t i;

	(void)state;
	memset(events, 0, sizeof(events));
	for (i = 0; i < 256; i++) {
		events[i].kind = FUNC_OS;
		events[i].os = (uint8_t)i;
		events[i].value = UINT64_MAX >> (i % 64);
	}
	assert_int_equal(check_all(126, ROOM), 1);
	assert_int_equal(encoder.bits.params.type_bits, 7);
	assert_int_equal(check_all(128, ROOM), 1);
	assert_int_equal(encoder.bits.params.type_bits, 8);
	assert_int_equal(check_all(256, ROOM), 1);
	assert_int_equal(encoder.bits.params.type_bits, 9);
	assert_int_equal(encoder.bits.params.value_bits, 64);
}

static void test_room(void **state)
{
	struct rtc_params bad = published;
	size_t len;

	(void)state;
	seed = 6;
	make_thread(5000, 20);
	assert_true(check_all(5000, 1000) > 5);
	assert_true(rtc_func_encoder_init(&encoder, &published, out, 20));
	assert_int_equal(rtc_func_encode(&encoder, events, 5000, &len), 0);
	bad.time_bits = 1;
	assert_false(rtc_func_encoder_init(&encoder, &bad, out, ROOM));
	/* No event: those before it are taken. */
	events[7].kind = 3;
	assert_true(rtc_func_encoder_init(&encoder, &published, out, ROOM));
	assert_int_equal(rtc_func_encode(&encoder, events, 5000, &len), 7);
	assert_decodes(out, len, events, 7);
	assert_int_equal(rtc_func_encode(&encoder, events, 0, &len), 0);
	assert_decodes(out, len, events, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors), cmocka_unit_test(test_corrupt),
		cmocka_unit_test(test_threads), cmocka_unit_test(test_many_functions),
		cmocka_unit_test(test_widest),	cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
