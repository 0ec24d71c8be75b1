/* SPDX-License-Identifier: MIT */
/*
 * vectors: the test vectors of docs/format/wire.md and sched.md, byte for byte in both directions.
 * They never change within a version of the format: a failure here is an incompatible change.
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
#include "wire/bits.h"
#include "wire/block.h"
#include "wire/crc32c.h"
#include "wire/frame.h"
#include "wire/range_decode.h"
#include "wire/range_encode.h"
#include "wire/sched_decode.h"
#include "wire/sched_encode.h"
#include "wire/varint.h"

#define ROOM 65536U
#define EVENTS_MAX 64U
#define SYMBOLS_MAX 64U

static struct vector vector;
static uint8_t made[ROOM], wanted[ROOM];

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

static void check_varint(const char *kind, const char *number, size_t len)
{
	bool is_signed = !strcmp(kind, "signed");
	uint8_t *end;
	struct byte_reader r;
	uint64_t v;

	reader_init(&r, wanted, len);
	v = is_signed ? (uint64_t)reader_signed(&r) : reader_varint(&r);
	if (!strcmp(kind, "corrupt")) {
		assert_true(r.bad);
		return;
	}
	assert_false(r.bad);
	assert_int_equal(reader_left(&r), 0);
	assert_true(v ==
		    (is_signed ? (uint64_t)strtoll(number, NULL, 10) : strtoull(number, NULL, 10)));
	if (!strcmp(kind, "padded"))
		return;
	end = is_signed ? varint_put_signed(made, (int64_t)v) : varint_put(made, v);
	expect_bytes(number, (size_t)(end - made), len);
}

static void test_varint(void **state)
{
	char kind[16], number[32], hex[64];
	unsigned rows = 0;

	(void)state;
	vector_open(&vector, "varint.txt");
	while (vector_line(&vector)) {
		assert_int_equal(sscanf(vector.line, "%15s %31s %63s", kind, number, hex), 3);
		check_varint(kind, number, vector_hex(&vector, hex, wanted, ROOM));
		rows++;
	}
	assert_true(rows >= 20);
}

/* One row, "width:value" words and then the bytes, in both directions. */
static void check_bits(char *line)
{
	struct bit_writer w;
	struct bit_reader r;
	char *word, *rest, *end, *hex = strrchr(line, ' ');
	size_t len;
	uint64_t v;
	uint32_t n;

	assert_non_null(hex);
	*hex++ = 0;
	len = vector_hex(&vector, hex, wanted, ROOM);
	bit_writer_init(&w, made, len);
	bit_reader_init(&r, wanted, len);
	for (word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		n = (uint32_t)strtoul(word, &end, 10);
		assert_true(n >= 1 && n <= 64 && *end == ':');
		v = strtoull(end + 1, NULL, 10);
		bit_writer_put(&w, v, n);
		assert_true(bit_reader_get(&r, n) == v);
	}
	assert_false(w.bad || r.bad);
	expect_bytes("bits", bit_writer_len(&w), len);
	assert_int_equal(bit_reader_get(&r, (uint32_t)(r.len - r.at)), 0);
	bit_reader_get(&r, 1);
	assert_true(r.bad);
}

static void test_bits(void **state)
{
	unsigned rows = 0;

	(void)state;
	vector_open(&vector, "bits.txt");
	while (vector_line(&vector)) {
		check_bits(vector.line);
		rows++;
	}
	assert_true(rows >= 5);
}

static size_t hex_or_none(const char *hex, uint8_t *out)
{
	return strcmp(hex, "-") ? vector_hex(&vector, hex, out, ROOM) : 0;
}

static void check_frame(uint32_t type, const char *body, size_t len)
{
	struct frame f;
	size_t body_len = hex_or_none(body, made + FRAME_HEAD_MAX), head, i;
	uint8_t bytes[FRAME_HEAD_MAX];

	head = frame_encode_head(bytes, type, (uint32_t)body_len);
	memcpy(made, bytes, head);
	memmove(made + head, made + FRAME_HEAD_MAX, body_len);
	expect_bytes("frame", head + body_len, len);
	assert_int_equal(frame_decode(wanted, len, &f), WIRE_OK);
	assert_true(f.type == type && f.body_len == body_len && f.len == len);
	assert_memory_equal(f.body, made + head, body_len);
	for (i = 0; i < len; i++)
		assert_int_equal(frame_decode(wanted, i, &f), WIRE_MORE);
}

