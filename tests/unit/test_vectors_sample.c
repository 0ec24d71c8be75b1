/* SPDX-License-Identifier: MIT */
/*
 * vectors_sample: the test vector of docs/format/sample.md, byte for byte in both directions. It never changes within
 * a version of the format.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tools/sample_text.h"
#include "tools/vector.h"
#include "wire/sample_decode.h"
#include "wire/sample_encode.h"

#define ROOM 16384U
#define EVENTS_MAX 64U

static struct vector vector;
static struct sample_encoder encoder;
static struct sample_decoder decoder;
static struct sample_event events[EVENTS_MAX];
static uint64_t chains[EVENTS_MAX][SAMPLE_CHAIN_MAX];
static uint32_t n_events, blocks;
static uint8_t made[ROOM], wanted[ROOM];
static uint64_t key_tick;

static void check_payload(void)
{
	size_t wanted_len = vector_bytes(&vector, wanted, ROOM);
	struct sample_event back;
	uint32_t i, len;

	sample_encoder_begin(&encoder, made, ROOM, key_tick);
	for (i = 0; i < n_events; i++)
		assert_int_equal(sample_encode(&encoder, &events[i]), WIRE_OK);
	len = sample_encoder_end(&encoder);
	if (len != wanted_len || memcmp(made, wanted, len) != 0) {
		for (i = 0; i < len; i++)
			fprintf(stderr, "%02x%s", made[i], i % 40 == 39 ? "\n" : "");
		fputc('\n', stderr);
		fail_msg("sample.txt: other bytes than the vector's; made were those above");
	}
	assert_int_equal(sample_decoder_begin(&decoder, wanted, len, key_tick), WIRE_OK);
	for (i = 0; i < n_events; i++) {
		assert_int_equal(sample_decode(&decoder, &back), WIRE_OK);
		assert_true(sample_event_equal(&back, &events[i]));
	}
	assert_int_equal(sample_decoder_end(&decoder), WIRE_OK);
	n_events = 0;
	blocks++;
}

static void test_sample(void **state)
{
	uint32_t cpu;
	char *line;

	(void)state;
	vector_open(&vector, "sample.txt");
	while ((line = vector_line(&vector))) {
		if (sscanf(line, "key %" SCNu64, &key_tick) == 1) {
			sample_encoder_init(&encoder);
			sample_decoder_init(&decoder);
		} else if (!strcmp(line, "payload")) {
			check_payload();
		} else {
			assert_true(n_events < EVENTS_MAX);
			assert_true(
				sample_text_parse(line, &cpu, &events[n_events], chains[n_events]));
			n_events++;
		}
	}
	assert_int_equal(blocks, 3);
	assert_int_equal(n_events, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
	};

	return cmocka_run_group_tests_name("vectors_sample", tests, NULL, NULL);
}
