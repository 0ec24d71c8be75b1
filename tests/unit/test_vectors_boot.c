/* SPDX-License-Identifier: MIT */
/*
 * vectors_boot: the test vector of docs/format/boot.md, byte for byte in both directions. It never changes
 * within a version of the format.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/boot_random.h"
#include "tools/vector.h"
#include "wire/boot_decode.h"
#include "wire/boot_encode.h"

#define ROOM 16384U
#define EVENTS_MAX 64U

static struct vector vector;
static struct boot_encoder encoder;
static struct boot_decoder decoder;
static struct boot_event events[EVENTS_MAX];
static char texts[EVENTS_MAX][BOOT_TEXT_MAX];
static uint32_t n_events, blocks;
static uint8_t made[ROOM], wanted[ROOM];
static uint64_t key_tick;

static void check_payload(void)
{
	size_t wanted_len = vector_bytes(&vector, wanted, ROOM);
	struct boot_event back;
	uint32_t i, len;

	boot_encoder_begin(&encoder, made, ROOM, key_tick);
	for (i = 0; i < n_events; i++)
		assert_int_equal(boot_encode(&encoder, &events[i]), WIRE_OK);
	len = boot_encoder_end(&encoder);
	if (len != wanted_len || memcmp(made, wanted, len) != 0) {
		for (i = 0; i < len; i++)
			fprintf(stderr, "%02x", made[i]);
		fputc('\n', stderr);
		fail_msg("boot.txt: other bytes than the vector's; made were those above");
	}
	assert_int_equal(boot_decoder_begin(&decoder, wanted, len, key_tick), WIRE_OK);
	for (i = 0; i < n_events; i++) {
		assert_int_equal(boot_decode(&decoder, &back), WIRE_OK);
		assert_true(boot_event_equal(&back, &events[i]));
	}
	assert_int_equal(boot_decoder_end(&decoder), WIRE_OK);
	n_events = 0;
	blocks++;
}

static void read_row(char *line)
{
	struct boot_event *ev = &events[n_events];
	uint32_t i;

	assert_true(n_events < EVENTS_MAX);
	memset(ev, 0, sizeof(*ev));
	ev->tick = strtoull(line, &line, 10);
	ev->kind = (uint8_t)strtoul(line, &line, 10);
	ev->key = (uint32_t)strtoul(line, &line, 10);
	assert_true(ev->kind < BOOT_KINDS);
	for (i = 0; i < boot_shapes[ev->kind].numbers; i++)
		ev->number[i] = strtoull(line, &line, 10);
	ev->text = texts[n_events];
	line += strspn(line, " ");
	if (boot_shapes[ev->kind].has_text && *line != '-')
		ev->text_len = (uint32_t)vector_hex(&vector, line, (uint8_t *)texts[n_events],
						    BOOT_TEXT_MAX);
	n_events++;
}

static void test_boot(void **state)
{
	char *line;

	(void)state;
	vector_open(&vector, "boot.txt");
	while ((line = vector_line(&vector))) {
		if (sscanf(line, "key %" SCNu64, &key_tick) == 1) {
			boot_encoder_init(&encoder);
			boot_decoder_init(&decoder);
		} else if (!strcmp(line, "payload")) {
			check_payload();
		} else {
			read_row(line);
		}
	}
	assert_int_equal(blocks, 3);
	assert_int_equal(n_events, 0);
}

/* What boot.md says an implementation costs: the same on every machine. */
static void test_size(void **state)
{
	(void)state;
	assert_int_equal(sizeof(struct boot_model), 161680);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boot),
		cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests_name("vectors_boot", tests, NULL, NULL);
}
