/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc_encode: see rtc_encode.h and docs/format/rtc.md.
 *
 * What the hardware does with an associative memory is done here with chains of equal hashes. A
 * function's hash is that of its id alone, so that flipping the flag of an entry leaves it where it
 * is. Bits are collected in a word of 64 and leave it by 32; room is asked for once for each record.
 */
#include "wire/rtc_encode.h"

#define HASH 2654435761U
#define RECORDS_MAX UINT32_MAX

static void finder_init(struct rtc_finder *f, uint32_t address_bits)
{
	f->written = 0;
	f->pointer = 0;
	memset(f->newest, 0, sizeof(f->newest[0]) << address_bits);
}

static size_t record_room(const struct rtc_params *p, uint32_t zero_bits)
{
	uint32_t function = p->id_address_bits + 1U + p->id_bits;
	uint32_t os = p->type_address_bits + p->type_bits + p->value_address_bits + p->value_bits;

	/* And what is pending, and the word that it is written by. */
	return (zero_bits + p->time_bits + 1 + (os > function ? os : function)) / 8 + 9;
}

bool rtc_encoder_init(struct rtc_encoder *e, const struct rtc_params *p, uint8_t *out, size_t room)
{
	if (!rtc_params_valid(p))
		return false;
	e->params = *p;
	e->out = out;
	e->len = 0;
	e->room = room;
	e->zero_bits = rtc_zero_bits(p);
	e->counts_zero = rtc_counts_zero(p);
	e->need = record_room(p, e->zero_bits);
	e->bits = 0;
	e->pending = 0;
	e->records = 0;
	e->os_records = 0;
	e->carries = 0;
	finder_init(&e->ids, p->id_address_bits);
	finder_init(&e->types, p->type_address_bits);
	finder_init(&e->values, p->value_address_bits);
	return true;
}

/* n <= 32 bits, of which v has no more. */
static ALWAYS_INLINE void put_few(struct rtc_encoder *e, uint32_t v, uint32_t n)
{
	e->bits = e->bits << n | v;
	e->pending += n;
	if (e->pending >= 32) {
		e->pending -= 32;
		put_be32(e->out + e->len, (uint32_t)(e->bits >> e->pending));
		e->len += 4;
	}
}

static ALWAYS_INLINE void put(struct rtc_encoder *e, uint64_t v, uint32_t n)
{
	if (n > 32) {
		put_few(e, (uint32_t)(v >> 32), n - 32);
		n = 32;
	}
	put_few(e, (uint32_t)v, n);
}

static ALWAYS_INLINE uint32_t hash_of(uint64_t v, uint32_t address_bits)
{
	return ((uint32_t)v ^ (uint32_t)(v >> 32)) * HASH >> (32 - address_bits);
}

/* The number of the entry that was written last of those with this key, 0 if there is none. */
static ALWAYS_INLINE uint32_t finder_get(const struct rtc_finder *f, uint64_t key, uint32_t hash,
					 uint32_t miss)
{
	uint32_t number = f->newest[hash];

	while (number && f->written - number < miss) {
		if (f->key[number & miss] == key)
			return number;
		number = f->older[number & miss];
	}
	return 0;
}

static ALWAYS_INLINE void finder_push(struct rtc_finder *f, uint64_t key, uint32_t hash,
				      uint32_t miss)
{
	uint32_t number = ++f->written, at = number & miss;

	f->key[at] = key;
	f->older[at] = f->newest[hash];
	f->newest[hash] = number;
	f->address[at] = (uint16_t)f->pointer;
	f->pointer = f->pointer + 1 == miss ? 0 : f->pointer + 1;
}

static ALWAYS_INLINE uint32_t finder_address(const struct rtc_finder *f, uint32_t number,
					     uint32_t miss, uint32_t placing)
{
	return placing == RTC_NEWEST_FIRST ? f->written - number : f->address[number & miss];
}

/* Section 3: the count of leading zeros, then what stands behind the first one; then n <= 12 bits more,
 * which mostly fit the same word. */
static ALWAYS_INLINE void put_time(struct rtc_encoder *e, uint64_t t, uint32_t more, uint32_t n)
{
	uint32_t width = rtc_width(t), rest = width ? width - 1 : 0;
	uint32_t zeros = e->params.time_bits - width;

	if (e->zero_bits + rest + n <= 32) {
		zeros = zeros << rest | ((uint32_t)t & (uint32_t)rtc_mask(rest));
		put_few(e, zeros << n | more, e->zero_bits + rest + n);
		return;
	}
	put_few(e, zeros, e->zero_bits);
	put(e, t & rtc_mask(rest), rest);
	put_few(e, more, n);
}

