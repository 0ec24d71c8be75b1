/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * rtc_func_decode: the payload of an `rtc` block back into the events of a thread
 * (docs/format/rtc.md, section 7). The state is about 150 KiB, in memory of the caller.
 */
#ifndef KISEKI_WIRE_RTC_FUNC_DECODE_H
#define KISEKI_WIRE_RTC_FUNC_DECODE_H

#include "wire/rtc_decode.h"
#include "wire/rtc_func.h"

struct rtc_func_decoder {
	struct rtc_decoder bits;
	uint64_t tick;
	uint32_t left; /* events */
	uint32_t ids;
	uint64_t address[RTC_FUNC_IDS_MAX];
};

/* The payload is borrowed until the last event has been decoded. `first_tick` and `events` are the
 * block's. */
enum wire_status rtc_func_decoder_init(struct rtc_func_decoder *d, const uint8_t *payload,
				       size_t len, uint64_t first_tick, uint32_t events);

/* WIRE_MORE: there was none left, and nothing is wrong. */
enum wire_status rtc_func_decode(struct rtc_func_decoder *d, struct func_event *ret);

#endif
