/* SPDX-License-Identifier: MIT */
/*
 * vectors_func: the test vector of docs/format/func.md, byte for byte in both stages and both
 * directions. It never changes within a version of the format.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/func_random.h"
#include "tools/vector.h"
#include "wire/func_decode.h"
#include "wire/func_encode.h"
#include "wire/func_hook_encode.h"

#define ROOM (FUNC_BEGIN_ROOM + 4096U)
#define EVENTS_MAX 64U

static struct vector vector;
static struct func_hook hook;
static struct func_encoder encoder;
static struct func_decoder of_hook, of_payload;
static struct func_event events[EVENTS_MAX];
static uint32_t n_events, blocks;
static uint8_t made[ROOM], wanted[ROOM];
static uint64_t key_tick;
static bool fresh;

static void expect_bytes(const char *what, size_t made_len, size_t wanted_len)
{
	size_t i;

	if (made_len == wanted_len && !memcmp(made, wanted, wanted_len))
		return;
	for (i = 0; i < made_len; i++)
		fprintf(stderr, "%02x", made[i]);
	fputc('\n', stderr);
	fail_msg("%s: %s: other bytes than the vector's; made were those above", vector.name, what);
}

static void expect_events(struct func_decoder *d, size_t len)
{
	struct func_event ev;
	uint32_t i;

	if (fresh)
		func_decoder_init(d);
	assert_int_equal(func_decoder_begin(d, wanted, (uint32_t)len, key_tick), WIRE_OK);
	for (i = 0; i < n_events; i++) {
		assert_int_equal(func_decode(d, &ev), WIRE_OK);
		assert_true(func_event_equal(&ev, &events[i]));
	}
	assert_int_equal(func_decoder_end(d), WIRE_OK);
}

static void check_hook(void)
{
	uint8_t *out = made;
	uint32_t i;

	*out++ = FUNC_STAGE_HOOK;
	if (fresh)
		out += func_hook_begin(&hook, out, key_tick);
	for (i = 0; i < n_events; i++) {
		const struct func_event *ev = &events[i];

		if (ev->kind == FUNC_ENTER)
			out = func_hook_enter(&hook, out, ev->value, ev->tick);
		else if (ev->kind == FUNC_EXIT)
			out = func_hook_exit(&hook, out, ev->value, ev->tick);
		else
			out = func_hook_os(&hook, out, ev->os, ev->value, ev->tick);
	}
	expect_bytes("hook", (size_t)(out - made), vector_bytes(&vector, wanted, ROOM));
	expect_events(&of_hook, (size_t)(out - made));
}

static void check_payload(void)
{
	uint32_t i, len;

	func_encoder_begin(&encoder, made, ROOM, key_tick);
	for (i = 0; i < n_events; i++)
		assert_int_equal(func_encode(&encoder, &events[i]), WIRE_OK);
	len = func_encoder_end(&encoder);
	expect_bytes("payload", len, vector_bytes(&vector, wanted, ROOM));
	expect_events(&of_payload, len);
	n_events = 0;
	fresh = false;
	blocks++;
}

/* A row that is an event, or one of what is open at the key. */
static void read_row(const char *line)
{
	struct func_event *ev = &events[n_events];
	unsigned os;

	assert_true(n_events < EVENTS_MAX);
	memset(ev, 0, sizeof(*ev));
	if (sscanf(line, "open %" SCNx64, &ev->value) == 1) {
		func_hook_pass_enter(&hook, ev->value);
		func_encoder_init(&encoder, &hook.model.stack);
		return;
	}
	if (sscanf(line, "enter %" SCNu64 " %" SCNx64, &ev->tick, &ev->value) == 2) {
		ev->kind = FUNC_ENTER;
	} else if (sscanf(line, "exit %" SCNu64 " %" SCNx64, &ev->tick, &ev->value) == 2) {
		ev->kind = FUNC_EXIT;
	} else {
		assert_int_equal(sscanf(line, "os %" SCNu64 " %u %" SCNu64, &ev->tick, &os,
					&ev->value),
				 3);
		ev->kind = FUNC_OS;
		ev->os = (uint8_t)os;
	}
	n_events++;
}

static void test_func(void **state)
{
	const char *line;

	(void)state;
	vector_open(&vector, "func.txt");
	while ((line = vector_line(&vector))) {
		if (sscanf(line, "key %" SCNu64, &key_tick) == 1) {
			fresh = true;
			func_hook_init(&hook);
			func_encoder_init(&encoder, NULL);
		} else if (!strcmp(line, "hook")) {
			check_hook();
		} else if (!strcmp(line, "payload")) {
			check_payload();
		} else {
			read_row(line);
		}
	}
	assert_int_equal(blocks, 2);
	assert_int_equal(n_events, 0);
}

/* What func.md says an implementation costs: the same on every machine. */
static void test_size(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct func_hook), 45088);
	assert_int_equal(sizeof(struct func_model), 494272);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_func),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("vectors_func", tests, NULL, NULL);
}
