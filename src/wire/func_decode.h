/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_decode: the payload of codec `func` back into events, whichever its stage
 * (docs/format/func.md).
 *
 *	func_decoder_init(&d);                        a segment starts
 *	func_decoder_begin(&d, in, len, tick);        a block; tick as the encoder was given it
 *	func_decode(&d, &event) …                     as often as the block has events
 *	func_decoder_end(&d)                          WIRE_CORRUPT if that was not all of it
 *
 * After the first begin, func_decoder_stack() is what was open when the segment started; later,
 * what is open now. After WIRE_CORRUPT the rest of the segment is lost; nothing else is.
 */
#ifndef KISEKI_WIRE_FUNC_DECODE_H
#define KISEKI_WIRE_FUNC_DECODE_H

#include "wire/func_hook_decode.h"
#include "wire/func_model.h"
#include "wire/range_decode.h"

struct func_decoder {
	struct range_decoder rc;
	struct byte_reader hook_bytes;
	uint8_t stage; /* enum func_stage */
	bool fresh;
	bool corrupt;
	union {
		struct func_model model;
		struct func_hook_decoder hook;
	};
};

void func_decoder_init(struct func_decoder *d);
enum wire_status func_decoder_begin(struct func_decoder *d, const uint8_t *in, uint32_t len,
				    uint64_t tick);
enum wire_status func_decode(struct func_decoder *d, struct func_event *ret);
enum wire_status func_decoder_end(struct func_decoder *d);

static inline const struct func_stack *func_decoder_stack(const struct func_decoder *d)
{
	return d->stage == FUNC_STAGE_HOOK ? &d->hook.model.stack : &d->model.stack;
}

#endif
