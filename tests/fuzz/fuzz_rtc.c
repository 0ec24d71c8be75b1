/* SPDX-License-Identifier: MIT */
/* rtc: two bytes for the number of events, then any bytes as a payload; what decodes must encode and
 * decode again to the same events. */
#include <assert.h>
#include <stdlib.h>

#include "wire/rtc_func_decode.h"
#include "wire/rtc_func_encode.h"

#define EVENTS_MAX 4000U
#define ROOM (1U << 22) /* carry records can make some hundred bytes of a small one */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct rtc_params least = { 2, 1, 1, 1, 1, 1, 1, RTC_WRITE_POINTER };
	static struct rtc_func_decoder decoder;
	static struct rtc_func_encoder encoder;
	static struct func_event events[EVENTS_MAX], back;
	static uint8_t out[ROOM];
	uint32_t n = 0, said, i;
	size_t len;

	if (size < 2)
		return 0;
	said = ((uint32_t)data[0] << 8 | data[1]) % EVENTS_MAX;
	if (rtc_func_decoder_init(&decoder, data + 2, size - 2, 1000, said) != WIRE_OK)
		return 0;
	while (n < said && rtc_func_decode(&decoder, &events[n]) == WIRE_OK)
		n++;
	/* As it was, and as narrow as it goes. */
	assert(rtc_func_encoder_init(&encoder, size % 2 ? &decoder.bits.params : &least, out,
				     ROOM));
	assert(rtc_func_encode(&encoder, events, n, &len) == n);
	assert(rtc_func_decoder_init(&decoder, out, len, n ? events[0].tick : 0, n) == WIRE_OK);
	for (i = 0; i < n; i++) {
		assert(rtc_func_decode(&decoder, &back) == WIRE_OK);
		assert(back.tick == events[i].tick && back.value == events[i].value &&
		       back.kind == events[i].kind && back.os == events[i].os);
	}
	assert(rtc_func_decode(&decoder, &back) == WIRE_MORE);
	return 0;
}
