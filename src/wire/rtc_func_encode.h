/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc_func_encode: events of one thread into the payload of an `rtc` block (docs/format/rtc.md,
 * section 7).
 *
 * It looks at the events twice: first to give functions their ids and to see how wide the fields
 * have to be, then to encode. The state is about 250 KiB, in memory of the caller.
 */
#ifndef KISEKI_WIRE_RTC_FUNC_ENCODE_H
#define KISEKI_WIRE_RTC_FUNC_ENCODE_H

#include "wire/rtc_encode.h"
#include "wire/rtc_func.h"

struct rtc_func_encoder {
	struct rtc_params least; /* the narrowest fields to use */
	uint8_t *out;
	size_t room;
	struct rtc_encoder bits; /* of the payload made last, with its parameters and counts */
	uint32_t ids;
	uint64_t address[RTC_FUNC_IDS_MAX];
	uint16_t slot[2 * RTC_FUNC_IDS_MAX]; /* by hash, or behind that if it is taken: id + 1 */
};

/* Payloads are written to `out`. False: the parameters are not valid. */
bool rtc_func_encoder_init(struct rtc_func_encoder *e, const struct rtc_params *least, uint8_t *out,
			   size_t room);

/* Makes a payload of up to n events and returns of how many; *ret_len is its length. Fewer than n:
 * there is no room for more, they have more functions than RTC_FUNC_IDS_MAX, or the next one is no
 * event. The block's first tick is that of the first event. */
size_t rtc_func_encode(struct rtc_func_encoder *e, const struct func_event *events, size_t n,
		       size_t *ret_len);

#endif
