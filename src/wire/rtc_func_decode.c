/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc_func_decode: see rtc_func_decode.h and docs/format/rtc.md, section 7.
 */
#include "wire/rtc_func_decode.h"

#include "wire/varint.h"

static bool get_params(struct byte_reader *r, struct rtc_params *p)
{
	const uint8_t *head = reader_bytes(r, RTC_FUNC_HEAD);

	if (!head || head[0] >> 4 != RTC_VERSION)
		return false;
	p->placing = head[0] & 15;
	p->time_bits = head[1];
	p->id_bits = head[2];
	p->type_bits = head[3];
	p->value_bits = head[4];
	p->id_address_bits = head[5];
	p->type_address_bits = head[6];
	p->value_address_bits = head[7];
	return rtc_params_valid(p);
}

static bool get_addresses(struct rtc_func_decoder *d, struct byte_reader *r)
{
	uint64_t n = reader_varint(r), address = 0;
	uint32_t i;

	if (r->bad || n > RTC_FUNC_IDS_MAX)
		return false;
	for (i = 0; i < n; i++) {
		address += (uint64_t)reader_signed(r);
		d->address[i] = address;
	}
	d->ids = (uint32_t)n;
	return !r->bad;
}

enum wire_status rtc_func_decoder_init(struct rtc_func_decoder *d, const uint8_t *payload,
				       size_t len, uint64_t first_tick, uint32_t events)
{
	struct rtc_params p;
	struct byte_reader r;

	d->tick = first_tick;
	d->left = events;
	d->ids = 0;
	reader_init(&r, payload, len);
	if (!get_params(&r, &p) || !get_addresses(d, &r) ||
	    !rtc_decoder_init(&d->bits, &p, r.at, reader_left(&r)))
		return WIRE_CORRUPT;
	return WIRE_OK;
}

enum wire_status rtc_func_decode(struct rtc_func_decoder *d, struct func_event *ret)
{
	struct rtc_record r;
	bool os;

	if (!d->left)
		return rtc_decoder_end(&d->bits) == WIRE_OK ? WIRE_MORE : WIRE_CORRUPT;
	if (rtc_decode(&d->bits, &r) != WIRE_OK)
		return WIRE_CORRUPT;
	os = r.kind == RTC_OS;
	if (os ? r.type > UINT8_MAX : r.value >= d->ids)
		return WIRE_CORRUPT;
	d->left--;
	d->tick += r.difference;
	ret->tick = d->tick;
	ret->value = os ? r.value : d->address[r.value];
	ret->kind = r.kind;
	ret->os = os ? (uint8_t)r.type : 0;
	return WIRE_OK;
}
