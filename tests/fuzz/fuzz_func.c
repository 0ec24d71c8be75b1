/* SPDX-License-Identifier: MIT */
/*
 * func: any bytes as a payload of codec `func`, of either stage. What decodes is events; they must
 * come back from the strong stage as they went in, from the same stack.
 */
#include <assert.h>
#include <stdlib.h>

#include "tools/func_random.h"
#include "wire/func_decode.h"
#include "wire/func_encode.h"

#define EVENTS_MAX 300U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct func_decoder decoder;
	static struct func_encoder encoder;
	static struct func_stack stack;
	static struct func_event events[EVENTS_MAX], back;
	static uint8_t out[FUNC_BEGIN_ROOM + (EVENTS_MAX + 1) * FUNC_EVENT_ROOM];
	uint32_t n = 0, i, len;

	func_decoder_init(&decoder);
	if (func_decoder_begin(&decoder, data, (uint32_t)size, 1000) != WIRE_OK)
		return 0;
	stack = *func_decoder_stack(&decoder);
	while (n < EVENTS_MAX && func_decode(&decoder, &events[n]) == WIRE_OK)
		n++;
	func_encoder_init(&encoder, &stack);
	func_encoder_begin(&encoder, out, sizeof(out), 1000);
	assert(encoder.rc.pos <= FUNC_BEGIN_ROOM);
	for (i = 0; i < n; i++)
		assert(func_encode(&encoder, &events[i]) == WIRE_OK);
	len = func_encoder_end(&encoder);
	func_decoder_init(&decoder);
	assert(func_decoder_begin(&decoder, out, len, 1000) == WIRE_OK);
	for (i = 0; i < n; i++) {
		assert(func_decode(&decoder, &back) == WIRE_OK);
		assert(func_event_equal(&back, &events[i]));
	}
	assert(func_decoder_end(&decoder) == WIRE_OK);
	return 0;
}