static void test_frame(void **state)
{
	char word[16], hex[2][128];
	struct frame f;
	unsigned rows = 0;
	size_t len;
	int n;

	(void)state;
	vector_open(&vector, "frame.txt");
	for (; vector_line(&vector); rows++) {
		n = sscanf(vector.line, "%15s %127s %127s", word, hex[0], hex[1]);
		assert_true(n >= 2);
		len = hex_or_none(hex[n - 2], wanted);
		if (n == 3)
			check_frame((uint32_t)strtoul(word, NULL, 10), hex[0], len);
		else
			assert_int_equal(frame_decode(wanted, len, &f),
					 strcmp(word, "more") ? WIRE_CORRUPT : WIRE_MORE);
	}
	assert_true(rows >= 11);
}

static void test_crc32c(void **state)
{
	unsigned rows = 0, crc;
	char hex[256];
	size_t len;

	(void)state;
	vector_open(&vector, "crc32c.txt");
	while (vector_line(&vector)) {
		assert_int_equal(sscanf(vector.line, "%255s %x", hex, &crc), 2);
		len = strcmp(hex, "-") ? vector_hex(&vector, hex, wanted, ROOM) : 0;
		assert_int_equal(crc32c_add(0, wanted, len), crc);
		rows++;
	}
	assert_true(rows >= 4);
}

static uint64_t parse_lost(const char *word)
{
	return strcmp(word, "?") ? strtoull(word, NULL, 10) : LOSS_UNKNOWN;
}

static void parse_block(const char *line, struct block *b, uint8_t *payload)
{
	unsigned codec, flags;
	char lost[LOSS_CAUSES][24], hex[64];
	int i;

	memset(b, 0, sizeof(*b));
	i = sscanf(line,
		   "%u %u %" SCNu32 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu32
		   " lost %23s %23s %23s %23s %23s payload %63s",
		   &codec, &flags, &b->stream, &b->sequence, &b->first_tick, &b->before, &b->ticks,
		   &b->events, lost[0], lost[1], lost[2], lost[3], lost[4], hex);
	assert_int_equal(i, 14);
	b->codec = (uint8_t)codec;
	b->flags = (uint8_t)flags;
	for (i = 0; i < LOSS_CAUSES; i++)
		b->lost[i] = parse_lost(lost[i]);
	if (strcmp(hex, "-"))
		b->payload_len = (uint32_t)vector_hex(&vector, hex, payload, 64);
}

static void expect_same_block(const struct block *a, const struct block *b)
{
	assert_int_equal(a->codec, b->codec);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->stream, b->stream);
	assert_true(a->sequence == b->sequence && a->first_tick == b->first_tick);
	assert_true(a->before == b->before && a->ticks == b->ticks);
	assert_int_equal(a->events, b->events);
	assert_memory_equal(a->lost, b->lost, sizeof(a->lost));
	assert_int_equal(a->payload_len, b->payload_len);
}

/* The line with the fields, then the one with the bytes. */
static void check_block(const char *line)
{
	uint8_t *payload = made + BLOCK_HEADER_MAX, *start;
	struct block b, back;
	uint32_t made_len, len, i;

	parse_block(line, &b, payload);
	assert_non_null(vector_line(&vector));
	len = (uint32_t)vector_hex(&vector, vector.line, wanted, ROOM);
	start = block_encode(&b, payload, &made_len);
	assert_int_equal(made_len, len);
	assert_memory_equal(start, wanted, len);
	assert_int_equal(block_decode(wanted, len, &back), WIRE_OK);
	expect_same_block(&b, &back);
	assert_memory_equal(back.payload, payload, b.payload_len);
	for (i = 0; i < len; i++)
		assert_int_equal(block_decode(wanted, i, &back), WIRE_MORE);
}

static void test_block(void **state)
{
	unsigned good = 0, bad = 0;
	struct block b;
	size_t len;

	(void)state;
	vector_open(&vector, "block.txt");
	while (vector_line(&vector)) {
		if (!strncmp(vector.line, "more ", 5)) {
			len = vector_hex(&vector, vector.line + 5, wanted, ROOM);
			assert_int_equal(block_decode(wanted, len, &b), WIRE_MORE);
			bad++;
		} else if (!strncmp(vector.line, "corrupt ", 8)) {
			len = vector_hex(&vector, vector.line + 8, wanted, ROOM);
			assert_int_equal(block_decode(wanted, len, &b), WIRE_CORRUPT);
			bad++;
		} else {
			check_block(vector.line);
			good++;
		}
	}
	assert_true(good >= 5 && bad >= 5);
}

struct symbol {
	char kind[8];
	unsigned a, value; /* model or number of bits */
};

static struct symbol symbols[SYMBOLS_MAX];
static struct bit_model bits[2];
static struct nibble_model nibbles[2];

static void init_models(void)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		bit_model_init(&bits[i]);
		nibble_model_init(&nibbles[i]);
	}
}

