/* SPDX-License-Identifier: MIT */
/*
 * rtc: the vectors of docs/format/rtc.md, among them the published one, bit for bit in both
 * directions; random records under random parameters against a model that does what the paper
 * says in the slowest way; limits, small rooms and cut bits.
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
#include "wire/rtc_decode.h"
#include "wire/rtc_encode.h"

#define ROOM 65536U
#define RECORDS 300U
#define SETS 400U

static struct vector vector;
static struct rtc_encoder encoder;
static struct rtc_decoder decoder;
static uint8_t out[ROOM], wanted[ROOM];
static const struct rtc_params published = RTC_PARAMS_PUBLISHED;

static void assert_record_equal(const struct rtc_record *a, const struct rtc_record *b)
{
	assert_true(a->difference == b->difference);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->type, b->type);
	assert_true(a->value == b->value);
}

/* "kind difference id" or "os difference type value"; false if the line is something else. */
static bool parse_record(const char *line, struct rtc_record *ret)
{
	struct rtc_record r = { 0 };
	uint64_t a, b, c;
	char kind[16];
	int n = sscanf(line, "%15s %" SCNu64 " %" SCNu64 " %" SCNu64, kind, &a, &b, &c);

	r.difference = a;
	r.value = b;
	if (n >= 3 && !strcmp(kind, "start")) {
		r.kind = RTC_START;
	} else if (n >= 3 && !strcmp(kind, "end")) {
		r.kind = RTC_END;
	} else if (n == 4 && !strcmp(kind, "os")) {
		r.kind = RTC_OS;
		r.type = (uint32_t)b;
		r.value = c;
	} else {
		return false;
	}
	*ret = r;
	return true;
}

static bool parse_params(const char *line, struct rtc_params *p)
{
	unsigned v[8];

	if (sscanf(line, "params %u %u %u %u %u %u %u %u", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5],
		   &v[6], &v[7]) != 8)
		return false;
	*p = (struct rtc_params){ (uint8_t)v[0], (uint8_t)v[1], (uint8_t)v[2], (uint8_t)v[3],
				  (uint8_t)v[4], (uint8_t)v[5], (uint8_t)v[6], (uint8_t)v[7] };
	return true;
}

/* The bits from..to of what was written, which must be the zeros and ones of a text. */
static void assert_bits(const uint8_t *bytes, uint64_t from, uint64_t to, const char *text)
{
	for (; *text; text++) {
		if (*text == ' ')
			continue;
		assert_true(from < to);
		assert_int_equal(bytes[from / 8] >> (7 - from % 8) & 1, *text - '0');
		from++;
	}
	assert_true(from == to);
}

/* The paper's example and the edges of the rule: the code is what a record starts with. */
static void test_time(void **state)
{
	unsigned time_bits, rows = 0;
	uint64_t difference, before;
	struct rtc_params p = published;
	struct rtc_record r = { .value = 1 }, back;
	char code[128];

	(void)state;
	vector_open(&vector, "rtc.txt");
	while (vector_line(&vector)) {
		if (sscanf(vector.line, "time %u %" SCNu64 " %127s", &time_bits, &difference,
			   code) != 3)
			continue;
		p.time_bits = (uint8_t)time_bits;
		r.difference = difference;
		assert_true(rtc_encoder_init(&encoder, &p, out, ROOM));
		assert_int_equal(rtc_encode(&encoder, &r), WIRE_OK);
		before = rtc_encoder_bits(&encoder) - 1 - 3 - 17;
		assert_true(rtc_decoder_init(&decoder, &p, out, rtc_encoder_end(&encoder)));
		assert_bits(out, 0, before, code);
		assert_int_equal(rtc_decode(&decoder, &back), WIRE_OK);
		assert_record_equal(&back, &r);
		rows++;
	}
	assert_true(rows >= 11);
}

/* The records after a line "params": each one's bits as it is encoded, and again from the
 * vector's own bytes. */
