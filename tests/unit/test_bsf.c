/* SPDX-License-Identifier: MIT */
/*
 * bsf: the published example, the vectors of docs/format/bsf.md, each field at its limits, the two
 * passes of the decoder, damage, and a million random records there and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wire/bsf_decode.h"
#include "wire/bsf_encode.h"
#include "wire/bsf_text.h"

static struct bsf_entry work[BSF_BLOCK_RECORDS_MAX];
static uint8_t block[BSF_BLOCK_MAX];

/* The two lines of the paper's figure 2. */
static const struct bsf_record cat_wakes = {
	.comm = "cat",
	.entry_pid = 42,
	.cpu = 0,
	.secs = 4154504421,
	.usec_rem = 591616,
	.prev_pid = 42,
	.prev_prio = 120,
	.prev_state = BSF_STATE_S,
	.entry_type = BSF_WAKEUP,
	.next_cpu = 0,
	.next_pid = 42,
	.next_prio = 120,
	.next_state = BSF_STATE_S,
};
static const struct bsf_record cat_switches = {
	.comm = "cat",
	.entry_pid = 42,
	.cpu = 0,
	.secs = 4154504421,
	.usec_rem = 591616,
	.prev_pid = 42,
	.prev_prio = 120,
	.prev_state = BSF_STATE_S,
	.entry_type = BSF_SWITCH,
	.next_cpu = 0,
	.next_pid = 0,
	.next_prio = 140,
	.next_state = BSF_STATE_R,
};
static const struct bsf_record limits = {
	.comm = { '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f' },
	.entry_pid = -1,
	.cpu = 999,
	.secs = 9999999999,
	.usec_rem = 999999,
	.prev_pid = INT32_MIN,
	.prev_prio = 255,
	.prev_state = BSF_STATE_I,
	.entry_type = BSF_WAKEUP_NEW,
	.next_cpu = 999,
	.next_pid = INT32_MAX,
	.next_prio = 139,
	.next_state = BSF_STATE_X,
};

static void assert_record_equal(const struct bsf_record *a, const struct bsf_record *b)
{
	assert_memory_equal(a->comm, b->comm, BSF_COMM_LEN);
	assert_true(a->secs == b->secs);
	assert_int_equal(a->usec_rem, b->usec_rem);
	assert_int_equal(a->entry_pid, b->entry_pid);
	assert_int_equal(a->prev_pid, b->prev_pid);
	assert_int_equal(a->next_pid, b->next_pid);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->next_cpu, b->next_cpu);
	assert_int_equal(a->prev_prio, b->prev_prio);
	assert_int_equal(a->next_prio, b->next_prio);
	assert_int_equal(a->prev_state, b->prev_state);
	assert_int_equal(a->next_state, b->next_state);
	assert_int_equal(a->entry_type, b->entry_type);
}

static size_t encode_all(const struct bsf_record *r, size_t n)
{
	struct bsf_encoder e;
	size_t at = 0, len, i;

	bsf_encoder_init(&e);
	for (i = 0; i < n; i++) {
		len = bsf_encode(&e, block + at, sizeof(block) - at, &r[i]);
		assert_in_range(len, BSF_HEADER_LEN, BSF_RECORD_MAX);
		at += len;
	}
	return at;
}

static void assert_round_trip(const struct bsf_record *r, size_t n)
{
	size_t len = encode_all(r, n), i;
	struct bsf_log log;

	bsf_log_init(&log, work, BSF_BLOCK_RECORDS_MAX);
	assert_int_equal(bsf_decode(&log, block, len), WIRE_OK);
	assert_int_equal(log.count, n);
	for (i = 0; i < n; i++)
		assert_record_equal(&log.first[i].rec, &r[i]);
}

