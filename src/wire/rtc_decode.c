/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc_decode: see rtc_decode.h and docs/format/rtc.md.
 *
 * Reading beyond the end sets `bad` and gives zeros, so that a record is read whole and asked once;
 * a loop that waits for something else than carry records asks each time.
 */
#include "wire/rtc_decode.h"

static void shelf_init(struct rtc_shelf *s)
{
	s->filled = 0;
	s->next = 0;
}

bool rtc_decoder_init(struct rtc_decoder *d, const struct rtc_params *p, const uint8_t *in,
		      size_t len)
{
	if (!rtc_params_valid(p))
		return false;
	d->params = *p;
	d->in = in;
	d->len = len;
	d->at = 0;
	d->zero_bits = rtc_zero_bits(p);
	d->bad = false;
	shelf_init(&d->ids);
	shelf_init(&d->types);
	shelf_init(&d->values);
	return true;
}

/* Eight bytes from `from` on, zeros behind the end. */
static ALWAYS_INLINE uint64_t load(const struct rtc_decoder *d, size_t from)
{
	uint64_t v = 0;
	uint32_t i;

	if (d->len - from >= 8)
		return (uint64_t)get_be32(d->in + from) << 32 | get_be32(d->in + from + 4);
	for (i = 0; i < 8; i++)
		v = v << 8 | (i < d->len - from ? d->in[from + i] : 0);
	return v;
}

/* 1 <= n <= 32 bits. */
static ALWAYS_INLINE uint32_t get_few(struct rtc_decoder *d, uint32_t n)
{
	uint64_t word;

	if (d->bad || n > (uint64_t)d->len * 8 - d->at) {
		d->bad = true;
		return 0;
	}
	word = load(d, (size_t)(d->at >> 3)) << (d->at & 7);
	d->at += n;
	return (uint32_t)(word >> (64 - n));
}

/* n <= 64 bits. */
static ALWAYS_INLINE uint64_t get(struct rtc_decoder *d, uint32_t n)
{
	uint64_t high = 0;

	if (!n)
		return 0;
	if (n > 32) {
		high = (uint64_t)get_few(d, n - 32) << 32;
		n = 32;
	}
	return high | get_few(d, n);
}

/* The entry at an address; NULL and bad if nothing has been put there. */
static ALWAYS_INLINE uint64_t *shelf_get(struct rtc_decoder *d, struct rtc_shelf *s,
					 uint32_t address, uint32_t miss)
{
	uint32_t at = address;

	if (address >= s->filled) {
		d->bad = true;
		return NULL;
	}
	if (d->params.placing == RTC_NEWEST_FIRST)
		at = s->next > address ? s->next - 1 - address : s->next + miss - 1 - address;
	return &s->key[at];
}

static ALWAYS_INLINE void shelf_push(struct rtc_shelf *s, uint64_t key, uint32_t miss)
{
	s->key[s->next] = key;
	s->next = s->next + 1 == miss ? 0 : s->next + 1;
	if (s->filled < miss)
		s->filled++;
}

/* Section 4. */
static ALWAYS_INLINE void get_function(struct rtc_decoder *d, struct rtc_record *r)
{
	uint32_t miss = (1U << d->params.id_address_bits) - 1;
	uint32_t address = get_few(d, d->params.id_address_bits);
	uint64_t key, *entry;

	if (address == miss) {
		key = (uint64_t)get_few(d, 1);
		key |= (uint64_t)get_few(d, d->params.id_bits) << 1;
		shelf_push(&d->ids, key ^ 1, miss);
	} else {
		entry = shelf_get(d, &d->ids, address, miss);
		if (!entry)
			return;
		key = *entry;
		*entry ^= 1;
	}
	r->kind = (uint8_t)(key & 1);
	r->type = 0;
	r->value = key >> 1;
}

static uint64_t get_plain(struct rtc_decoder *d, struct rtc_shelf *s, uint32_t width,
			  uint32_t value_bits)
{
	uint32_t miss = (1U << width) - 1, address = get_few(d, width);
	uint64_t v, *entry;

	if (address == miss) {
		v = get(d, value_bits);
		shelf_push(s, v, miss);
		return v;
	}
	entry = shelf_get(d, s, address, miss);
	return entry ? *entry : 0;
}

static void get_os(struct rtc_decoder *d, struct rtc_record *r)
{
	const struct rtc_params *p = &d->params;

	r->kind = RTC_OS;
	r->type = (uint32_t)get_plain(d, &d->types, p->type_address_bits, p->type_bits);
	r->value = get_plain(d, &d->values, p->value_address_bits, p->value_bits);
}

/* Section 3. */
static ALWAYS_INLINE uint64_t get_time(struct rtc_decoder *d)
{
	uint32_t zeros = get_few(d, d->zero_bits), rest;

	if (zeros >= d->params.time_bits) {
		d->bad |= zeros > d->params.time_bits;
		return 0;
	}
	rest = d->params.time_bits - zeros - 1;
	return (uint64_t)1 << rest | get(d, rest);
}

static ALWAYS_INLINE void get_record(struct rtc_decoder *d, struct rtc_record *r)
{
	r->difference = get_time(d);
	if (get_few(d, 1))
		get_os(d, r);
	else
		get_function(d, r);
}

static ALWAYS_INLINE bool is_carry(const struct rtc_decoder *d, const struct rtc_record *r)
{
	return r->kind == RTC_OS && r->type == rtc_carry_type(&d->params);
}

/* Section 5: r is the first carry record, and becomes the record that they belong to. */
static NOINLINE void get_carried(struct rtc_decoder *d, struct rtc_record *r)
{
	uint32_t step = d->params.value_bits, shift = d->params.time_bits - 1U;
	uint64_t high = 0;
	bool first = true;

	for (; is_carry(d, r) && !d->bad; get_record(d, r), first = false) {
		/* A first part of 0 stands alone, and no part is pushed out at the top. */
		d->bad |= r->difference != 1 || (!first && !high) || rtc_width(high) + step > 64;
		high = (step < 64 ? high << step : 0) | r->value;
	}
	if (!high) {
		d->bad |= r->difference != 1;
		r->difference = 0;
		return;
	}
	d->bad |= r->difference - 1 > rtc_mask(shift) || rtc_width(high) > 64 - shift;
	r->difference += high << shift;
	d->bad |= !r->difference;
}

enum wire_status rtc_decode(struct rtc_decoder *d, struct rtc_record *ret)
{
	struct rtc_record r = { 0 };

	get_record(d, &r);
	if (is_carry(d, &r) && !d->bad)
		get_carried(d, &r);
	if (d->bad)
		return WIRE_CORRUPT;
	*ret = r;
	return WIRE_OK;
}

enum wire_status rtc_decoder_end(struct rtc_decoder *d)
{
	uint64_t left = (uint64_t)d->len * 8 - d->at;

	if (d->bad || left >= 8 || (left && get_few(d, (uint32_t)left)))
		return WIRE_CORRUPT;
	return WIRE_OK;
}
