/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * func_hook_decode: the hook's bytes back into events (docs/format/func.md, sections 3 to 5).
 *
 *	func_hook_decoder_init(&d);
 *	func_hook_decode_begin(&d, &reader, tick);   a segment starts: reads the open calls; they are in
 *	                                             d.model.stack then
 *	func_hook_decode(&d, &reader, &event) …      WIRE_MORE: no whole event is left
 *
 * With WIRE_MORE nothing has changed and nothing was taken from the reader, so the same call goes on
 * when there are more bytes: chunks are read while they grow. After WIRE_CORRUPT the rest of the
 * segment is lost.
 */
#ifndef KISEKI_WIRE_FUNC_HOOK_DECODE_H
#define KISEKI_WIRE_FUNC_HOOK_DECODE_H

#include "wire/func_hook.h"

struct func_hook_decoder {
	struct func_hook_model model;
};

void func_hook_decoder_init(struct func_hook_decoder *d);
enum wire_status func_hook_decode_begin(struct func_hook_decoder *d, struct byte_reader *r,
					uint64_t tick);
enum wire_status func_hook_decode(struct func_hook_decoder *d, struct byte_reader *r,
				  struct func_event *ret);

#endif
