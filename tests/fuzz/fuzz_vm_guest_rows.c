/* SPDX-License-Identifier: MIT */
/* vm_guest_rows: any bytes as rows of a guest; what goes into the recording is what a reader takes. */
#include <assert.h>
#include <errno.h>

#include "device/vm/vm_guest_rows.h"
#include "trace/sample_guests.h"

struct check {
	struct block_out out;
	struct sample_guests *guests;
};

static int put(struct block_out *o, const struct block *b, uint8_t *payload, bool must)
{
	struct check *c = (struct check *)o;
	int r;

	(void)must;
	assert(b->payload_len <= SPOOL_META_MOST);
	r = sample_guests_decode(c->guests, payload, b->payload_len);
	assert(r == 0 || r == -ENOMEM);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vm_guest_clock clock = { true, 1000000, 500, 10 };
	static struct profile_meta meta;
	struct vm_guest_rows rows = { .meta = &meta, .vm = 7, .clock = &clock, .now_ns = 2000000 };
	struct guest_link_row link = { .tick = 1, .note = (const char *)data };
	struct check c = { .out = { .put = put } };
	int r;

	if (size > 8192 || sample_guests_new(&c.guests) < 0)
		return 0;
	profile_meta_init(&meta, &c.out);
	vm_guest_rows_put(&rows, data, size);
	link.note_len = (uint32_t)size;
	vm_guest_rows_put_link(&meta, 7, &link);
	r = sample_guests_settle(c.guests);
	assert(r == 0 || r == -ENOMEM);
	sample_guests_free(c.guests);
	return 0;
}
