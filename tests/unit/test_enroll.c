/* SPDX-License-Identifier: MIT */
/* enroll: ENROLL and CERTIFICATE against their vectors, there and back, cut anywhere, out of bounds; and tokens as texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/vector.h"
#include "wire/enroll.h"
#include "wire/frame.h"

static uint8_t room[ENROLL_ROOM];
static uint8_t bytes[ENROLL_CERTIFICATE_MAX + 1];

static struct message_enroll sample(uint32_t request)
{
	struct message_enroll m = { .version = 1, .has_secret = true };

	memset(m.secret, 7, sizeof(m.secret));
	memset(m.device.bytes, 9, sizeof(m.device.bytes));
	m.request = (struct enroll_bytes){ bytes, request };
	return m;
}

static size_t encode(const struct message_enroll *m)
{
	struct byte_writer w;

	writer_init(&w, room, sizeof(room));
	enroll_encode(&w, m);
	assert_false(w.full);
	return writer_len(&w);
}

static void there_and_back(void **state)
{
	struct message_enroll m = sample(300), back;
	size_t len = encode(&m), i;

	(void)state;
	assert_int_equal(enroll_decode(&back, room, len), WIRE_OK);
	assert_int_equal(back.version, 1);
	assert_true(back.has_secret);
	assert_memory_equal(back.secret, m.secret, sizeof(m.secret));
	assert_memory_equal(back.device.bytes, m.device.bytes, sizeof(m.device.bytes));
	assert_int_equal(back.request.len, 300);
	for (i = 0; i < len; i++)
		assert_int_equal(enroll_decode(&back, room, i), WIRE_CORRUPT);
	m.has_secret = false;
	len = encode(&m);
	assert_int_equal(enroll_decode(&back, room, len), WIRE_OK);
	assert_false(back.has_secret);
}

/* The next frame of the vector is what `room` has, and of that type. */
static void expect_frame(struct vector *v, uint32_t type, size_t len)
{
	uint8_t wanted[128];
	size_t n = vector_bytes(v, wanted, sizeof(wanted));
	struct frame f;

	assert_int_equal(frame_decode(wanted, n, &f), WIRE_OK);
	assert_int_equal(f.type, type);
	assert_int_equal(f.len, n);
	assert_int_equal(f.body_len, len);
	assert_memory_equal(f.body, room, len);
}

static void count_up(uint8_t *at, size_t len, uint8_t from)
{
	size_t i;

	for (i = 0; i < len; i++)
		at[i] = (uint8_t)(from + i);
}

static void vector_frames(struct vector *v)
{
	static const uint8_t request[] = { 0x30, 4, 1, 2, 3, 15 };
	static const uint8_t own[] = { 0x30, 3, 5, 6, 15 }, now[] = { 0x30, 2, 7, 15 },
			     before[] = { 0x30, 2, 8, 15 };
	struct message_enroll m = { .version = 1, .has_secret = true, .request = { request, 6 } };
	struct message_certificate c = { .certificate = { own, 5 },
					 .n_authorities = 2,
					 .authorities = { { now, 4 }, { before, 4 } } };
	struct byte_writer w;

	count_up(m.secret, sizeof(m.secret), 0x30);
	count_up(m.device.bytes, sizeof(m.device.bytes), 0x10);
	expect_frame(v, FRAME_ENROLL, encode(&m));
	m.has_secret = false;
	expect_frame(v, FRAME_ENROLL, encode(&m));
	writer_init(&w, room, sizeof(room));
	certificate_encode(&w, &c);
	expect_frame(v, FRAME_CERTIFICATE, writer_len(&w));
}

/* As docs/format/protocol.md shows them. */
static void vectors(void **state)
{
	static struct vector v;
	uint8_t wanted[sizeof(struct token) + TOKEN_TEXT_LEN + 1];
	char text[TOKEN_TEXT_LEN + 1];
	struct token t, back;

	(void)state;
	vector_open(&v, "enroll.hex");
	vector_frames(&v);
	assert_int_equal(vector_bytes(&v, wanted, sizeof(wanted)), sizeof(wanted) - 1);
	count_up((uint8_t *)&t, sizeof(t), 0x30);
	assert_memory_equal(wanted, &t, sizeof(t));
	token_format(&t, text);
	assert_memory_equal(wanted + sizeof(t), text, TOKEN_TEXT_LEN);
	assert_true(token_parse(&back, (const char *)wanted + sizeof(t), TOKEN_TEXT_LEN));
	assert_memory_equal(&back, &t, sizeof(t));
	assert_int_equal(vector_bytes(&v, wanted, sizeof(wanted)), 0);
}

