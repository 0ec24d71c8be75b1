/* SPDX-License-Identifier: MIT */
/* stage_rtc: blocks of codec `rtc`, headers counted, with the published dictionaries and with
 * larger ones. */
#include "stage_block.h"
#include "wire/rtc_func_decode.h"
#include "wire/rtc_func_encode.h"

#define AT_ONCE 400000U /* events, that mostly fit a block */

static struct rtc_func_encoder encoder;
static struct rtc_func_decoder decoder;

static size_t rtc_encode_all(const struct thread *t, uint8_t *out, size_t room, uint8_t nd)
{
	struct block b = { .codec = CODEC_RTC, .flags = BLOCK_KEY };
	struct rtc_params p = RTC_PARAMS_PUBLISHED;
	size_t at = 0, len = 0, left, payload_len;

	p.id_address_bits = nd;
	for (; at < t->count; at += b.events, b.sequence++) {
		if (room - len < STAGE_BLOCK_ROOM)
			return 0;
		rtc_func_encoder_init(&encoder, &p, out + len + BLOCK_HEADER_MAX,
				      BLOCK_PAYLOAD_MAX);
		left = t->count - at < AT_ONCE ? t->count - at : AT_ONCE;
		b.events = (uint32_t)rtc_func_encode(&encoder, t->events + at, left, &payload_len);
		if (!b.events)
			return 0;
		b.payload_len = (uint32_t)payload_len;
		len += stage_block_put(&b, t, at, out + len);
	}
	return len;
}

static bool get_block(const struct thread *t, size_t *at, const struct block *b)
{
	struct func_event ev;
	uint32_t i;

	if (b->before != *at || b->events > t->count - *at ||
	    rtc_func_decoder_init(&decoder, b->payload, b->payload_len, b->first_tick, b->events))
		return false;
	for (i = 0; i < b->events; i++)
		if (rtc_func_decode(&decoder, &ev) || !stage_same(&ev, &t->events[(*at)++]))
			return false;
	return rtc_func_decode(&decoder, &ev) == WIRE_MORE;
}

static bool rtc_decode_all(const struct thread *t, const uint8_t *in, size_t len)
{
	struct block b;
	size_t at = 0;

	for (; len; in += b.len, len -= b.len)
		if (block_decode(in, len, &b) || !get_block(t, &at, &b))
			return false;
	return at == t->count;
}

static size_t rtc3_encode(const struct thread *t, uint8_t *out, size_t room)
{
	return rtc_encode_all(t, out, room, 3);
}

static size_t rtc5_encode(const struct thread *t, uint8_t *out, size_t room)
{
	return rtc_encode_all(t, out, room, 5);
}

static size_t rtc7_encode(const struct thread *t, uint8_t *out, size_t room)
{
	return rtc_encode_all(t, out, room, 7);
}

static const struct stage rtc3 = { "rtc",	"rtc, Nd 3 as published",
				   false,	NULL,
				   rtc3_encode, rtc_decode_all };
static const struct stage rtc5 = { "rtc_5", "rtc, Nd 5", false, NULL, rtc5_encode, rtc_decode_all };
static const struct stage rtc7 = { "rtc_7", "rtc, Nd 7", false, NULL, rtc7_encode, rtc_decode_all };

const struct stage *const stage_rtc_list[] = { &rtc3, &rtc5, &rtc7, NULL };