static void encode_symbol(struct range_encoder *r, const struct symbol *s)
{
	if (!strcmp(s->kind, "bit"))
		range_encode_bit(r, &bits[s->a], s->value);
	else if (!strcmp(s->kind, "nibble"))
		range_encode_nibble(r, &nibbles[s->a], s->value);
	else
		range_encode_raw(r, s->value, s->a);
}

static uint32_t decode_symbol(struct range_decoder *r, const struct symbol *s)
{
	if (!strcmp(s->kind, "bit"))
		return range_decode_bit(r, &bits[s->a]);
	if (!strcmp(s->kind, "nibble"))
		return range_decode_nibble(r, &nibbles[s->a]);
	return range_decode_raw(r, s->a);
}

/* The models as the rest of the file has them. */
static void check_models(void)
{
	unsigned i, j, v, rows = 0;
	int start;
	char *p;

	while (vector_line(&vector)) {
		if (sscanf(vector.line, "bit_model %u %x", &i, &v) == 2) {
			assert_int_equal(bits[i].v, v);
		} else {
			assert_int_equal(sscanf(vector.line, "nibble_model %u%n", &i, &start), 1);
			p = vector.line + start;
			for (j = 0; j < 16; j++)
				assert_int_equal(nibbles[i].lane[j], strtoul(p, &p, 10));
		}
		rows++;
	}
	assert_int_equal(rows, 4);
}

static void test_range(void **state)
{
	struct range_encoder e;
	struct range_decoder d;
	uint32_t n = 0, i;
	size_t len;
	struct symbol *s;

	(void)state;
	vector_open(&vector, "range.txt");
	init_models();
	range_encode_begin(&e, made);
	while (vector_line(&vector) && strcmp(vector.line, "payload")) {
		s = &symbols[n++];
		assert_int_equal(sscanf(vector.line, "%7s %u %u", s->kind, &s->a, &s->value), 3);
		encode_symbol(&e, s);
	}
	len = vector_bytes(&vector, wanted, ROOM);
	expect_bytes("payload", range_encode_end(&e), len);
	init_models();
	range_decode_begin(&d, wanted, (uint32_t)len);
	for (i = 0; i < n; i++)
		assert_int_equal(decode_symbol(&d, &symbols[i]), symbols[i].value);
	assert_true(n >= 20);
	check_models();
}

static struct sched_encoder encoder;
static struct sched_decoder decoder;
static struct sched_event events[EVENTS_MAX];

static void check_payload(uint32_t n, uint64_t tick)
{
	size_t len = vector_bytes(&vector, wanted, ROOM);
	struct sched_event back;
	uint32_t i;

	sched_encoder_begin(&encoder, made, ROOM, tick);
	for (i = 0; i < n; i++)
		assert_int_equal(sched_encode(&encoder, &events[i]), WIRE_OK);
	expect_bytes("payload", sched_encoder_end(&encoder), len);
	sched_decoder_begin(&decoder, wanted, (uint32_t)len, tick);
	for (i = 0; i < n; i++) {
		assert_int_equal(sched_decode(&decoder, &back), WIRE_OK);
		assert_true(sched_event_equal(&back, &events[i]));
	}
	assert_int_equal(sched_decoder_end(&decoder), WIRE_OK);
}

static void test_sched(void **state)
{
	unsigned n = 0, kinds = 0, payloads = 0;
	uint64_t tick = 0;

	(void)state;
	vector_open(&vector, "sched.txt");
	while (vector_line(&vector)) {
		if (sscanf(vector.line, "key %" SCNu64, &tick) == 1) {
			sched_encoder_init(&encoder, 1);
			sched_decoder_init(&decoder, 1);
		} else if (!strcmp(vector.line, "payload")) {
			check_payload(n, tick);
			payloads++;
			n = 0;
		} else {
			assert_true(n < EVENTS_MAX);
			assert_true(vector_event(&vector, vector.line, &events[n]));
			kinds |= 1U << events[n++].kind;
		}
	}
	assert_int_equal(payloads, 2);
	assert_int_equal(kinds, (1U << SCHED_KINDS) - 1);
}

/* What sched.md says an implementation costs. The encoder has a few pointers. */
static void test_size(void **state)
{
	(void)state;
	print_message("sched_model %zu, sched_encoder %zu, sched_decoder %zu bytes\n",
		      sizeof(struct sched_model), sizeof(encoder), sizeof(decoder));
	assert_int_equal(sizeof(struct sched_model), 144528);
	assert_int_equal(sizeof(struct sched_encoder), sizeof(void *) == 8 ? 151712 : 151696);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_varint), cmocka_unit_test(test_bits),
		cmocka_unit_test(test_frame),  cmocka_unit_test(test_crc32c),
		cmocka_unit_test(test_block),  cmocka_unit_test(test_range),
		cmocka_unit_test(test_sched),  cmocka_unit_test(test_size),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
