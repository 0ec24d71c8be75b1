/* SPDX-License-Identifier: MIT */
/*
 * sample: any bytes as a payload of codec `sample`. What decodes is records; they must come back from an encoder as
 * they went in.
 */
#include <assert.h>
#include <stdlib.h>

#include "wire/sample_decode.h"
#include "wire/sample_encode.h"

#define EVENTS_MAX 100U

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sample_decoder decoder;
	static struct sample_encoder encoder;
	static struct sample_event events[EVENTS_MAX], back;
	static uint64_t chains[EVENTS_MAX][SAMPLE_CHAIN_MAX];
	static uint8_t out[EVENTS_MAX * SAMPLE_BLOCK_LEAST];
	uint32_t n, i, len;

	sample_decoder_init(&decoder);
	assert(sample_decoder_begin(&decoder, data, (uint32_t)size, 1000) == WIRE_OK);
	for (n = 0; n < EVENTS_MAX && sample_decode(&decoder, &events[n]) == WIRE_OK; n++) {
		assert(events[n].n_kernel + events[n].n_user <= (int)SAMPLE_CHAIN_MAX);
		memcpy(chains[n], events[n].chain,
		       (events[n].n_kernel + events[n].n_user) * sizeof(chains[n][0]));
		events[n].chain = chains[n];
	}
	sample_encoder_init(&encoder);
	sample_encoder_begin(&encoder, out, sizeof(out), 1000);
	for (i = 0; i < n; i++)
		assert(sample_encode(&encoder, &events[i]) == WIRE_OK);
	len = sample_encoder_end(&encoder);
	sample_decoder_init(&decoder);
	assert(sample_decoder_begin(&decoder, out, len, 1000) == WIRE_OK);
	for (i = 0; i < n; i++) {
		assert(sample_decode(&decoder, &back) == WIRE_OK);
		assert(sample_event_equal(&back, &events[i]));
	}
	assert(sample_decoder_end(&decoder) == WIRE_OK);
	return 0;
}