static void check_piece(const struct rtc_params *p)
{
	static struct rtc_encoder copy;
	struct rtc_record r[64], back;
	uint32_t n = 0, i;
	uint64_t before;
	char *bits;

	assert_true(rtc_encoder_init(&encoder, p, out, ROOM));
	while (vector_line(&vector) && parse_record(vector.line, &r[n])) {
		bits = strchr(vector.line, '|');
		assert_non_null(bits);
		before = rtc_encoder_bits(&encoder);
		assert_int_equal(rtc_encode(&encoder, &r[n]), WIRE_OK);
		/* The last bits of it are still in the encoder. */
		copy = encoder;
		rtc_encoder_end(&copy);
		assert_bits(out, before, rtc_encoder_bits(&encoder), bits + 1);
		assert_true(++n < 64);
	}
	assert_memory_equal(vector.line, "bytes ", 6);
	i = (uint32_t)vector_hex(&vector, vector.line + 6, wanted, ROOM);
	assert_int_equal(rtc_encoder_end(&encoder), i);
	assert_memory_equal(out, wanted, i);
	assert_true(rtc_decoder_init(&decoder, p, wanted, i));
	for (i = 0; i < n; i++) {
		assert_int_equal(rtc_decode(&decoder, &back), WIRE_OK);
		assert_record_equal(&back, &r[i]);
	}
	assert_int_equal(rtc_decoder_end(&decoder), WIRE_OK);
}

static void test_vectors(void **state)
{
	struct rtc_params p;
	unsigned pieces = 0;

	(void)state;
	vector_open(&vector, "rtc.txt");
	while (vector_line(&vector)) {
		if (!parse_params(vector.line, &p))
			continue;
		check_piece(&p);
		pieces++;
	}
	assert_true(pieces >= 6);
}

/* --- The model: the paper's rules word for word. Entries really move up, searches go through all
 * places, and bits are written one by one. */

struct model_dictionary {
	uint64_t key[RTC_PLACES_MAX];
	uint32_t age[RTC_PLACES_MAX]; /* 0: empty */
	uint32_t places, pointer, clock;
};

static struct model {
	struct rtc_params p;
	struct bit_writer w;
	struct model_dictionary ids, types, values;
} model;

static void model_push(struct model_dictionary *d, uint64_t key)
{
	uint32_t i, at = d->pointer;

	if (model.p.placing == RTC_NEWEST_FIRST) {
		for (i = d->places - 1; i > 0; i--) {
			d->key[i] = d->key[i - 1];
			d->age[i] = d->age[i - 1];
		}
		at = 0;
	}
	d->key[at] = key;
	d->age[at] = ++d->clock;
	d->pointer = (d->pointer + 1) % d->places;
}

/* Of equal entries, the one written last. */
static int model_find(const struct model_dictionary *d, uint64_t key)
{
	int found = -1;
	uint32_t i;

	for (i = 0; i < d->places; i++)
		if (d->age[i] && d->key[i] == key && (found < 0 || d->age[i] > d->age[found]))
			found = (int)i;
	return found;
}

static void model_plain(struct model_dictionary *d, uint64_t v, uint32_t nd, uint32_t bits)
{
	int at = model_find(d, v);

	bit_writer_put(&model.w, at < 0 ? rtc_mask(nd) : (uint64_t)at, nd);
	if (at >= 0)
		return;
	bit_writer_put(&model.w, v, bits);
	model_push(d, v);
}

static void model_time(uint64_t t)
{
	uint32_t nt = model.p.time_bits, zeros = 0, log2 = 0;

	while (2U << log2 <= nt - 1)
		log2++;
	while (zeros < nt && !(t >> (nt - 1 - zeros) & 1))
		zeros++;
	bit_writer_put(&model.w, zeros, log2 + 1);
	if (zeros < nt && nt - 1 - zeros)
		bit_writer_put(&model.w, t & rtc_mask(nt - 1 - zeros), nt - 1 - zeros);
}

static void model_os(uint32_t type, uint64_t value)
{
	bit_writer_put(&model.w, 1, 1);
	model_plain(&model.types, type, model.p.type_address_bits, model.p.type_bits);
	model_plain(&model.values, value, model.p.value_address_bits, model.p.value_bits);
}

static void model_function(uint64_t id, uint64_t flag)
{
	int at = model_find(&model.ids, id << 1 | flag);
	uint32_t nd = model.p.id_address_bits;

	bit_writer_put(&model.w, 0, 1);
	bit_writer_put(&model.w, at < 0 ? rtc_mask(nd) : (uint64_t)at, nd);
	if (at >= 0) {
		model.ids.key[at] ^= 1;
		return;
	}
	bit_writer_put(&model.w, flag, 1);
	bit_writer_put(&model.w, id, model.p.id_bits);
	model_push(&model.ids, id << 1 | (flag ^ 1));
}