static void assert_block_is(const char *hex, size_t len)
{
	char text[2 * BSF_RECORD_MAX * 4 + 1] = "";
	size_t i;

	for (i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", block[i]);
	assert_string_equal(text, hex);
}

/* The bytes were made by another program, bit by bit from the spec. */
static void test_vectors(void **state)
{
	struct bsf_record r[3] = { cat_wakes, cat_switches };

	(void)state;
	/* Vector 1: the paper's two lines. The second repeats every text. */
	assert_block_is("636174303431353435303434323135393136313630"
			"23652a510100005001000050010000c0c303"
			"000020500100005001000000000000c06304",
			encode_all(r, 2));
	/* Vector 2: every field at its limit. */
	assert_block_is("30313233343536373839616263646566393939393939393939393939393939393939393939"
			"39"
			"7065fefeffffff07000000fcfffffffb5f04",
			encode_all(&limits, 1));
	/* Vector 3: a task without a name, then one that is named like the mark, twice. */
	r[0] = r[1] = cat_switches;
	memset(r[0].comm, 0, BSF_COMM_LEN);
	memcpy(r[1].comm, "_\0\0", 3);
	r[1].usec_rem = 7;
	r[2] = r[1];
	r[2].cpu = 1;
	assert_block_is("303431353435303434323135393136313630"
			"3f6522500100005001000000000000c06304"
			"5f37"
			"011020500100005001000000000000c06304"
			"31"
			"200020500100005001000000000000c06304",
			encode_all(r, 3));
	assert_round_trip(r, 3);
}

static void test_published_text(void **state)
{
	char line[BSF_LINE_MAX];
	size_t len;

	(void)state;
	len = bsf_format(&cat_wakes, line);
	assert_int_equal(len, strlen(line));
	assert_string_equal(line, "cat-42 [000] 4154504421.591616: 42:120:S + [000] 42:120:S");
	len = bsf_format(&cat_switches, line);
	assert_int_equal(len, strlen(line));
	assert_string_equal(line, "cat-42 [000] 4154504421.591616: 42:120:S ==> [000] 0:140:R");
	bsf_format(&limits, line);
	assert_string_equal(line, "0123456789abcdef--1 [999] 9999999999.999999: "
				  "-2147483648:255:I +n [999] 2147483647:139:X");
}

/* Figures 6 and 7 of the paper: marks first, then filled from the head. */
static void test_intermediate_log(void **state)
{
	static const char *const expected[] = {
		"cat 0 4154504421 591616 0 | ==> S R | 42 42 0 120 140",
		"_ _ _ 591617 _ | + R R | 42 42 7 120 100",
		"\\x5f _ 4154504422 _ 1 | +w R R | 42 42 7 120 100",
		"\\e _ _ 0 _ | +w R R | 42 42 7 120 100",
		"_x _ _ _ _ | +w R R | 42 42 7 120 100",
		"a\\x20b\\x5c\\xff _ _ _ _ | +w R R | 42 42 7 120 100",
	};
	struct bsf_record r[6] = { cat_switches, cat_switches };
	char line[BSF_LINE_MAX];
	struct bsf_log log;
	size_t len, i;

	(void)state;
	r[1].usec_rem = 591617;
	r[1].entry_type = BSF_WAKEUP;
	r[1].prev_state = BSF_STATE_R;
	r[1].next_pid = 7;
	r[1].next_prio = 100;
	r[2] = r[1];
	r[2].entry_type = BSF_WAKING;
	r[2].secs++;
	r[2].next_cpu = 1;
	memcpy(r[2].comm, "_\0\0", 3);
	r[3] = r[2];
	memset(r[3].comm, 0, BSF_COMM_LEN);
	r[3].usec_rem = 0;
	r[4] = r[5] = r[3];
	memcpy(r[4].comm, "_x", 2);
	memcpy(r[5].comm, "a b\\\xff", 5);
	len = encode_all(r, 6);
	bsf_log_init(&log, work, BSF_BLOCK_RECORDS_MAX);
	assert_int_equal(bsf_log_decode(&log, block, len), WIRE_OK);
	assert_int_equal(log.count, 6);
	for (i = 0; i < 6; i++) {
		len = bsf_format_entry(&log.first[i], line);
		assert_int_equal(len, strlen(line));
		assert_string_equal(line, expected[i]);
	}
	assert_int_equal(bsf_log_fill(&log), WIRE_OK);
	for (i = 0; i < 6; i++)
		assert_record_equal(&log.first[i].rec, &r[i]);
}

static void test_longest_line(void **state)
{
	struct bsf_entry entry = { .rec = limits };
	char line[BSF_LINE_MAX];

	(void)state;
	memset(entry.rec.comm, 0xff, BSF_COMM_LEN);
	entry.rec.entry_pid = entry.rec.next_pid = INT32_MIN;
	assert_in_range(bsf_format_entry(&entry, line), 128, BSF_LINE_MAX - 1);
	entry.rec.secs = UINT64_MAX;
	assert_in_range(bsf_format(&entry.rec, line), 1, BSF_LINE_MAX - 1);
}

/* Every number of digits of every number, and the values around each carry. */
static void test_boundaries(void **state)
{
	static const uint64_t secs[] = {
		0, 1, 9, 10, 99, 4294967295, 4294967296, 999999999, 1000000000, 9999999999
	};
	static const uint32_t usecs[] = {
		0, 9, 10, 99, 100, 999, 1000, 9999, 99999, 100000, 999999
	};
	static const uint16_t cpus[] = { 0, 9, 10, 99, 100, 999 };
	struct bsf_record r[32];
	size_t i;

	(void)state;
	for (i = 0; i < 32; i++) {
		r[i] = cat_switches;
		r[i].secs = secs[i % 10];
		r[i].usec_rem = usecs[i % 11];
		r[i].cpu = cpus[i % 6];
		r[i].next_cpu = cpus[(i + 1) % 6];
		memset(r[i].comm, 0, BSF_COMM_LEN);
		memset(r[i].comm, 'a', i % (BSF_COMM_LEN + 1));
		r[i].entry_type = i & 3;
		r[i].prev_state = i & 7;
		r[i].next_state = 7 - (i & 7);
		r[i].entry_pid = (int32_t)(1U << i);
		r[i].prev_pid = (int32_t)(1U << (31 - i));
		r[i].next_pid = (int32_t) ~(1U << i);
		r[i].prev_prio = (uint8_t)(1U << (i & 7));
		r[i].next_prio = (uint8_t) ~(1U << (i & 7));
	}
	assert_round_trip(r, 32);
	for (i = 0; i < 32; i++)
		assert_round_trip(&r[i], 1);
}

static void test_invalid_records(void **state)
{
	struct bsf_record bad[8];
	struct bsf_encoder e;
	size_t i;

	(void)state;
	for (i = 0; i < 8; i++)
		bad[i] = cat_switches;
	bad[0].cpu = 1000;
	bad[1].next_cpu = 1000;
	bad[2].secs = BSF_SECS_MAX + 1;
	bad[3].usec_rem = 1000000;
	bad[4].prev_state = 8;
	bad[5].next_state = 8;
	bad[6].entry_type = 4;
	bad[7].comm[5] = 'x';
	bsf_encoder_init(&e);
	for (i = 0; i < 8; i++) {
		assert_false(bsf_record_valid(&bad[i]));
		assert_int_equal(bsf_encode(&e, block, sizeof(block), &bad[i]), 0);
	}
	assert_false(e.started);
}

/* Too little room changes nothing, and just enough is enough. */
static void test_room(void **state)
{
	struct bsf_encoder e, before;
	uint8_t out[BSF_RECORD_MAX];
	size_t room;

	(void)state;
	bsf_encoder_init(&e);
	assert_int_equal(bsf_encode(&e, out, sizeof(out), &limits), BSF_RECORD_MAX);
	before = e;
	for (room = 0; room < 3 + 1 + 10 + 6 + 1 + BSF_HEADER_LEN; room++) {
		memset(out, 0xa5, sizeof(out));
		assert_int_equal(bsf_encode(&e, out, room, &cat_switches), 0);
		assert_int_equal(out[0], 0xa5);
		assert_memory_equal(&e, &before, sizeof(e));
	}
	assert_int_equal(bsf_encode(&e, out, room, &cat_switches), room);
	assert_int_equal(bsf_encode(&e, out, BSF_HEADER_LEN, &cat_switches), BSF_HEADER_LEN);
}

static void test_work_area(void **state)
{
	struct bsf_record r[4] = { cat_wakes, cat_switches, limits, cat_wakes };
	size_t len = encode_all(r, 4);
	struct bsf_log log;

	(void)state;
	bsf_log_init(&log, work, 3);
	assert_int_equal(bsf_decode(&log, block, len), WIRE_FULL);
	assert_int_equal(log.count, 0);
	bsf_log_init(&log, work, 4);
	assert_int_equal(bsf_decode(&log, block, len), WIRE_OK);
	assert_int_equal(bsf_decode(&log, block, 0), WIRE_OK);
	assert_int_equal(log.count, 0);
}

static void assert_corrupt(size_t len, size_t bad_offset)
{
	struct bsf_log log;

	bsf_log_init(&log, work, BSF_BLOCK_RECORDS_MAX);
	assert_int_equal(bsf_decode(&log, block, len), WIRE_CORRUPT);
	assert_int_equal(log.count, 0);
	assert_int_equal(log.bad_offset, bad_offset);
}

/* Each rule of section 6 broken alone; the record is 21 bytes of texts and 18 of header. */
static void test_broken_rules(void **state)
{
	static const struct {
		size_t at;
		uint8_t value;
	} change[] = {
		{ 38, 0x0c }, /* a bit behind the 139 is set */
		{ 21, 0x31 }, /* comm length 17 */
		{ 22, 0x6d }, /* secs length 26 … */
		{ 23, 0x2b }, /* usec_rem length 22 */
		{ 1, 0 },     /* NUL in the name */
		{ 3, 'x' },   /* cpu is no digit */
		{ 4, '/' },   /* secs */
		{ 14, ':' },  /* usec_rem */
		{ 20, ' ' },  /* next_cpu */
	};
	size_t len = encode_all(&cat_wakes, 1), i;
	uint8_t keep;

	(void)state;
	assert_int_equal(len, 39);
	for (i = 0; i < sizeof(change) / sizeof(change[0]); i++) {
		keep = block[change[i].at];
		block[change[i].at] = change[i].value;
		assert_corrupt(len, 21);
		block[change[i].at] = keep;
	}
	assert_corrupt(BSF_HEADER_LEN - 1, 0);
	memmove(block, block + 1, len - 1); /* the name reaches before the block */
	assert_corrupt(len - 1, 20);
}

/* A first record that leaves out a text depends on a block that is not here. */
static void test_not_from_the_start(void **state)
{
	const struct bsf_record two[] = { cat_wakes, cat_switches };
	size_t len = encode_all(two, 2);

	(void)state;
	memmove(block, block + 39, len - 39);
	assert_corrupt(len - 39, 0);
}

/* A block cut anywhere but between records is corrupt, and is never read outside. */
static void test_wrong_tail(void **state)
{
	struct bsf_record r[3] = { limits, cat_wakes, cat_switches };
	size_t len = encode_all(r, 3), cut;
	struct bsf_log log;
	enum wire_status status;

	(void)state;
	for (cut = 1; cut < len; cut++) {
		uint8_t *copy = test_malloc(cut); /* exact, so that a sanitizer sees every excess */

		memcpy(copy, block, cut);
		bsf_log_init(&log, work, BSF_BLOCK_RECORDS_MAX);
		status = bsf_decode(&log, copy, cut);
		if (cut == 56 || cut == 56 + 39)
			assert_int_equal(status, WIRE_OK);
		else
			assert_int_equal(status, WIRE_CORRUPT);
		test_free(copy);
	}
	bsf_log_init(&log, work, BSF_BLOCK_RECORDS_MAX);
	assert_int_equal(bsf_decode(&log, block, BSF_BLOCK_MAX + 1), WIRE_CORRUPT);
}

/* Leading zeros are no damage: another encoder may write the texts as the kernel prints them. */
static void test_padded_numbers(void **state)
{
	static const uint8_t padded[] =
		"cat"
		"000"
		"4154504421"
		"000007"
		"001"
		"\x63\x65\x26\x50\x01\x00\x00\x50\x01\x00\x00\x00\x00\x00\x00"
		"\xc0\x63\x04";
	struct bsf_log log;

	(void)state;
	bsf_log_init(&log, work, 1);
	assert_int_equal(bsf_decode(&log, padded, sizeof(padded) - 1), WIRE_OK);
	assert_int_equal(log.first[0].rec.cpu, 0);
	assert_int_equal(log.first[0].rec.usec_rem, 7);
	assert_int_equal(log.first[0].rec.next_cpu, 1);
}

static uint64_t random_next(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s * 0x2545f4914f6cdd1dULL;
}

/* Values repeat about half the time, so that every pattern of left-out texts occurs. */
static void random_record(uint64_t *s, struct bsf_record *r)
{
	uint64_t what = random_next(s), bits = random_next(s);
	size_t i, len = what >> 8 & 31;

	if (what & 1) {
		memset(r->comm, 0, BSF_COMM_LEN);
		for (i = 0; i < BSF_COMM_LEN && i < len; i++)
			r->comm[i] = (char)(1 + random_next(s) % 255);
	}
	if (what & 2)
		r->cpu = (uint16_t)(random_next(s) % (what & 64 ? 10 : 1000));
	if (what & 4)
		r->secs = random_next(s) % (BSF_SECS_MAX + 1) >> (what >> 16 & 31);
	if (what & 8)
		r->usec_rem = (uint32_t)(random_next(s) % 1000000) >> (what >> 24 & 15);
	if (what & 16)
		r->next_cpu = (uint16_t)(random_next(s) % 1000);
	r->entry_pid = (int32_t)(uint32_t)random_next(s);
	r->prev_pid = (int32_t)(uint32_t)random_next(s);
	r->next_pid = (int32_t)(uint32_t)random_next(s);
	r->prev_prio = (uint8_t)bits;
	r->next_prio = (uint8_t)(bits >> 8);
	r->prev_state = bits >> 16 & 7;
	r->next_state = bits >> 19 & 7;
	r->entry_type = bits >> 22 & 3;
}

static void test_million(void **state)
{
	static struct bsf_record sent[BSF_BLOCK_RECORDS_MAX];
	struct bsf_record r = cat_switches;
	uint64_t seed = 0x1234567890abcdefULL;
	size_t total = 0, n, at, len, i;
	struct bsf_encoder e;
	struct bsf_log log;

	(void)state;
	while (total < 1000000) {
		bsf_encoder_init(&e);
		for (n = 0, at = 0;; n++, at += len) {
			random_record(&seed, &r);
			len = bsf_encode(&e, block + at, sizeof(block) - at, &r);
			if (!len)
				break;
			sent[n] = r;
		}
		bsf_log_init(&log, work, BSF_BLOCK_RECORDS_MAX);
		assert_int_equal(bsf_decode(&log, block, at), WIRE_OK);
		assert_int_equal(log.count, n);
		for (i = 0; i < n; i++)
			assert_record_equal(&log.first[i].rec, &sent[i]);
		total += n;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_published_text),
		cmocka_unit_test(test_intermediate_log),
		cmocka_unit_test(test_longest_line),
		cmocka_unit_test(test_boundaries),
		cmocka_unit_test(test_invalid_records),
		cmocka_unit_test(test_room),
		cmocka_unit_test(test_work_area),
		cmocka_unit_test(test_broken_rules),
		cmocka_unit_test(test_not_from_the_start),
		cmocka_unit_test(test_wrong_tail),
		cmocka_unit_test(test_padded_numbers),
		cmocka_unit_test(test_million),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