/* Section 4: the entry, found or made, expects the other flag from now on. The bit of the class
 * stands before the code; it is 0 for functions, so it only widens the address. */
static ALWAYS_INLINE void put_function(struct rtc_encoder *e, uint64_t t, uint32_t id,
				       uint32_t flag)
{
	uint32_t width = e->params.id_address_bits, miss = (1U << width) - 1;
	uint32_t hash = hash_of(id, width);
	uint64_t key = (uint64_t)id << 1 | flag;
	uint32_t number = finder_get(&e->ids, key, hash, miss);

	if (number) {
		put_time(e, t, finder_address(&e->ids, number, miss, e->params.placing), width + 1);
		e->ids.key[number & miss] ^= 1;
		return;
	}
	put_time(e, t, miss << 1 | flag, width + 2);
	put_few(e, id, e->params.id_bits);
	finder_push(&e->ids, key ^ 1, hash, miss);
}

/* Section 4 without flags. */
static void put_plain(struct rtc_encoder *e, struct rtc_finder *f, uint64_t v, uint32_t width,
		      uint32_t value_bits)
{
	uint32_t miss = (1U << width) - 1, hash = hash_of(v, width);
	uint32_t number = finder_get(f, v, hash, miss);

	if (number) {
		put_few(e, finder_address(f, number, miss, e->params.placing), width);
		return;
	}
	put_few(e, miss, width);
	put(e, v, value_bits);
	finder_push(f, v, hash, miss);
}

static NOINLINE void put_os(struct rtc_encoder *e, uint64_t t, uint32_t type, uint64_t value)
{
	const struct rtc_params *p = &e->params;

	put_time(e, t, 1, 1);
	put_plain(e, &e->types, type, p->type_address_bits, p->type_bits);
	put_plain(e, &e->values, value, p->value_address_bits, p->value_bits);
}

/* Section 5. Returns what the record itself carries of the difference, 0 if there is no room. */
static NOINLINE uint64_t put_carries(struct rtc_encoder *e, uint64_t difference)
{
	uint32_t step = e->params.value_bits, shift = e->params.time_bits - 1U;
	uint64_t high = difference ? (difference - 1) >> shift : 0;
	uint32_t n = high ? (rtc_width(high) + step - 1) / step : 1;

	if (e->room - e->len < e->need * (n + 1))
		return 0;
	e->carries += n;
	while (n--) {
		put_os(e, 1, rtc_carry_type(&e->params), high >> (n * step) & rtc_mask(step));
	}
	return difference ? ((difference - 1) & rtc_mask(shift)) + 1 : 1;
}

static ALWAYS_INLINE bool holds(const struct rtc_params *p, const struct rtc_record *r)
{
	if (r->kind != RTC_OS)
		return r->kind <= RTC_END && r->value <= rtc_mask(p->id_bits);
	return r->type < rtc_carry_type(p) && r->value <= rtc_mask(p->value_bits);
}

enum wire_status rtc_encode(struct rtc_encoder *e, const struct rtc_record *r)
{
	uint64_t t = r->difference;

	if (!holds(&e->params, r))
		return WIRE_CORRUPT;
	if (e->room - e->len < e->need || e->records == RECORDS_MAX)
		return WIRE_FULL;
	if (t > rtc_mask(e->params.time_bits) || (!t && !e->counts_zero)) {
		t = put_carries(e, t);
		if (!t)
			return WIRE_FULL;
	}
	e->records++;
	if (r->kind == RTC_OS) {
		e->os_records++;
		put_os(e, t, r->type, r->value);
	} else {
		put_function(e, t, (uint32_t)r->value, r->kind);
	}
	return WIRE_OK;
}

uint64_t rtc_encoder_bits(const struct rtc_encoder *e)
{
	return (uint64_t)e->len * 8 + e->pending;
}

size_t rtc_encoder_end(struct rtc_encoder *e)
{
	uint64_t bits = e->bits << (32 - e->pending);
	uint32_t left;

	for (left = (e->pending + 7) / 8; left; left--, bits <<= 8)
		e->out[e->len++] = (uint8_t)(bits >> 24);
	e->pending = 0;
	return e->len;
}