static void model_record(const struct rtc_record *r)
{
	uint32_t nt = model.p.time_bits, step = model.p.value_bits, n = 0;
	uint64_t t = r->difference, high = 0, parts[64];

	if (t > rtc_mask(nt) || (!t && (nt & (nt - 1)) == 0)) {
		high = t ? (t - 1) >> (nt - 1) : 0;
		t = t ? ((t - 1) & rtc_mask(nt - 1)) + 1 : 1;
		do {
			parts[n++] = high & rtc_mask(step);
			high = step < 64 ? high >> step : 0;
		} while (high);
		while (n--) {
			model_time(1);
			model_os(rtc_carry_type(&model.p), parts[n]);
		}
	}
	model_time(t);
	if (r->kind == RTC_OS)
		model_os(r->type, r->value);
	else
		model_function(r->value, r->kind);
}

static void model_init(const struct rtc_params *p, uint8_t *to)
{
	memset(&model, 0, sizeof(model));
	model.p = *p;
	model.ids.places = (1U << p->id_address_bits) - 1;
	model.types.places = (1U << p->type_address_bits) - 1;
	model.values.places = (1U << p->value_address_bits) - 1;
	bit_writer_init(&model.w, to, ROOM);
}

/* --- Random records. */

static uint64_t seed;

static uint64_t random_bits(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * UINT64_C(0x2545f4914f6cdd1d) >> (64 - n);
}

/* 0 … n - 1 */
static uint32_t random_below(uint32_t n)
{
	return (uint32_t)(random_bits(32) % n);
}

/* Few values and now and then any, so that dictionaries hit and miss. */
static uint64_t random_value(uint32_t bits)
{
	uint64_t v = random_below(4) ? random_below(12) : random_bits(1 + random_below(64));

	return v & rtc_mask(bits);
}

static struct rtc_record random_record(const struct rtc_params *p)
{
	struct rtc_record r = { .difference = random_bits(1 + random_below(p->time_bits)) };

	if (random_below(20) == 0)
		r.difference = random_bits(1 + random_below(64));
	if (random_below(50) == 0)
		r.difference = random_below(2) ? UINT64_MAX : (uint64_t)1 << random_below(64);
	r.kind = (uint8_t)(random_below(8) ? random_below(2) : RTC_OS);
	r.value = random_value(r.kind == RTC_OS ? p->value_bits : p->id_bits);
	if (r.kind == RTC_OS) {
		r.type = (uint32_t)random_value(p->type_bits);
		r.type -= r.type == rtc_carry_type(p);
	}
	return r;
}

static struct rtc_params random_params(void)
{
	return (struct rtc_params){
		.time_bits = (uint8_t)(2 + random_below(63)),
		.id_bits = (uint8_t)(1 + random_below(32)),
		.type_bits = (uint8_t)(1 + random_below(32)),
		.value_bits = (uint8_t)(1 + random_below(64)),
		.id_address_bits = (uint8_t)(1 + random_below(10)),
		.type_address_bits = (uint8_t)(1 + random_below(10)),
		.value_address_bits = (uint8_t)(1 + random_below(10)),
		.placing = (uint8_t)random_below(2),
	};
}

static void check_random(const struct rtc_params *p)
{
	static struct rtc_record r[RECORDS];
	struct rtc_record back;
	uint32_t n, i;
	size_t len;

	model_init(p, wanted);
	assert_true(rtc_encoder_init(&encoder, p, out, ROOM));
	for (n = 0; n < RECORDS; n++) {
		r[n] = random_record(p);
		assert_int_equal(rtc_encode(&encoder, &r[n]), WIRE_OK);
		model_record(&r[n]);
	}
	assert_true(rtc_encoder_bits(&encoder) == model.w.at);
	assert_int_equal(encoder.ids.written, model.ids.clock);
	len = rtc_encoder_end(&encoder);
	assert_false(model.w.bad);
	assert_int_equal(len, bit_writer_len(&model.w));
	assert_memory_equal(out, wanted, len);
	assert_true(rtc_decoder_init(&decoder, p, out, len));
	for (i = 0; i < n; i++) {
		assert_int_equal(rtc_decode(&decoder, &back), WIRE_OK);
		assert_record_equal(&back, &r[i]);
	}
	assert_int_equal(rtc_decoder_end(&decoder), WIRE_OK);
	assert_int_equal(rtc_decode(&decoder, &back), WIRE_CORRUPT);
}

