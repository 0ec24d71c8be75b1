/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* meta_encode: see meta_encode.h. */
#include "wire/meta_encode.h"

uint8_t *meta_item_begin(uint8_t *p, enum meta_item type)
{
	p = varint_put(p, type);
	return p + 3;
}

uint8_t *meta_item_end(uint8_t *body, uint8_t *p)
{
	size_t len = (size_t)(p - body);

	body[-3] = (uint8_t)(len | 0x80);
	body[-2] = (uint8_t)(len >> 7 | 0x80);
	body[-1] = (uint8_t)(len >> 14 & 0x7f);
	return p;
}

static uint8_t *put_bytes(uint8_t *p, const void *data, size_t len)
{
	memcpy(p, data, len);
	return p + len;
}

uint8_t *meta_put_text(uint8_t *p, enum meta_item type, const char *text, size_t len)
{
	uint8_t *body = meta_item_begin(p, type);

	return meta_item_end(body, put_bytes(body, text, len));
}

uint8_t *meta_put_number(uint8_t *p, enum meta_item type, uint64_t v)
{
	uint8_t *body = meta_item_begin(p, type);

	return meta_item_end(body, varint_put(body, v));
}

uint8_t *meta_put_clock(uint8_t *p, const struct meta_clock *c)
{
	uint8_t *body = meta_item_begin(p, META_CLOCK);

	p = varint_put(body, c->mult);
	p = varint_put(p, c->shift);
	p = varint_put(p, c->base_ns);
	p = varint_put(p, c->print_digits);
	p = varint_put(p, c->name_len);
	p = put_bytes(p, c->name, c->name_len);
	p = varint_put(p, c->has_realtime);
	p = varint_put_signed(p, c->realtime_off_ns);
	p = varint_put(p, c->realtime_err_ns);
	if (c->whose != META_WHOSE_DEVICE)
		p = varint_put(p, (uint64_t)c->whose);
	if (c->whose == META_WHOSE_BOTH)
		p = varint_put_signed(p, c->own_off_ns);
	return meta_item_end(body, p);
}

uint8_t *meta_put_dialect(uint8_t *p, const struct sched_dialect *d)
{
	uint8_t *body = meta_item_begin(p, META_DIALECT);

	p = varint_put(body, d->features);
	p = varint_put(p, d->kinds);
	p = varint_put(p, d->long_size);
	p = varint_put(p, d->flag_columns);
	p = varint_put(p, d->pid_width);
	p = varint_put(p, d->state_mask);
	p = varint_put(p, d->state_preempt);
	p = put_bytes(p, d->state_letters, DIALECT_STATE_BITS);
	return meta_item_end(body, p);
}
