/* SPDX-License-Identifier: MIT */
/* guest_message: any bytes as what a guest's program and a host send to each other; what was understood is written again and
 * understood the same. */
#include <assert.h>
#include <string.h>

#include "wire/guest_message.h"

static void same(const uint8_t *again, const uint8_t *end, const struct frame *f)
{
	struct frame got;

	assert(guest_frame_decode(again, (size_t)(end - again), &got) == WIRE_OK);
	assert(got.type == f->type && got.len == (uint32_t)(end - again));
}

static void take(const struct frame *f)
{
	uint8_t out[GUEST_FRAME_MAX];
	struct guest_object object;
	struct guest_hello hello;
	struct guest_names names;
	struct guest_pong pong;
	struct guest_id id;
	uint64_t number;

	if (f->type == GUEST_HELLO && guest_get_hello(f, &hello))
		same(out, guest_put_hello(out, &hello), f);
	if (f->type == GUEST_PONG && guest_get_pong(f, &pong))
		same(out, guest_put_pong(out, &pong), f);
	if (f->type == GUEST_OBJECT && guest_get_object(f, &object))
		same(out, guest_put_object(out, &object), f);
	if (f->type == GUEST_NAMES && guest_get_names(f, &names))
		same(out, guest_put_names(out, &names), f);
	if (f->type == GUEST_FETCH && guest_get_fetch(f, &id))
		same(out, guest_put_fetch(out, &id), f);
	if (guest_get_number(f, &number))
		same(out, guest_put_number(out, (enum guest_frame)f->type, number), f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct frame f;
	size_t at = 0;

	while (guest_frame_decode(data + at, size - at, &f) == WIRE_OK) {
		take(&f);
		at += f.len;
	}
	return 0;
}