static void out_of_bounds(void **state)
{
	struct message_enroll m = sample(ENROLL_REQUEST_MAX), back;
	size_t len = encode(&m);

	(void)state;
	assert_int_equal(enroll_decode(&back, room, len), WIRE_OK);
	m = sample(ENROLL_REQUEST_MAX + 1);
	len = encode(&m);
	assert_int_equal(enroll_decode(&back, room, len), WIRE_CORRUPT);
	m = sample(0);
	len = encode(&m);
	assert_int_equal(enroll_decode(&back, room, len), WIRE_CORRUPT);
	m = sample(10);
	len = encode(&m);
	room[1] = 15; /* a secret that is too short, and so everything behind it */
	assert_int_equal(enroll_decode(&back, room, len), WIRE_CORRUPT);
}

/* Who has no room says so, whichever field is the last that fits, and writes nothing behind it. */
static void no_room(void **state)
{
	struct message_certificate c = { .certificate = { bytes, 5 },
					 .n_authorities = 1,
					 .authorities = { { bytes, 5 } } };
	struct message_enroll m = sample(30);
	size_t len = encode(&m), i;
	struct byte_writer w;

	(void)state;
	for (i = 0; i < len; i++) {
		memset(room, 0xee, sizeof(room));
		writer_init(&w, room, i);
		enroll_encode(&w, &m);
		assert_true(w.full);
		assert_int_equal(room[i], 0xee);
	}
	for (i = 0; i < 12; i++) {
		writer_init(&w, room, i);
		certificate_encode(&w, &c);
		assert_true(w.full);
	}
}

/* A version that this code cannot hold is a later one, and the rest is read. */
static void later_version(void **state)
{
	struct message_enroll m = sample(10), back;
	size_t len = encode(&m);
	uint8_t *rest = varint_put(bytes, 1ULL << 40);

	(void)state;
	memcpy(rest, room + 1, len - 1);
	assert_int_equal(enroll_decode(&back, bytes, (size_t)(rest - bytes) + len - 1), WIRE_OK);
	assert_int_equal(back.version, UINT32_MAX);
	assert_int_equal(back.request.len, 10);
}

static void certificates(void **state)
{
	struct message_certificate m = { .certificate = { bytes, 500 },
					 .n_authorities = 2,
					 .authorities = { { bytes, 20 }, { bytes, 2048 } } };
	struct message_certificate back;
	struct byte_writer w;
	size_t i, len;

	(void)state;
	writer_init(&w, room, sizeof(room));
	certificate_encode(&w, &m);
	assert_false(w.full);
	len = writer_len(&w);
	assert_int_equal(certificate_decode(&back, room, len), WIRE_OK);
	assert_int_equal(back.certificate.len, 500);
	assert_int_equal(back.n_authorities, 2);
	assert_int_equal(back.authorities[1].len, 2048);
	for (i = 0; i < len; i++)
		assert_int_equal(certificate_decode(&back, room, i), WIRE_CORRUPT);
	m.n_authorities = 0;
	writer_init(&w, room, sizeof(room));
	certificate_encode(&w, &m);
	assert_int_equal(certificate_decode(&back, room, writer_len(&w)), WIRE_CORRUPT);
	writer_init(&w, room, 100);
	certificate_encode(&w, &m);
	assert_true(w.full);
}

static void tokens(void **state)
{
	char text[TOKEN_TEXT_LEN + 1], around[TOKEN_TEXT_LEN + 8];
	struct token t, back;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(t); i++)
		((uint8_t *)&t)[i] = (uint8_t)(i * 37 + 5);
	token_format(&t, text);
	assert_int_equal(strlen(text), TOKEN_TEXT_LEN);
	assert_true(token_parse(&back, text, TOKEN_TEXT_LEN));
	assert_memory_equal(&back, &t, sizeof(t));
	for (i = 4; i < TOKEN_TEXT_LEN; i++)
		text[i] = (char)(text[i] >= 'a' ? text[i] - 'a' + 'A' : text[i]);
	assert_true(token_parse(&back, text, TOKEN_TEXT_LEN));
	assert_memory_equal(&back, &t, sizeof(t));
	snprintf(around, sizeof(around), " \t%s\r\n", text);
	assert_true(token_parse(&back, around, strlen(around)));
	for (i = 0; i < TOKEN_TEXT_LEN; i++)
		assert_false(token_parse(&back, text, i));
	for (i = 0; i < TOKEN_TEXT_LEN; i++) {
		char was = text[i];

		text[i] = 'u'; /* no letter of ours */
		assert_false(token_parse(&back, text, TOKEN_TEXT_LEN));
		text[i] = was;
	}
	text[TOKEN_TEXT_LEN - 1] = '1'; /* bits behind the last byte */
	assert_false(token_parse(&back, text, TOKEN_TEXT_LEN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back), cmocka_unit_test(vectors),
		cmocka_unit_test(out_of_bounds),  cmocka_unit_test(certificates),
		cmocka_unit_test(tokens),	  cmocka_unit_test(no_room),
		cmocka_unit_test(later_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
