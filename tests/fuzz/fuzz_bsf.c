/* SPDX-License-Identifier: MIT */
/* bsf: any bytes as a block; what decodes must encode and decode again to the same records. */
#include <assert.h>
#include <stdlib.h>

#include "wire/bsf_decode.h"
#include "wire/bsf_encode.h"
#include "wire/bsf_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct bsf_entry first[BSF_BLOCK_RECORDS_MAX], second[BSF_BLOCK_RECORDS_MAX];
	static uint8_t block[BSF_BLOCK_RECORDS_MAX * BSF_RECORD_MAX];
	char line[BSF_LINE_MAX];
	struct bsf_log log, again;
	struct bsf_encoder e;
	size_t i, at = 0, len;

	bsf_log_init(&log, first, BSF_BLOCK_RECORDS_MAX);
	bsf_log_init(&again, second, BSF_BLOCK_RECORDS_MAX);
	if (bsf_log_decode(&log, data, size) == WIRE_OK && log.count)
		bsf_format_entry(&log.first[log.count - 1], line);
	if (bsf_log_fill(&log) != WIRE_OK)
		return 0;
	bsf_encoder_init(&e);
	for (i = 0; i < log.count; i++, at += len) {
		bsf_format(&log.first[i].rec, line);
		len = bsf_encode(&e, block + at, sizeof(block) - at, &log.first[i].rec);
		assert(len);
	}
	/* An encoder leaves out all that repeats and pads nothing, so it never needs more. */
	assert(at <= size && bsf_decode(&again, block, at) == WIRE_OK && again.count == log.count);
	for (i = 0; i < log.count; i++)
		assert(!memcmp(&log.first[i].rec, &again.first[i].rec, sizeof(struct bsf_record)));
	return 0;
}
