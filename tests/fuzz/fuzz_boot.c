/* SPDX-License-Identifier: MIT */
/*
 * boot: any bytes as a payload of codec `boot`. What decodes is records; they must come back from an encoder
 * as they went in.
 */
#include <assert.h>
#include <stdlib.h>

#include "tools/boot_random.h"
#include "wire/boot_decode.h"
#include "wire/boot_encode.h"

#define EVENTS_MAX 300U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct boot_decoder decoder;
	static struct boot_encoder encoder;
	static struct boot_event events[EVENTS_MAX], back;
	static char texts[EVENTS_MAX][BOOT_TEXT_MAX];
	static uint8_t out[EVENTS_MAX * BOOT_BLOCK_LEAST];
	uint32_t n, i, len;

	boot_decoder_init(&decoder);
	assert(boot_decoder_begin(&decoder, data, (uint32_t)size, 1000) == WIRE_OK);
	for (n = 0; n < EVENTS_MAX && boot_decode(&decoder, &events[n]) == WIRE_OK; n++) {
		memcpy(texts[n], events[n].text, events[n].text_len);
		events[n].text = texts[n];
	}
	boot_encoder_init(&encoder);
	boot_encoder_begin(&encoder, out, sizeof(out), 1000);
	for (i = 0; i < n; i++)
		assert(boot_encode(&encoder, &events[i]) == WIRE_OK);
	len = boot_encoder_end(&encoder);
	boot_decoder_init(&decoder);
	assert(boot_decoder_begin(&decoder, out, len, 1000) == WIRE_OK);
	for (i = 0; i < n; i++) {
		assert(boot_decode(&decoder, &back) == WIRE_OK);
		assert(boot_event_equal(&back, &events[i]));
	}
	assert(boot_decoder_end(&decoder) == WIRE_OK);
	return 0;
}
