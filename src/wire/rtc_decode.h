/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc_decode: the bits of the published real-time codec back into records (docs/format/rtc.md,
 * sections 2 to 6).
 *
 * How many records there are is said outside, by a block's header. The decoder keeps the same
 * dictionaries as the encoder, but never searches in them.
 */
#ifndef KISEKI_WIRE_RTC_DECODE_H
#define KISEKI_WIRE_RTC_DECODE_H

#include "wire/rtc.h"

/* A dictionary that is asked for what is at an address. */
struct rtc_shelf {
	uint32_t filled; /* entries that have been written, up to all */
	uint32_t next;	 /* where the next one goes: the oldest, or the first free */
	uint64_t key[RTC_PLACES_MAX];
};

struct rtc_decoder {
	struct rtc_params params;
	const uint8_t *in;
	size_t len;
	uint64_t at; /* bits read */
	uint32_t zero_bits;
	bool bad;
	struct rtc_shelf ids;
	struct rtc_shelf types;
	struct rtc_shelf values;
};

/* False: the parameters are not valid. */
bool rtc_decoder_init(struct rtc_decoder *d, const struct rtc_params *p, const uint8_t *in,
		      size_t len);

/* WIRE_OK or WIRE_CORRUPT, after which there is nothing more to be had. */
enum wire_status rtc_decode(struct rtc_decoder *d, struct rtc_record *ret);

/* After the last record: WIRE_OK if nothing but the zeros of the last byte is left. */
enum wire_status rtc_decoder_end(struct rtc_decoder *d);

#endif
