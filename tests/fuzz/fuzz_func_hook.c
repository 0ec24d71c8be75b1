/* SPDX-License-Identifier: MIT */
/*
 * func_hook: any bytes as a segment of the hook's stage. What decodes is events; they must come back
 * from the codec as they went in, from the same stack.
 */
#include <assert.h>
#include <stdlib.h>

#include "tools/func_random.h"
#include "wire/func_hook_decode.h"
#include "wire/func_hook_encode.h"

#define EVENTS_MAX 4000U

static uint8_t *put(struct func_hook *h, uint8_t *out, const struct func_event *ev)
{
	if (ev->kind == FUNC_ENTER)
		return func_hook_enter(h, out, ev->value, ev->tick);
	if (ev->kind == FUNC_EXIT)
		return func_hook_exit(h, out, ev->value, ev->tick);
	return func_hook_os(h, out, ev->os, ev->value, ev->tick);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct func_hook_decoder decoder;
	static struct func_hook hook;
	static struct func_event events[EVENTS_MAX], back;
	static uint8_t out[FUNC_HOOK_BEGIN_ROOM + EVENTS_MAX * FUNC_HOOK_ROOM];
	uint8_t *end = out;
	struct byte_reader r;
	uint32_t n = 0, i;

	reader_init(&r, data, size);
	func_hook_init(&hook);
	if (func_hook_decode_begin(&decoder, &r, 1000) != WIRE_OK)
		return 0;
	hook.model.stack = decoder.model.stack;
	while (n < EVENTS_MAX && func_hook_decode(&decoder, &r, &events[n]) == WIRE_OK)
		n++;
	end += func_hook_begin(&hook, end, 1000);
	assert(end <= out + FUNC_HOOK_BEGIN_ROOM);
	for (i = 0; i < n; i++)
		end = put(&hook, end, &events[i]);
	reader_init(&r, out, (size_t)(end - out));
	assert(func_hook_decode_begin(&decoder, &r, 1000) == WIRE_OK);
	for (i = 0; i < n; i++) {
		assert(func_hook_decode(&decoder, &r, &back) == WIRE_OK);
		assert(func_event_equal(&back, &events[i]));
	}
	assert(!reader_left(&r));
	return 0;
}