static void test_random(void **state)
{
	struct rtc_params p;
	unsigned i;

	(void)state;
	seed = 20261115;
	for (i = 0; i < SETS; i++) {
		p = i % 8 ? random_params() : published;
		if (i % 8 == 1)
			p.time_bits = (uint8_t)(2U << i / 8 % 6);
		check_random(&p);
	}
}

/* Real call sequences: the second call of a loop and all after it hit, whatever the depth up to the
 * dictionary's size. */
static void test_dictionary(void **state)
{
	struct rtc_record r = { .difference = 10 };
	uint64_t before;
	int loop, i;

	(void)state;
	assert_true(rtc_encoder_init(&encoder, &published, out, ROOM));
	for (loop = 0; loop < 50; loop++) {
		before = rtc_encoder_bits(&encoder);
		for (i = 0; i < 14; i++) {
			r.kind = i < 7 ? RTC_START : RTC_END;
			r.value = (uint64_t)(i < 7 ? i : 13 - i);
			assert_int_equal(rtc_encode(&encoder, &r), WIRE_OK);
		}
		/* Time: 5 bits and 3 behind the first one. Class: 1. Address: 3. */
		if (loop)
			assert_true(rtc_encoder_bits(&encoder) - before == 14 * (8 + 1 + 3));
	}
	assert_int_equal(encoder.ids.written, 7);
	assert_int_equal(encoder.records, 50 * 14);
}

static void test_limits(void **state)
{
	static const struct rtc_params bad[] = {
		{ 1, 16, 7, 16, 3, 3, 3, 0 },  { 65, 16, 7, 16, 3, 3, 3, 0 },
		{ 23, 0, 7, 16, 3, 3, 3, 0 },  { 23, 33, 7, 16, 3, 3, 3, 0 },
		{ 23, 16, 0, 16, 3, 3, 3, 0 }, { 23, 16, 33, 16, 3, 3, 3, 0 },
		{ 23, 16, 7, 0, 3, 3, 3, 0 },  { 23, 16, 7, 65, 3, 3, 3, 0 },
		{ 23, 16, 7, 16, 0, 3, 3, 0 }, { 23, 16, 7, 16, 11, 3, 3, 0 },
		{ 23, 16, 7, 16, 3, 0, 3, 0 }, { 23, 16, 7, 16, 3, 11, 3, 0 },
		{ 23, 16, 7, 16, 3, 3, 0, 0 }, { 23, 16, 7, 16, 3, 3, 11, 0 },
		{ 23, 16, 7, 16, 3, 3, 3, 2 },
	};
	static const struct rtc_record wide[] = {
		{ .kind = RTC_START, .value = 65536 },
		{ .kind = RTC_OS, .type = 5, .value = 65536 },
		{ .kind = RTC_OS, .type = 127, .value = 1 },
		{ .kind = RTC_OS, .type = 128, .value = 1 },
		{ .kind = 3, .value = 1 },
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(rtc_encoder_init(&encoder, &bad[i], out, ROOM));
		assert_false(rtc_decoder_init(&decoder, &bad[i], out, ROOM));
	}
	assert_true(rtc_encoder_init(&encoder, &published, out, ROOM));
	for (i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		assert_int_equal(rtc_encode(&encoder, &wide[i]), WIRE_CORRUPT);
	assert_int_equal(rtc_encoder_end(&encoder), 0);
}

/* Any room: nothing is written behind it, and what was taken comes back; a record that was refused
 * has left no trace. */
static void check_room(const struct rtc_params *p, size_t room)
{
	static struct rtc_record r[RECORDS];
	struct rtc_record back;
	uint32_t n = 0, i;
	size_t len;

	memset(out, 0xa5, ROOM);
	assert_true(rtc_encoder_init(&encoder, p, out, room));
	for (i = 0; i < RECORDS; i++) {
		r[n] = random_record(p);
		if (rtc_encode(&encoder, &r[n]) == WIRE_OK)
			n++;
	}
	len = rtc_encoder_end(&encoder);
	assert_true(len <= room);
	for (i = 0; i < 64; i++)
		assert_int_equal(out[room + i], 0xa5);
	assert_true(rtc_decoder_init(&decoder, p, out, len));
	for (i = 0; i < n; i++) {
		assert_int_equal(rtc_decode(&decoder, &back), WIRE_OK);
		assert_record_equal(&back, &r[i]);
	}
	assert_int_equal(rtc_decoder_end(&decoder), WIRE_OK);
}

static void test_room(void **state)
{
	struct rtc_params p;
	size_t room;

	(void)state;
	seed = 77;
	for (room = 0; room < 300; room++) {
		p = room % 2 ? random_params() : published;
		check_room(&p, room);
	}
}

/* A record of the system as the published parameters have it, every field written out. */
static void put_os(struct bit_writer *w, uint32_t type, uint32_t value)
{
	bit_writer_put(w, 22, 5); /* 22 zeros: a difference of 1 */
	bit_writer_put(w, 1, 1);
	bit_writer_put(w, 7, 3);
	bit_writer_put(w, type, 7);
	bit_writer_put(w, 7, 3);
	bit_writer_put(w, value, 16);
}

/* Carry records with these values, and a record that they belong to. */
static enum wire_status carry(const uint16_t *values, uint32_t n)
{
	struct rtc_record back;
	struct bit_writer w;
	uint32_t i;

	bit_writer_init(&w, out, ROOM);
	for (i = 0; i < n; i++)
		put_os(&w, 127, values[i]);
	put_os(&w, 3, 9);
	assert_true(rtc_decoder_init(&decoder, &published, out, bit_writer_len(&w)));
	return rtc_decode(&decoder, &back);
}

/* Carries that no encoder writes: a zero before others, and more bits than 64. */
static void test_carries(void **state)
{
	static const uint16_t zero_first[] = { 0, 5 },
			      many[] = { 0xffff, 0xffff, 0xffff, 0xffff, 0xffff };

	(void)state;
	assert_int_equal(carry(zero_first, 1), WIRE_OK);
	assert_int_equal(carry(zero_first, 2), WIRE_CORRUPT);
	assert_int_equal(carry(many, 2), WIRE_OK);
	assert_int_equal(carry(many, 3), WIRE_CORRUPT); /* 48 bits above 22 */
	assert_int_equal(carry(many, 5), WIRE_CORRUPT);
}

/* A byte behind the last record is one too many; less than that are the bits that fill a byte. */
static void test_rest(void **state)
{
	struct rtc_record back;
	struct bit_writer w;

	(void)state;
	bit_writer_init(&w, out, ROOM);
	put_os(&w, 3, 9);
	bit_writer_put(&w, 0, 8);
	assert_true(rtc_decoder_init(&decoder, &published, out, bit_writer_len(&w)));
	assert_int_equal(rtc_decode(&decoder, &back), WIRE_OK);
	assert_int_equal(rtc_decoder_end(&decoder), WIRE_CORRUPT);
	assert_true(rtc_decoder_init(&decoder, &published, out, bit_writer_len(&w) - 1));
	assert_int_equal(rtc_decode(&decoder, &back), WIRE_OK);
	assert_int_equal(rtc_decoder_end(&decoder), WIRE_OK);
}

/* Every shorter part of some bits lacks a record, and is read from memory that ends with it. */
static void test_cut(void **state)
{
	struct rtc_params p;
	struct rtc_record r, back;
	uint32_t n, i;
	size_t len, cut;
	uint8_t *part;

	(void)state;
	seed = 4;
	p = random_params();
	assert_true(rtc_encoder_init(&encoder, &p, out, ROOM));
	for (n = 0; n < 40; n++) {
		r = random_record(&p);
		assert_int_equal(rtc_encode(&encoder, &r), WIRE_OK);
	}
	len = rtc_encoder_end(&encoder);
	for (cut = 0; cut < len; cut++) {
		part = malloc(cut ? cut : 1);
		assert_non_null(part);
		memcpy(part, out, cut);
		assert_true(rtc_decoder_init(&decoder, &p, part, cut));
		for (i = 0; rtc_decode(&decoder, &back) == WIRE_OK; i++)
			assert_true(i < n);
		assert_true(i < n);
		assert_int_equal(rtc_decoder_end(&decoder), WIRE_CORRUPT);
		free(part);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),   cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_random), cmocka_unit_test(test_dictionary),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_room),
		cmocka_unit_test(test_cut),    cmocka_unit_test(test_carries),
		cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
